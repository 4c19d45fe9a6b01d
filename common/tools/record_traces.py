"""Records the memory accesses that the chapters' pictures are drawn from, on the simulator:

    python3 -m common.tools.record_traces --bin build/bin --json docs/results/traces.jsonl    (or, into build/record: target record_traces)

Each of RECORDINGS is a run of a rung. Of the warp that is traced (common/simulator/reports/trace_file.h) the first accesses
of each kind are kept: by one line of the source to one allocation, or to shared memory. Of a run in TIMELINES what
matters is when: its accesses to shared memory, without their addresses, between copies waited for and barriers. The
result is the same on every run.
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
MOST_LINES = 100_000  # of a launch: more than any recording below has


class Recording(NamedTuple):
    rung: str
    problem: str
    variant: str
    sizes: dict
    ctas: int = 1  # warp 0 of each of the first CTAs
    keep: tuple = (1,)  # which accesses of a kind, by number; empty: every access that is not like an earlier one
    arrays: str = ""  # only accesses to these; empty: to all, and to shared memory
    ptx: str = ""  # only by opcodes that begin so
    within: int = 0  # only to this many bytes from the lowest of their addresses on; 0: to any
    warp: int = 0  # of a timeline
    device: str = DEVICE


CUBE = {"m": 256, "n": 256, "k": 256}
ROWS = {"rows": 128, "cols": 8192}
LDMATRIX = "ldmatrix.sync.aligned.m8n8.x4.shared"  # not .trans: of A
ROWS_16 = 16 * 144  # bytes: 16 rows of A in 06, padded or not
RECORDINGS = (
    Recording("00_naive", "gemm", "naive", CUBE),
    Recording("01_coalesced", "gemm", "coalesced", CUBE),
    Recording("02_smem_tiling", "gemm", "register_tile", CUBE),
    Recording("03_vectorized", "gemm", "scalar_global", CUBE, arrays="A"),
    Recording("03_vectorized", "gemm", "vectorized", CUBE),
    # The loads of an mma's A and B, and the stores of its C: row g, and row g + 8 after the 8 mmas beside it.
    Recording("05_mma_sync", "gemm", "halfwords", CUBE, keep=(1, 2, 3, 4), ptx="ld.shared.u32"),
    Recording("05_mma_sync", "gemm", "halfwords", CUBE, keep=(1, 2), ptx="ld.shared.u16"),
    Recording("05_mma_sync", "gemm", "halfwords", CUBE, keep=(1, 9), ptx="st.global"),
    Recording("05_mma_sync", "gemm", "unpadded", CUBE, ptx="ld.shared"),
    Recording("05_mma_sync", "gemm", "mma_sync", CUBE, ptx="ld.shared"),
    *(
        Recording("06_swizzle_ldmatrix", "gemm", layout, CUBE, keep=(), ptx=LDMATRIX, within=ROWS_16)
        for layout in ("unswizzled", "padded", "swizzle_ldmatrix")
    ),
    Recording("00_naive", "fused_norm", "naive", ROWS, keep=tuple(range(1, 33)), arrays="x"),
    Recording("01_coalesced", "fused_norm", "cta_per_row", ROWS, ctas=4, arrays="x"),
    Recording("03_vectorized", "fused_norm", "vectorized", ROWS, ctas=4, arrays="x"),
)
TILES_8 = {"m": 128, "n": 128, "k": 128}  # 8 k-tiles of 04
# Of 09, warps 0, 1, 2 and 4 load, multiply, request tiles and run the epilogue. The first cluster takes over the other two tiles.
THREE_TILES = {"m": 256, "n": 3 * 256, "k": 384}
TIMELINES = (
    *(Recording("04_cp_async", "gemm", variant, TILES_8) for variant in ("blocking", "1_stage", "cp_async")),
    *(
        Recording("09_tcgen05", "gemm", "launch_control", THREE_TILES, warp=warp, device="b200")
        for warp in (0, 1, 2, 4)
    ),
)
MBARRIER = {  # opcode of an access to an mbarrier begins so → step
    "mbarrier.arrive.expect_tx": "expect",
    "mbarrier.arrive": "arrive",
    "mbarrier.try_wait": "ask",
    "tcgen05.commit": "promise",
}


def run(binaries: Path, recording: Recording, cta: int = 0, events: bool = False) -> list:
    """What the simulator writes of one warp, of the first launch of the rung's own kernel."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        sizes = [word for name, size in recording.sizes.items() for word in (f"--{name}", str(size))]
        command = [str(binaries / f"{recording.rung}_sim"), recording.problem, "--variant", recording.variant]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
        environment |= {
            "SIMULATOR_DEVICE": recording.device,
            "SIMULATOR_THREADS": "1",  # which CTA takes over which tile must not depend on the machine
            "SIMULATOR_TRACE": str(trace),
            "SIMULATOR_TRACE_WARP": f"{cta}:{recording.warp}",
            "SIMULATOR_TRACE_LIMIT": str(MOST_LINES),
        }
        if events:
            environment["SIMULATOR_TRACE_EVENTS"] = "1"
        subprocess.run([*command, *sizes, "--verify-only"], env=environment, check=True, stdout=subprocess.DEVNULL)
        lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if f"/{recording.rung}/" in line.get("file", "")]
    return [line for line in lines if line["launch"] == lines[0]["launch"]]


def head(record: str, recording: Recording) -> dict:
    names = {"rung": recording.rung, "problem": recording.problem, "variant": recording.variant}
    return {"record": record, "device": f"simulator:{recording.device}", **names, **recording.sizes}


def active(access: dict) -> list:
    return [at for at in access["addresses"] if at is not None]


def of_interest(recording: Recording, lines: list) -> list:
    """The accesses that the recording selects."""
    accesses = []
    for access in lines:
        if access["ptx"].startswith(recording.ptx):
            if not recording.arrays or access.get("array", "shared") in recording.arrays:
                accesses.append(access)
    if recording.within and accesses:
        end = min(at for access in accesses for at in active(access)) + recording.within
        accesses = [access for access in accesses if max(active(access)) + access["bytes"] <= end]
    return accesses


def record(binaries: Path, recording: Recording) -> list:
    kept, seen = [], []
    for cta in range(recording.ctas):
        kinds = {}
        for access in of_interest(recording, run(binaries, recording, cta)):
            operation = access["ptx"].split(".")[0]
            kind = (operation, access["space"], tuple(access["lines"]), access.get("allocation"))
            kinds.setdefault(kind, []).append(access)
        for same in kinds.values():
            file = same[0]["file"]
            file = file[file.index(f"/{recording.rung}/") + 1 :]  # from the repository's root
            text = (ROOT / file).read_text(encoding="utf-8").splitlines()
            what = {"file": file, "source": [text[line - 1].strip() for line in same[0]["lines"]], "of": len(same)}
            for number, access in enumerate(same, start=1):
                if number not in recording.keep if recording.keep else access["addresses"] in seen:
                    continue
                seen.append(access["addresses"])
                array = {"array": access["array"]} if "array" in access else {}
                for name in ("launch", "kernel", "at", "access", "allocation", "array"):
                    access.pop(name, None)
                kept.append({**access, **what, **array, "number": number})
    return [{**head("trace", recording), **access} for access in kept]


def timeline(binaries: Path, recording: Recording) -> dict:
    """The warp's steps, in order: copies committed, waited for; barriers; what it does at which mbarrier (first: its
    address), a tcgen05.commit being the promise of an arrival; products, those that follow each other being one step; and
    between two of these what each line of the source does to shared memory. `at` counts the warp's instructions: when
    the step begins, or happens."""
    steps, open_steps = [], {}
    for line in run(binaries, recording, events=True):
        if "event" in line:
            if line["event"] == "mma" and line["ptx"].startswith(("wgmma", "tcgen05")):
                if not steps or steps[-1]["step"] != "multiply":
                    steps.append({"step": "multiply", "at": line["at"], "count": 0})
                steps[-1] |= {"until": line["at"], "count": steps[-1]["count"] + 1}
                open_steps = {}
            if line["event"] not in ("commit", "wait", "barrier"):
                continue
            names = ("at", "group", "below")
            steps.append({"step": line["event"], **{name: line[name] for name in names if name in line}})
            open_steps = {}
        elif line["ptx"].startswith(("mbarrier.", "tcgen05.commit")):
            step = next((step for opcode, step in MBARRIER.items() if line["ptx"].startswith(opcode)), None)
            if step:
                steps.append({"step": step, "at": line["at"], "first": min(active(line))})
                open_steps = {}
        elif line["space"] == "shared":
            does = {"cp": "copy", "st": "store", "stmatrix": "store"}.get(line["ptx"].split(".")[0], "load")
            first = min(active(line))
            kind = (does, *line["lines"])
            if kind not in open_steps:
                open_steps[kind] = {"step": does, "at": line["at"], "first": first}
                steps.append(open_steps[kind])
            step = open_steps[kind]
            step |= {"until": line["at"], "first": min(step["first"], first), "count": step.get("count", 0) + 1}
    return {**head("timeline", recording), "cta": 0, "warp": recording.warp, "steps": steps}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the rungs' programs")
    parser.add_argument("--json", type=Path, required=True, help="the file to write")
    options = parser.parse_args()
    try:
        records = [line for recording in RECORDINGS for line in record(options.bin, recording)]
        records += [timeline(options.bin, recording) for recording in TIMELINES]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"traces: {error}", file=sys.stderr)
        return 1
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in records), encoding="utf-8")
    print(f"traces: {len(records)} records in {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
