"""How fast the simulator runs on this machine: every rung's gemm, on 1 and 2 CPU threads and on all of them, with neither
checks nor counters and with both, as JSON Lines.

    python3 -m common.tools.simulator_speed --bin build/bin --json build/record/simulator_speed.jsonl [RUNG...]     (target simulator_speed)

What it should reach: on each thread at least 25 million warp-instructions a second, 12 million with checks and counters; on
2 threads at least 1.8 times as many as on one; kernels loaded within 0.2 s. Nothing else may run on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from common.tools.programs import plain_environment, rungs

RUN = ("gemm", "--size", "768")
NUMBER = r"([0-9.]+)"
SAID = re.compile(
    f"{NUMBER} million warp-instructions in {NUMBER} s: {NUMBER} million a second, {NUMBER} on each CPU thread; {NUMBER} s"
)


def cpu_name() -> str:
    try:
        names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        names = []
    return names[0].strip() if names else "unknown"


def measure(program: Path, checked: bool, threads: int) -> tuple:
    """Millions of warp-instructions a second, the same on each thread, and seconds to load the kernels."""
    checks = "fail" if checked else "off"
    environment = plain_environment(SIMULATOR_SPEED="1", SIMULATOR_CHECKS=checks, SIMULATOR_THREADS=str(threads))
    command = [program, *RUN, *([] if checked else ["--verify-only"])]  # which does not count
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    said = SAID.search(done.stderr)
    if done.returncode or not said:
        raise OSError(f"{program.name}: exit code {done.returncode}: {done.stderr.strip()}")
    return tuple(float(said[group]) for group in (3, 4, 5))


def record(binaries: Path, names: list, json_file: Path) -> None:
    cpu, cores = cpu_name(), os.cpu_count() or 1
    counts = sorted({1, 2, cores})
    print(f"million warp-instructions a second on {cores} × {cpu}", flush=True)
    json_file.parent.mkdir(parents=True, exist_ok=True)
    with json_file.open("w", encoding="utf-8") as out:
        for rung in names:
            for checked in (False, True):
                speeds = []
                for threads in counts:
                    total, each, load = measure(binaries / f"{rung}_sim", checked, threads)
                    line = {"record": "simulator_speed", "rung": rung, "cpu": cpu, "threads": threads}
                    line |= {"checked_and_counted": checked, "million_per_second": total}
                    line |= {"million_per_second_per_thread": each, "load_s": load}
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                    out.flush()
                    speeds.append(f"  {threads} threads {total:g}")
                print(f"{rung}, checks and counters {'on' if checked else 'off'}:{''.join(speeds)}", flush=True)


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the rungs' programs")
    parser.add_argument("--json", type=Path, required=True, help="the file to write")
    parser.add_argument("rungs", nargs="*", help="these alone")
    options = parser.parse_args(arguments)
    try:
        record(options.bin, options.rungs or rungs(), options.json)
    except OSError as error:
        print(f"simulator_speed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
