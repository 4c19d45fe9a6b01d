"""Every command line of the record, of sanitize.py and of hardware_counters.py, as the rungs' programs read it: a variant, a
type or an option that is gone would else be found after half an hour on a GPU.

    plan_test.py BIN    the folder of the programs; no GPU is used: what can be read ends with "cannot run here"
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path



from common.tools import hardware_counters, programs, record, record_plan, sanitize


def command_lines(binaries: Path) -> list:
    """Of those that differ in nothing but numbers, one."""
    rungs = programs.rungs()
    norm_gemm = [rung for rung in rungs if "norm_gemm" in programs.problems(binaries / rung)]
    lines = [line for group in record_plan.GROUPS for line in record_plan.commands(group, rungs, norm_gemm)]
    lines += [f"{line} --trace {os.devnull}" for line in record.TIMELINES]
    for rung in rungs:
        lines += [" ".join([rung, *sanitize.arguments_for(problem)]) for problem in sanitize.runs(binaries / rung)]
        listed = programs.listed(binaries / rung)
        for problem in hardware_counters.SIZES:  # one variant is enough: their names are those of --list
            variant = listed[problem]["variants"][-1]["name"]
            lines.append(" ".join([rung, *hardware_counters.arguments_for(problem, variant)]))
    return [*{re.sub(r" \d+", " 8", line): line for line in lines}.values()]


def main(binaries: Path) -> int:
    without_gpu = os.environ | {"CUDA_VISIBLE_DEVICES": ""}

    def fault(line: str) -> str:
        program, *arguments = line.split()
        done = subprocess.run([binaries / program, *arguments], env=without_gpu, capture_output=True, text=True)
        return "" if done.returncode == programs.CANNOT_RUN else f"{line}: exit code {done.returncode}: {done.stderr.strip()}"

    lines = [line for line in command_lines(binaries) if not line.startswith("cutlass_beside")]  # which is not built by default
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [text for text in pool.map(fault, lines) if text]
    print(f"{len(lines)} command lines, {len(faults)} that no program reads", *faults, sep="\n")
    return 1 if faults or not lines else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
