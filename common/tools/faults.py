"""The planted faults of rungs and of every_shape, NN_name/faults/*.patch: what one looks like, and the only place that reads it.

    python3 -m common.tools.faults --root REPOSITORY --cmake FOLDER

writes FOLDER/NN_name.cmake, a call of ladder_fault() for each fault of that program.

A fault begins with a line on what is wrong and fields,

    run:        the rung's arguments
    expect:     a regular expression that what the simulator prints must match, in every order of execution
    unchecked:  the same with the simulator's checks off, where results tell as well
    compile:    the rung's source that includes the patched file, where that is a header

and then comes a patch without line numbers: `--- path` from the repository's root, `@@` above each hunk."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

HEAD = re.compile(r"([^\n:]+)\n((?:\n|[a-z]+: [^\n]+\n)+)--- ([^\n]+)\n@@\n")
NEEDED, OTHERS = ("run", "expect"), ("unchecked", "compile")
# Where the faults of a program are that is no rung; a rung's are in the folder of its name.
FOLDERS = {"every_shape": "common/every_shape/hopper", "every_shape_blackwell": "common/every_shape/blackwell"}


class NotAFault(Exception):
    """Which file, and why."""


class Fault(NamedTuple):
    program: str
    name: str
    what: str
    run: str
    expect: str
    unchecked: str  # empty: nothing
    compiled: str  # the source that is compiled, from the repository's root; the patched file or what includes it
    patched: str  # from the repository's root
    hunks: tuple  # each with its lines as they stand in the patch

    @property
    def variant(self) -> str:
        """That the run names; a type's variant has its name. Empty: the rung itself."""
        named = re.search(r"--(?:variant|type) (\S+)", self.run)
        return named[1] if named else ""

    @property
    def patch(self) -> str:
        """As a page shows it."""
        return "\n".join([f"--- {self.patched}", *(f"@@\n{hunk}" for hunk in self.hunks)])


def read(file: Path) -> Fault:
    text = file.read_text(encoding="utf-8")
    head = HEAD.match(text)
    place = "/".join(file.parts[-3:])
    if file.suffix != ".patch" or not head:
        raise NotAFault(f"{place} is no fault: common/tools/faults.py says what one looks like")
    given = [line.split(": ", 1) for line in head[2].splitlines() if line]
    fields = dict(given)
    if len(fields) < len(given) or not set(NEEDED) <= fields.keys() <= {*NEEDED, *OTHERS}:
        raise NotAFault(f"{place}: it needs run and expect, may have unchecked and compile, and nothing twice")
    folder = file.parent.parent
    program = next((name for name, path in FOLDERS.items() if folder.as_posix().endswith(f"/{path}")), folder.name)
    from_root = FOLDERS.get(program, program)
    return Fault(
        program=program,
        name=file.stem,
        what=head[1],
        run=fields["run"],
        expect=fields["expect"],
        unchecked=fields.get("unchecked", ""),
        compiled=f"{from_root}/{fields['compile']}" if "compile" in fields else head[3],
        patched=head[3],
        hunks=tuple(text[head.end() :].rstrip("\n").split("\n@@\n")),
    )


def all_faults(root: Path) -> list:
    folders = ("[0-9][0-9]_*", *FOLDERS.values())
    return [read(file) for folder in folders for file in sorted(root.glob(f"{folder}/faults/*"))]


def fault_of(root: Path, program: str, name: str) -> Fault:
    return read(root / FOLDERS.get(program, program) / "faults" / f"{name}.patch")


def write_cmake(root: Path, folder: Path) -> None:
    calls = {}
    for fault in all_faults(root):
        values = (fault.program, fault.name, fault.patched, fault.compiled, fault.run, fault.expect, fault.unchecked)
        calls.setdefault(fault.program, "")
        calls[fault.program] += f"ladder_fault({' '.join(f'[==[{value}]==]' for value in values)})\n"
    folder.mkdir(parents=True, exist_ok=True)
    for program, text in calls.items():
        (folder / f"{program}.cmake").write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--cmake", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    try:
        write_cmake(options.root, options.cmake)
    except NotAFault as why:
        print(why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
