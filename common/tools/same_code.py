"""Which kernels of a build have the machine code that another build has, under whatever name:

    python3 -m common.tools.same_code --cuobjdump CUOBJDUMP OLD… -- NEW…

OLD and NEW are object files, programs, or folders with object files, built for the same GPU (-D LADDER_GPU=90). Two kernels
are the same where their instructions are, one by one; names and addresses of symbols do not count. Prints each kernel of NEW
whose code is not among OLD's, and how many are. Exits with 1 where there is one: a time recorded of the others is theirs.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from pathlib import Path

INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s*(?:/\*.*)?$")
SYMBOL = re.compile(r"`\([^)]*\)")  # a jump's target, or a symbol: by its name


def kernels_of(sass: str) -> dict:
    """name -> its instructions, of what `cuobjdump -sass` prints."""
    found, name = {}, None
    for line in sass.splitlines():
        if line.strip().startswith("Function : "):
            name = line.split(" : ", 1)[1].strip()
            found[name] = []
        elif name and (instruction := INSTRUCTION.match(line)):
            found[name].append(SYMBOL.sub("`()", instruction[1]))
    return found


def fingerprint(instructions: list) -> str:
    return hashlib.sha256("\n".join(instructions).encode()).hexdigest()


def files_of(paths: list) -> list:
    return [file for path in paths for file in (sorted(path.rglob("*.cu.o")) if path.is_dir() else [path])]


def disassemble(cuobjdump: str, paths: list) -> dict:
    """name -> fingerprint, of all kernels in these files; one without machine code has none."""
    found = {}
    for file in files_of(paths):
        done = subprocess.run([cuobjdump, "-sass", file], capture_output=True, text=True)
        for name, instructions in kernels_of(done.stdout).items():
            found[f"{file.name}: {name}"] = fingerprint(instructions)
    return found


def main(arguments=None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("old", nargs="+", type=Path)
    if "--" not in arguments or not arguments[arguments.index("--") + 1 :]:
        parser.parse_args([*arguments[: arguments.index("--")]] if "--" in arguments else arguments)
        parser.error("the new build stands behind --")
    split = arguments.index("--")
    options = parser.parse_args(arguments[:split])
    old = set(disassemble(options.cuobjdump, options.old).values())
    new = disassemble(options.cuobjdump, [Path(each) for each in arguments[split + 1 :]])
    other = [name for name, code in new.items() if code not in old]
    for name in sorted(other):
        print(name)
    if not new:
        print("no machine code in the new build", file=sys.stderr)
        return 1
    print(f"{len(new) - len(other)} of {len(new)} kernels have the code of one of the old build")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
