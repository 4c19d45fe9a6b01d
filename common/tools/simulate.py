"""The test of a rung's kernels on the simulator: every variant at awkward sizes, or at the one that RUN names.

    python3 -m common.tools.simulate build/bin/NAME_sim gemm
    python3 -m common.tools.simulate build/bin/NAME_sim "gemm --m 1 --n 8 --k 8" --seeds 0,1 --sms 16

It runs with every check on, on an H200, or on a B200 where the rung is not for that: with what is asynchronous as late as it
may be (seed 0) or, where seeds are given, in a random order (1). With --every, before a release: on GPUs of three
generations, in the orders 0 to 2 or those of the seeds; a rung for none of the three runs on the fourth, which these kernels
have not met as hardware, in six. A GPU that the rung is not for (exit code 77) is passed over.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from common.tools.programs import CANNOT_RUN

OLDER, DEVICE, LAST_RESORT = ("a100", "l40s"), "h200", "b200"


def seeds_of(device: str, seeds: tuple | None, every: bool) -> tuple:
    if not every:
        return (1,) if seeds else (0,)
    return seeds or ((0, 1, 2, 3, 4, 5) if device == LAST_RESORT else (0, 1, 2))


def simulate(program: Path, run: str, seeds: tuple | None, sms: str, every: bool) -> str:
    """Empty, or what went wrong."""
    command = [program, *run.split(), "--ablate", "--verify-only"]
    ran = 0
    for device in (*(OLDER if every else ()), DEVICE, LAST_RESORT):
        if device == LAST_RESORT and ran:
            break
        for seed in seeds_of(device, seeds, every):
            how = {"SIMULATOR_DEVICE": device, "SIMULATOR_SEED": str(seed), "SIMULATOR_SMS": sms}
            done = subprocess.run(command, env=os.environ | how | {"SIMULATOR_CHECKS": "fail"})
            if done.returncode == CANNOT_RUN:
                break
            if done.returncode:
                words = " ".join(f"{name}={value}" for name, value in how.items() if value)
                return f"exit code {done.returncode} with {words}"
            ran += 1
    return "" if ran else "no simulated GPU runs this rung"


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("run", help='the problem and its shape: "gemm --m 65 --n 136 --k 72"')
    parser.add_argument("--seeds", type=lambda text: tuple(map(int, text.split(","))), help="with --every: in these orders: 0,1")
    parser.add_argument("--sms", default="", help="on GPUs that have so few SMs, to give each CTA several tiles")
    parser.add_argument("--every", action="store_true", help="on older GPUs, too, and in every order: before a release")
    options = parser.parse_args(arguments)
    wrong = simulate(options.program, options.run, options.seeds, options.sms, options.every)
    if wrong:
        print(f"{options.program.name} {options.run}: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
