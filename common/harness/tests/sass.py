"""The test of what a kernel's machine code is made of: one kernel must have all these instructions, or some kernels must have
them in an order. The machine code is the one that assembles.py has put beside the object file.

usage: sass.py --cuobjdump CUOBJDUMP OBJECT INSTRUCTION...
       sass.py --cuobjdump CUOBJDUMP OBJECT INSTRUCTION --kernels NAMES --before INSTRUCTION...

An INSTRUCTION is a SASS mnemonic and the first of its modifiers: LDGSTS, HMMA.16816, LDG.E.128. NAMES is a regular
expression; in every kernel whose mangled name it matches a part of, the last INSTRUCTION of the first kind must come before
the first of --before.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path


def places(kernel: str, instruction: str) -> list:
    return [match.start() for match in re.finditer(rf"\s{re.escape(instruction)}[.\s]", kernel)]


def has_all(kernels: list, instructions: list) -> str:
    """Why not, or an empty string."""
    found = False
    for kernel in kernels:
        counts = {i: len(places(kernel, i)) for i in instructions}
        print(kernel.split(maxsplit=1)[0], *(f"{instruction}: {count}" for instruction, count in counts.items()))
        found = found or all(counts.values())
    return "" if found else f"none of {len(kernels)} kernels has all of: {' '.join(instructions)}"


def in_order(kernels: list, names: str, first: list, then: list) -> str:
    """Why not, or an empty string."""
    named = [kernel for kernel in kernels if re.search(names, kernel.split(maxsplit=1)[0])]
    if not named:
        return f"none of {len(kernels)} kernels has a name with {names}"
    wrong = []
    for kernel in named:
        ahead, behind = (sorted(place for i in some for place in places(kernel, i)) for some in (first, then))
        late = [place for place in ahead if behind and place > behind[0]]
        name = kernel.split(maxsplit=1)[0]
        print(f"{name}: {len(ahead)} before {len(behind)}, {len(late)} of them late")
        if late or not ahead or not behind:
            wrong.append(name)
    return f"not all of {' '.join(first)} come before {' '.join(then)}: {' '.join(wrong)}" if wrong else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuobjdump", required=True)
    parser.add_argument("object")
    parser.add_argument("instructions", nargs="+", metavar="INSTRUCTION")
    parser.add_argument("--kernels")
    parser.add_argument("--before", nargs="+", default=[])
    arguments = parser.parse_args()

    cubin = Path(arguments.object).with_suffix(".cubin")
    done = subprocess.run([arguments.cuobjdump, "-sass", cubin], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cuobjdump: exit code {done.returncode}: {done.stderr}")
    kernels = re.split(r"^\s*Function : ", done.stdout, flags=re.MULTILINE)[1:]
    if not kernels:
        sys.exit(f"no machine code in {cubin}")
    if arguments.kernels:
        sys.exit(in_order(kernels, arguments.kernels, arguments.instructions, arguments.before) or 0)
    sys.exit(has_all(kernels, arguments.instructions) or 0)


main()
