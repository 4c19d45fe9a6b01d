#!/usr/bin/env python3
"""Every variant of every rung, at awkward sizes, under compute-sanitizer's memcheck, racecheck and initcheck, on a GPU:

    sanitize.py --bin build/bin [--tools memcheck,racecheck] [RUNG...]      (target sanitize)

The reference is the CPU's, so that what is checked is the rung's kernels and not a library's. (What runs on the CPU, the
simulator and the harness, has sanitizers of its own: the presets asan and tsan.)
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from programs import CANNOT_RUN, problems, rungs

TOOLS = ("memcheck", "racecheck", "initcheck")
ALWAYS = ("gemm", "fused_norm")  # in one run, which has no problem's name
LIMIT = 900  # seconds of a run


def check(sanitizer: str, tool: str, program: Path, problem: str) -> bool:
    """Whether it is clean, or cannot run here; says so in a line."""
    name = f"{program.name} {problem}".strip()
    command = [sanitizer, "--tool", tool, "--error-exitcode", "99", "--print-limit", "3", program]
    command += [*problem.split(), "--ablate", "--verify-only", "--reference", "cpu"]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        print(f"{name} {tool}: not done after {LIMIT} s", flush=True)
        return False
    if done.returncode == CANNOT_RUN:
        print(f"{name}: not run, no usable GPU", flush=True)
        return True
    summary = "; ".join(line for line in done.stdout.splitlines() if "SUMMARY" in line)
    print(f"{name} {tool}: exit code {done.returncode} in {time.monotonic() - begun:.0f} s {summary}", flush=True)
    if done.returncode:
        print(done.stdout, flush=True)
    return done.returncode == 0


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the rungs' programs")
    parser.add_argument("--tools", default=",".join(TOOLS), help="which of compute-sanitizer's")
    parser.add_argument("rungs", nargs="*", help="these alone")
    options = parser.parse_args(arguments)
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        print("compute-sanitizer is missing: it comes with the CUDA Toolkit (cuda-sanitizer-13-0)", file=sys.stderr)
        return 1
    unclean = []
    for tool in options.tools.split(","):
        for program in (options.bin / rung for rung in options.rungs or rungs()):
            others = [problem for problem in problems(program) if problem not in ALWAYS]
            for problem in ("", *others):
                if not check(sanitizer, tool, program, problem):
                    unclean.append(f"{program.name} {problem} {tool}".replace("  ", " "))
    if unclean:
        print(f"not clean: {', '.join(unclean)}", file=sys.stderr)
    return 1 if unclean else 0


if __name__ == "__main__":
    sys.exit(main())
