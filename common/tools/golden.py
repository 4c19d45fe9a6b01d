"""Ordinary CUDA programs: what they print on a GPU is recorded, and what they print on the simulator is compared with it.

    python3 -m common.tools.golden compare PROGRAM --runtime build/simulator --golden golden/NAME.txt [--unrecorded [--every]]
    python3 -m common.tools.golden record NAME… --bin FOLDER --runtime FOLDER_OF_LIBCUDART --golden golden      (target simulator_golden)

`compare`: the program must exit with 0 on that runtime and print exactly what is in the file; where it does not, the first
lines that differ are shown. --unrecorded: there is no file yet; the program's own check has to pass, in a random order of
execution, and with --every, before a release, in three. `record` runs each program on the GPU three times: it must pass its own check and print the same each time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

MOST_LINES, MOST_ERRORS = 5, 4000  # shown of what differs; characters of stderr
SEEDS = (0, 1, 2)
RUNS = 3


def run(program: Path, runtime: Path, **environment: str) -> tuple:
    """Exit code, output and errors, as text whatever bytes they are."""
    variables = os.environ | {"LD_LIBRARY_PATH": str(runtime)} | environment
    done = subprocess.run([program], env=variables, capture_output=True)
    return done.returncode, *(text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr))


def difference(output: str, golden: str) -> str:
    got, wanted = output.split("\n"), golden.split("\n")
    shown = []
    for number, want in enumerate(wanted, start=1):
        line = got[number - 1] if number <= len(got) else "(nothing)"
        if line != want and len(shown) < MOST_LINES:
            shown.append(f"line {number}\n  GPU:       {want}\n  simulator: {line}")
    return "\n".join([*shown, f"{len(got)} lines, {len(wanted)} expected"])


def compare(program: Path, runtime: Path, golden: Path, unrecorded: bool, every: bool = False) -> str:
    """Empty, or what is wrong."""
    if unrecorded:
        for seed in SEEDS if every else (1,):
            exit_code, output, errors = run(program, runtime, SIMULATOR_SEED=str(seed))
            if exit_code:
                return f"seed {seed}: exit code {exit_code}\n{output}{errors}"
        return ""
    if not golden.exists():
        return f"{golden} is missing: record it on a GPU (see README.md there)"
    exit_code, output, errors = run(program, runtime)
    wanted = golden.read_bytes().decode("utf-8", "backslashreplace")
    if exit_code == 0 and output == wanted:
        return ""
    return f"{difference(output, wanted)}; exit code {exit_code}\n{errors[:MOST_ERRORS]}"


def record(program: Path, runtime: Path, golden: Path) -> str:
    """Writes the golden file, or says why not."""
    outputs = []
    for number in range(1, RUNS + 1):
        exit_code, output, errors = run(program, runtime)
        if exit_code:
            return f"{output}{errors}exit code {exit_code}"
        outputs.append(output)
        if output != outputs[0]:
            return f"run {number} prints something else"
    golden.write_text(outputs[0], encoding="utf-8", newline="")
    return ""


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("compare", help="one program with its golden file")
    one.add_argument("program", type=Path)
    one.add_argument("--runtime", type=Path, required=True, help="the folder of libcudart.so.13")
    one.add_argument("--golden", type=Path, required=True, help="the file that a GPU printed")
    one.add_argument("--unrecorded", action="store_true")
    one.add_argument("--every", action="store_true", help="in every order of execution: before a release")
    many = commands.add_parser("record", help="golden files, on a GPU")
    many.add_argument("names", nargs="+")
    many.add_argument("--bin", type=Path, required=True)
    many.add_argument("--runtime", type=Path, required=True, help="the folder of the real libcudart.so.13")
    many.add_argument("--golden", type=Path, required=True, help="the folder to write into")
    options = parser.parse_args(arguments)
    if options.command == "compare":
        wrong = compare(options.program, options.runtime, options.golden, options.unrecorded, options.every)
        if wrong:
            print(f"{options.program.name}: {wrong}")
        return 1 if wrong else 0
    failed = 0
    for name in options.names:
        wrong = record(options.bin / name, options.runtime, options.golden / f"{name}.txt")
        print(f"{name}: {wrong or 'recorded'}", flush=True)
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
