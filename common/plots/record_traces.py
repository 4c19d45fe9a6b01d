#!/usr/bin/env python3
"""Records the memory accesses that the chapters' pictures are drawn from, on the simulator:

    record_traces.py --bin build/bin --json docs/results/traces.jsonl    (or, into build/record: target record_traces)

Each of RECORDINGS is a run of a rung. Of the warp that is traced (common/simulator/counters/trace.h) the first accesses
of each kind are kept: by one line of the source to one allocation, or to shared memory. The result is the same on every
run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DEVICE = "h200"
MOST_ACCESSES = 100_000  # of a launch: more than any recording below has


class Recording(NamedTuple):
    rung: str
    problem: str
    variant: str
    sizes: dict
    ctas: int = 1  # warp 0 of each of the first CTAs
    keep: int = 1  # accesses of a kind
    arrays: str = ""  # only accesses to these; empty: to all, and to shared memory


# In the order in which the harness allocates them (common/harness/workload.cc).
ARRAYS = {"gemm": ("A", "B", "C"), "fused_norm": ("x", "residual", "gamma", "h", "y")}
CUBE = {"m": 256, "n": 256, "k": 256}
ROWS = {"rows": 128, "cols": 8192}
RECORDINGS = (
    Recording("00_naive", "gemm", "naive", CUBE),
    Recording("01_coalesced", "gemm", "coalesced", CUBE),
    Recording("02_smem_tiling", "gemm", "register_tile", CUBE),
    Recording("03_vectorized", "gemm", "scalar_global", CUBE, arrays="A"),
    Recording("03_vectorized", "gemm", "vectorized", CUBE),
    Recording("00_naive", "fused_norm", "naive", ROWS, keep=32, arrays="x"),
    Recording("01_coalesced", "fused_norm", "cta_per_row", ROWS, ctas=4, arrays="x"),
    Recording("03_vectorized", "fused_norm", "vectorized", ROWS, ctas=4, arrays="x"),
)


def run(binaries: Path, recording: Recording, cta: int) -> list:
    """What the simulator writes of one warp."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        sizes = [word for name, size in recording.sizes.items() for word in (f"--{name}", str(size))]
        command = [str(binaries / f"{recording.rung}_sim"), recording.problem, "--variant", recording.variant]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
        environment |= {
            "SIMULATOR_DEVICE": DEVICE,
            "SIMULATOR_TRACE": str(trace),
            "SIMULATOR_TRACE_WARP": f"{cta}:0",
            "SIMULATOR_TRACE_LIMIT": str(MOST_ACCESSES),
        }
        subprocess.run([*command, *sizes, "--verify-only"], env=environment, check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]


def record(binaries: Path, recording: Recording) -> list:
    source = f"{recording.rung}/{recording.problem}.cu"
    text = (ROOT / source).read_text(encoding="utf-8").splitlines()
    kept = []
    for cta in range(recording.ctas):
        accesses = [access for access in run(binaries, recording, cta) if access.get("file", "").endswith(source)]
        launch = accesses[0]["launch"]  # of the rung's kernel, the first
        kinds = {}
        for access in accesses:
            if access["launch"] == launch:
                operation = access["ptx"].split(".")[0]
                kind = (operation, access["space"], tuple(access["lines"]), access.get("allocation"))
                kinds.setdefault(kind, []).append(access)
        for same in kinds.values():
            first = same[0]
            what = {"file": source, "source": [text[line - 1].strip() for line in first["lines"]], "of": len(same)}
            if "allocation" in first:
                what["array"] = ARRAYS[recording.problem][first["allocation"] - 1]
            if recording.arrays and what.get("array", "shared") not in recording.arrays:
                continue
            for number, access in enumerate(same[: recording.keep], start=1):
                for name in ("launch", "kernel", "access", "allocation"):
                    access.pop(name, None)
                kept.append({**access, **what, "number": number})
    names = {"rung": recording.rung, "problem": recording.problem, "variant": recording.variant}
    head = {"record": "trace", "device": f"simulator:{DEVICE}", **names, **recording.sizes}
    return [{**head, **access} for access in kept]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the rungs' programs")
    parser.add_argument("--json", type=Path, required=True, help="the file to write")
    options = parser.parse_args()
    try:
        records = [line for recording in RECORDINGS for line in record(options.bin, recording)]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"traces: {error}", file=sys.stderr)
        return 1
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in records), encoding="utf-8")
    print(f"traces: {len(records)} accesses in {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
