"""Every variant of every rung, at awkward sizes, under compute-sanitizer's memcheck, racecheck and initcheck, on a GPU:

    python3 -m common.tools.sanitize --bin build/bin [--tools memcheck,racecheck] [RUNG...]      (target sanitize)

The reference is the CPU's, so that what is checked is the rung's kernels and not a library's. (What runs on the CPU, the
simulator and the harness, has sanitizers of its own: the presets asan and tsan.)
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from common.tools.programs import BESIDE, CannotRun, device_of, listed, nvidia_tool, run_for, rungs

TOOLS = ("memcheck", "racecheck", "initcheck")
LIMIT = 900  # seconds of a run


def arguments_for(problem: str) -> list:
    """Of the rung's program: every variant at awkward sizes."""
    return [*problem.split(), "--ablate", "--verify-only", "--reference", "cpu"]


def runs(program: Path) -> list:
    """The problems that are named apart; first those that run without a name, in one run."""
    return ["", *(name for name, problem in listed(program).items() if not problem["runs_unnamed"])]


def check(sanitizer: str, tool: str, program: Path, problem: str, limit: int) -> bool:
    """Whether it is clean; says so in a line."""
    name = f"{program.name} {problem}".strip()
    command = [sanitizer, "--tool", tool, "--error-exitcode", "99", "--print-limit", "3"]
    command += [str(program), *arguments_for(problem)]
    begun = time.monotonic()
    try:
        done = run_for(limit, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        print(f"{name} {tool}: not done after {limit} s: {' '.join(command)}", flush=True)
        return False
    # Without a summary nothing was checked, whatever the exit code: where the tool cannot attach, say.
    summary = "; ".join(line.strip("= ") for line in done.stdout.splitlines() if "SUMMARY" in line) or "no summary"
    print(f"{name} {tool}: exit code {done.returncode} in {time.monotonic() - begun:.0f} s, {summary}", flush=True)
    clean = done.returncode == 0 and summary != "no summary"
    if not clean:
        print(f"{' '.join(command)}\n{done.stdout}", flush=True)
    return clean


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the rungs' programs")
    parser.add_argument("--tools", default=",".join(TOOLS), help="which of compute-sanitizer's")
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="S", help="seconds of a run, after which it is ended")
    parser.add_argument("rungs", nargs="*", help="these alone")
    options = parser.parse_args(arguments)
    sanitizer = nvidia_tool("compute-sanitizer")
    if not sanitizer:
        print("compute-sanitizer is missing: it comes with the CUDA Toolkit (cuda-sanitizer-13-0)", file=sys.stderr)
        return 1
    programs, unclean = {}, []
    for program in (options.bin.resolve() / rung for rung in options.rungs or (*rungs(), *BESIDE)):
        try:  # by itself: under the sanitizer a program that finds no GPU has no exit code
            device_of(program)
            programs[program] = runs(program)
        except CannotRun as why:
            print(f"{program.name}: not run: {why}", flush=True)
        except OSError as error:
            parser.exit(1, f"sanitize: {error}\n")
    if not programs:
        print("sanitize: no rung can run here", file=sys.stderr)
        return 1
    for tool in options.tools.split(","):
        for program, others in programs.items():
            for problem in others:
                if not check(sanitizer, tool, program, problem, options.limit):
                    unclean.append(f"{program.name} {problem} {tool}".replace("  ", " "))
    if unclean:
        print(f"not clean: {', '.join(unclean)}", file=sys.stderr)
    return 1 if unclean else 0


if __name__ == "__main__":
    sys.exit(main())
