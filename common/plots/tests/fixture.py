"""Made-up records, and a folder to put them in. No one measured the numbers."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from common.plots import plot
from common.plots.records.results import Results

PLOTS = Path(__file__).resolve().parent.parent

ENVIRONMENT = {"device": "Test GPU", "driver": "1.2", "cuda": "13.0", "cublas": "13.1", "sm_clock_mhz": 1500}


def gemm(rung, us, size=4096, variant=None, index=0, is_rung=True, base_us=200.0, **more):
    return {
        "record": "run",
        "rung": rung,
        "title": "idea",
        "problem": "gemm",
        "variant": variant or rung[3:],
        "variant_index": index,
        "is_rung": is_rung,
        "m": size,
        "n": size,
        "k": size,
        "median_us": us,
        "p10_us": us,
        "p90_us": us,
        "tflops": 2 * size**3 / us / 1e6,
        "verified": True,
        "baselines": {
            "cublasGemmEx": {"median_us": base_us, "ratio": base_us / us},
            "cublasLt_best16": {"median_us": base_us * 0.8, "ratio": base_us * 0.8 / us},
        },
        **ENVIRONMENT,
        **more,
    }


def norm(rung, us, rows=16384, cols=8192, copy_us=260.0):
    return {
        "record": "run",
        "rung": rung,
        "title": "idea",
        "problem": "fused_norm",
        "variant": rung[3:],
        "variant_index": 0,
        "is_rung": True,
        "rows": rows,
        "cols": cols,
        "median_us": us,
        "p10_us": us,
        "p90_us": us,
        "gbps": (8 * rows * cols + 2 * cols) / us / 1e3,
        "verified": True,
        "baselines": {"copy": {"median_us": copy_us, "ratio": copy_us / us}},
        **ENVIRONMENT,
    }


def row_operator(rung, us, variant, index=0, is_rung=False, rows=16384, cols=8192):
    moved = 4 * rows * cols + (4 * cols if variant.startswith("layer_norm") else 0)
    record = {**norm(rung, us, rows, cols), "problem": "row_operator", "variant": variant, "variant_index": index}
    return {**record, "is_rung": is_rung, "gbps": moved / us / 1e3, "baselines": {"copy": {"median_us": 130.0, "ratio": 130.0 / us}}}


def linear(us, variant, index=0, is_rung=False, **more):
    flops = 2 * 8192 * 14336 * 4096 * (2 if variant in ("swiglu", "geglu") else 1)
    return {
        **gemm("08_warp_specialized", us, variant=variant, index=index, is_rung=is_rung),
        "problem": "linear",
        "m": 8192,
        "n": 14336,
        "tflops": flops / us / 1e6,
        "baselines": {"lt": {"median_us": 1.25 * us, "ratio": 1.25}, "chain": {"median_us": 1.1 * us, "ratio": 1.1}},
        **more,
    }


def norm_gemm(us, variant="one_kernel", index=1, is_rung=True, rows=8192, **more):
    return {
        **norm("08_warp_specialized", us, rows, 4096),
        "problem": "norm_gemm",
        "variant": variant,
        "variant_index": index,
        "is_rung": is_rung,
        "n": 4096,
        "tflops": 2 * rows * 4096 * 4096 / us / 1e6,
        "baselines": {"norm+gemm": {"median_us": 1.25 * us, "ratio": 1.25}},
        **more,
    }


def grouped(us, variant="grouped", index=1, is_rung=True, **more):
    record = {**gemm("08_warp_specialized", us, variant=variant, index=index, is_rung=is_rung), "problem": "grouped_gemm"}
    flops = 2 * 1000 * 2048 * 4096
    baselines = {"cublasGemmEx_loop": {"median_us": 2 * us, "ratio": 2.0}}
    return {**record, "groups": 8, "m": 1000, "n": 2048, "k": 4096, "tflops": flops / us / 1e6, "baselines": baselines, **more}


def roof(name, value, unit):
    return {"record": "roof", "roof": name, "value": value, "unit": unit, **ENVIRONMENT}


def simulated(rung, counters, size=256):
    record = gemm(rung, 1.0, size=size)
    for name in ("median_us", "tflops", "baselines", "p10_us", "p90_us"):
        del record[name]
    return {**record, "device": "simulator:sm_90", "counters": counters}


def profile(rung, counters, size=512):
    keys = ("rung", "problem", "variant", "is_rung", "m", "n", "k", "device")
    record = gemm(rung, 1.0, size=size)
    return {"record": "profile", **{key: record[key] for key in keys}, "counters": counters}


COUNTED = {  # as the hardware names them; all equal but one
    "global_load_requests": 1000,
    "global_load_sectors": 16500,
    "global_store_requests": 10,
    "global_store_sectors": 40,
    "shared_wavefronts": 70,
    "shared_wavefronts_ideal": 60,
}
SIMULATED = {
    **COUNTED,
    "ptx_instructions": 12345,
    "global_load_sectors_per_request": 16.5,
    "global_store_sectors_per_request": 4,
    "shared_wavefronts": 77,
    "shared_load_requests": 7,
    "shared_load_wavefronts": 77,
    "shared_load_wavefronts_ideal": 60,
    "shared_store_requests": 0,
}


def speed(threads, million, checked=False):
    return {
        "record": "simulator_speed",
        "rung": "00_naive",
        "cpu": "Test CPU",
        "threads": threads,
        "checked_and_counted": checked,
        "million_per_second": million,
        "million_per_second_per_thread": million / threads,
        "load_s": 0.0,
    }


def power(us, input="normal(0,1)", contender="coalesced", clock=1500):
    return {
        "record": "power",
        "rung": "01_coalesced",
        "problem": "gemm",
        "variant": "coalesced",
        **{name: 4096 for name in "mnk"},
        "input": input,
        "contender": contender,
        "launches": 100,
        "seconds": 2.0,
        "idle_w": 130.0,
        "joules": 1400.0,
        "joules_per_launch": 14.0,
        "launch_us": us,
        "tflops": 2 * 4096**3 / us / 1e6,
        "sm_clock_mhz": clock,
        "power_w": 690.0,
        "series": {"seconds": [0.1, 2.0], "launch_us": [us, us], "sm_clock_mhz": [1980, clock], "power_w": [130, 690]},
        "device": "Test GPU",
    }


EVERYTHING = [
    power(20000.0),
    power(18000.0, input="zeros", clock=1875),
    power(200.0, contender="cublasGemmEx"),
    speed(1, 30.0),
    speed(2, 57.0),
    speed(1, 14.0, checked=True),
    gemm("00_naive", 400000.0),
    gemm("00_naive", 1000.0, size=512),
    gemm("01_coalesced", 25000.0, variant="plain", index=0, is_rung=False),
    gemm("01_coalesced", 20000.0, index=1),
    gemm("01_coalesced", 60.0, size=512),
    gemm("01_coalesced", 21000.0, outlier=28672, relative_error=0.06),
    gemm("01_coalesced", 25000.0, type="bf16", relative_error=0.003),
    gemm("cutlass_beside", 200.0, variant="sm90_small", is_rung=False),
    gemm("cutlass_beside", 180.0, variant="sm90_slow_clock", base_us=160.0),
    gemm("cutlass_beside", 400.0, variant="sm80_one", is_rung=False),
    norm("00_naive", 9000.0),
    norm("01_coalesced", 400.0),
    norm("01_coalesced", 110.0, 8192, 4096),
    norm_gemm(500.0),
    norm_gemm(400.0, variant="two", index=0, is_rung=False),
    *(norm_gemm(us, rows=128, launches=how) for us, how in ((30.0, "stream"), (28.0, "graph"))),
    grouped(100.0),
    grouped(50.0, routing="even"),
    roof("copy", 4000.0, "GB/s"),
    roof("copy_192_kib", 3690.0, "GB/s"),
    roof("copy_48_kib", 4100.0, "GB/s"),
    roof("fp32_fma", 60.0, "TFLOPS"),
    roof("bf16_mma_sync", 600.0, "TFLOPS"),
    simulated("00_naive", {"global_load": {"sectors_per_request": 32.0}}),
    simulated("00_naive", SIMULATED, size=512),
    profile("00_naive", {name: float(count) for name, count in COUNTED.items()}),
]


# Not made up: what the simulator counted is tested against its addresses, and the pictures need all of them.
TRACES = [json.loads(line) for line in (PLOTS.parents[1] / "docs/results/traces.jsonl").read_text("utf-8").splitlines()]


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs" / "results").mkdir(parents=True)

    def write(self, records, name="docs/results/a.jsonl"):
        path = self.root / name
        path.write_text("".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in records), encoding="utf-8")
        return path

    def load(self, records, **options):
        return Results([self.write(records)], **options)

    def run_plot(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = plot.main(["--root", str(self.root), *map(str, arguments)])
        return code, out.getvalue() + err.getvalue()
