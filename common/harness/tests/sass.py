"""The test of what a kernel's machine code is made of: one kernel must have all these instructions. The machine code is the
one that assembles.py has put beside the object file.

usage: sass.py --cuobjdump CUOBJDUMP OBJECT INSTRUCTION...

An INSTRUCTION is a SASS mnemonic and the first of its modifiers: LDGSTS, HMMA.16816, LDG.E.128.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuobjdump", required=True)
    parser.add_argument("object")
    parser.add_argument("instructions", nargs="+", metavar="INSTRUCTION")
    arguments = parser.parse_args()

    cubin = Path(arguments.object).with_suffix(".cubin")
    done = subprocess.run([arguments.cuobjdump, "-sass", cubin], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cuobjdump: exit code {done.returncode}: {done.stderr}")
    kernels = re.split(r"^\s*Function : ", done.stdout, flags=re.MULTILINE)[1:]
    if not kernels:
        sys.exit(f"no machine code in {cubin}")
    found = False
    for kernel in kernels:
        counts = {i: len(re.findall(rf"\s{re.escape(i)}[.\s]", kernel)) for i in arguments.instructions}
        print(kernel.split(maxsplit=1)[0], *(f"{instruction}: {count}" for instruction, count in counts.items()))
        found = found or all(counts.values())
    if not found:
        sys.exit(f"none of {len(kernels)} kernels has all of: {' '.join(arguments.instructions)}")


main()
