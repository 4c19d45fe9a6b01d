"""What programs print, in the docs: recorded in docs/results/transcripts.json, and run again by a test.

    <!-- fault: 05_mma_sync wait_one_too_few -->     a planted fault of a rung, or of every_shape: its patch, and the first thing the simulator says
    <!-- /fault -->

    <!-- run: 05_mma_sync_sim gemm --size 256 -->    a program of build/bin, and all that it prints
    <!-- /run -->

python3 -m common.plots.pages.transcripts BIN    runs what the docs show and records what is new, or differs from its record
  … --check                                      changes nothing; fails where it would record something
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common.plots.records.error import ResultError
from common.tools import faults

MARK = re.compile(r"^[ \t]*<!-- (?P<kind>fault|run): (?P<what>.*?) -->[ \t]*$", re.MULTILINE)
WIDTH, MOST_LINES = 116, 8  # of a finding


def store(root: Path) -> Path:
    return root / "docs" / "results" / "transcripts.json"


def recorded(root: Path) -> dict:
    file = store(root)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def fault_named(root: Path, what: str) -> faults.Fault:
    """Of 'RUNG FAULT'."""
    try:
        return faults.fault_of(root, *what.split())
    except (TypeError, OSError):
        raise ResultError(f"fault '{what}': expected RUNG FAULT, with a file RUNG/faults/FAULT.patch") from None


def plain(line: str) -> str:
    """Without namespaces and parameter lists."""
    line = re.sub(r"ladder::(rung_\d\d|every_shape)::|ladder::|\(anonymous namespace\)::", "", line)
    return re.sub(r"( in \w+)(<[^>]*>)?\([^)]*\)", r"\1", line)


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def joined(lines: list) -> list:
    """Lines that the simulator has broken, where they would be longer than 200 characters, are one again."""
    out, base = [], 0
    for line in lines:
        text = line.removeprefix("simulator:")
        if out and indent_of(text) == base + 4:
            out[-1] += " " + text.strip()
        else:
            base = indent_of(text)
            out.append(line)
    return out


def finding(output: str) -> str:
    """What is said first: a finding of the simulator, without the instruction's PTX; else the line of the checker."""
    lines = output.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"simulator: \w", line)]
    if not starts:
        wrong = [line for line in lines if re.match(r"\w+_sim: .* (elements wrong|bytes written|nothing was written)", line)]
        if not wrong:
            raise ResultError(f"neither a finding nor wrong elements: {output[-200:]!r}")
        return wrong[0].partition(": ")[2]
    said = [lines[starts[0]]]
    for line in lines[starts[0] + 1 :]:
        if not line.startswith("simulator:  "):
            break
        if "PTX line" not in line:
            said.append(line)
    said = joined(said)
    said = said[:MOST_LINES] + ["simulator:   …"] * (len(said) > MOST_LINES)
    out = []
    for line in map(plain, said):
        text = line[len("simulator:") :].rstrip()
        indent = len(text) - len(text.lstrip()) - 1
        out += textwrap.wrap(
            text.strip(), WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4),
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(out)


def printed(root: Path, programs: Path, kind: str, what: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    environment["SIMULATOR_HEARTBEAT"] = "0"  # a slow machine adds no line
    if kind == "fault":
        fault = fault_named(root, what)
        command = [programs / "faults" / f"{fault.program}_{fault.name}", *fault.run.split()]
    else:
        program, *arguments = what.split()
        command = [programs / program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root)
    if kind == "fault":
        return finding(done.stderr + done.stdout)
    return (done.stdout + done.stderr).rstrip()


def block(root: Path, kind: str, what: str) -> str:
    """What stands between the markers."""
    text = recorded(root).get(f"{kind}: {what}")
    if text is None:
        return "*Not recorded yet: `python3 -m common.plots.pages.transcripts build/bin`.*"
    if kind == "run":
        return f"```text\n$ build/bin/{what}\n{text}\n```"
    fault = fault_named(root, what)
    command = f"build/bin/faults/{fault.program}_{fault.name} {fault.run}"
    return f"```diff\n{fault.patch}\n```\n\n```text\n$ {command}\n{text}\n```"


def shown(root: Path) -> list:
    """(kind, what) of each transcript in the docs."""
    pages = [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]
    found = dict.fromkeys(
        (mark["kind"], mark["what"])
        for page in pages
        if page.exists()
        for mark in MARK.finditer(re.sub(r"^(```|~~~).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE))
    )
    return list(found)


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path, metavar="BIN", help="build/bin")
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 and name what differs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record here, not into docs/results")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[3], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    root, programs = options.root, options.programs.resolve()
    before, wanted = recorded(root), shown(root)
    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            texts = list(pool.map(lambda one: printed(root, programs, *one), wanted))
    except (ResultError, OSError) as error:
        print(f"transcripts: {error}", file=sys.stderr)
        return 2
    now = {f"{kind}: {what}": text for (kind, what), text in zip(wanted, texts)}
    changed = [name for name in now if before.get(name) != now[name]] + [name for name in before if name not in now]
    for name in changed:
        print(f"transcripts: {name}: {'gone' if name not in now else 'new' if name not in before else 'differs'}")
    if options.check:
        if changed:
            print("transcripts: record them with python3 -m common.plots.pages.transcripts build/bin, then build the target plots")
        return 1 if changed else 0
    (options.json or store(root)).write_text(json.dumps(now, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
