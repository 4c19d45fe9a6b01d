"""Whether a change made any kernel slower: `python3 -m common.tools.compare_builds OLD/bin NEW/bin [--turns N] [RUN...]`, on a GPU.

Runs every variant of every rung from both builds, in turns (old, new, new, old, ...), so that both see the same clocks.
Prints for each variant the median time of each, old / new (more than 1: the new one is faster), and the noise: the
largest difference between two runs of the same build. A RUN is a rung and its arguments: "07_wgmma_tma gemm --size 4096".
Exits with 1 where a variant of the old build is missing, or slower by more than 1 % and by more than the noise.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common.tools.programs import BESIDE, listed

SLOW = {"00_naive", "01_coalesced", "02_smem_tiling", "03_vectorized"}  # at 4096 a launch takes up to a third of a second


def default_runs(folder: Path) -> list:
    """Each problem at the course's sizes."""
    runs = []
    for program in (*sorted(folder.glob("[0-9][0-9]_*")), *(folder / name for name in BESIDE)):
        if not (folder / f"{program.name}_sim").exists():
            continue  # a test, or the simulated program itself
        for name, problem in listed(program).items():
            sizes = zip(problem["dimensions"], problem["default_shape"]["gpu"].split("x"))
            shape = " ".join(f"--{dimension} {size}" for dimension, size in sizes)
            runs.append(f"{program.name} {name} {'--size 1024' if program.name in SLOW and name == 'gemm' else shape}")
    return runs


def times(folder: Path, run: str, repeats: int) -> dict:
    """Median microseconds of each variant."""
    program, *arguments = run.split()
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        command = [folder / program, *arguments, "--ablate", "--repeats", str(repeats), "--json", file.name]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 77:
            return {}
        if done.returncode:
            sys.exit(f"{folder / program} {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        records = [json.loads(line) for line in Path(file.name).read_text().splitlines()]
    return {record["variant"]: record["median_us"] for record in records if "median_us" in record}


def noise(of_turns: list) -> float:
    return max(of_turns) / min(of_turns) - 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=25, help="timed launches of a variant in a turn")
    parser.add_argument("runs", nargs="*")
    arguments = parser.parse_intermixed_args()
    slower = 0
    try:
        runs = arguments.runs or default_runs(arguments.old)
    except OSError as error:
        parser.exit(1, f"compare_builds: {error}\n")
    print(f"{'old us':>10} {'new us':>10} {'old/new':>8} {'noise':>7}")
    for run in runs:
        turns = {arguments.old: [], arguments.new: []}
        for turn in range(arguments.turns):
            order = [arguments.old, arguments.new]
            for folder in order if turn % 2 == 0 else reversed(order):
                turns[folder].append(times(folder, run, arguments.repeats))
        for variant in turns[arguments.old][0]:
            old, new = ([found.get(variant) for found in turns[folder]] for folder in (arguments.old, arguments.new))
            if None in new:
                print(f"{run} {variant}: not in {arguments.new}")
                slower += 1
                continue
            ratio = statistics.median(old) / statistics.median(new)
            band = max(noise(old), noise(new))
            bad = ratio < 0.99 and 1 - ratio > band
            slower += bad
            print(
                f"{statistics.median(old):10.2f} {statistics.median(new):10.2f} {ratio:8.4f} {100 * band:6.2f}%  "
                f"{run} --variant {variant}{'  SLOWER' if bad else ''}",
                flush=True,
            )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
