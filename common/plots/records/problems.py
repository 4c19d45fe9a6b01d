"""The problems: their sizes, units and baselines, and the work that each of them is. The harness has the same facts
(common/harness/problems), and nothing else of the plots does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from common.plots.records.error import ResultError


class Problem(NamedTuple):
    name: str
    dimensions: tuple
    unit: str
    baseline: str
    usual: str  # the shape that a rung is timed at where none is given


PROBLEMS = {
    "gemm": Problem("GEMM", ("m", "n", "k"), "TFLOPS", "cuBLAS", "4096x4096x4096"),
    "fused_norm": Problem("Fused add + RMSNorm", ("rows", "cols"), "GB/s", "copy", "16384x8192"),
    "norm_gemm": Problem("Add + RMSNorm + GEMM", ("rows", "cols", "n"), "TFLOPS", "two steps", "8192x4096x4096"),
    "grouped_gemm": Problem("Grouped GEMM", ("groups", "m", "n", "k"), "TFLOPS", "cuBLAS", "8x4096x14336x4096"),
    "linear": Problem("GEMM with an epilogue", ("m", "n", "k"), "TFLOPS", "unfused", "8192x14336x4096"),
    "row_operator": Problem("LayerNorm and softmax", ("rows", "cols"), "GB/s", "copy", "16384x8192"),
}
NAMES = {name: problem.name for name, problem in PROBLEMS.items()}
DIMENSIONS = {name: problem.dimensions for name, problem in PROBLEMS.items()}
UNIT = {name: problem.unit for name, problem in PROBLEMS.items()}
BASELINE = {name: problem.baseline for name, problem in PROBLEMS.items()}
DEFAULT_SHAPE = {name: problem.usual for name, problem in PROBLEMS.items()}
SCORE = {name: {"TFLOPS": "tflops", "GB/s": "gbps"}[unit] for name, unit in UNIT.items()}  # the field that has it


def problem_named(name: str) -> str:
    if name not in DIMENSIONS:
        raise ResultError(f"unknown problem '{name}'; there are: {', '.join(DIMENSIONS)}")
    return name


def shape_of(record: dict) -> str:
    return "x".join(str(record[name]) for name in DIMENSIONS[record["problem"]])


def sizes(shape: str) -> tuple:
    return tuple(int(size) for size in shape.split("x"))


def pretty(shape: str) -> str:
    """4096x4096x4096 → 4096³, 16384x8192 → 16384×8192."""
    parts = shape.split("x")
    return f"{parts[0]}³" if len(parts) == 3 and len(set(parts)) == 1 else "×".join(parts)


def on_ladder(program: str) -> bool:
    """Whether its kernels are steps of the course, or a reader's: not a library's, which has some for every shape."""
    return not program.startswith("every_shape")


def short(program: str) -> str:
    """A rung's number; another program's name."""
    return program[:2] if program[:2].isdigit() else program


def is_layer_norm(record: dict) -> bool:
    """Of a row_operator, whose variants begin with what they compute."""
    return record["variant"].startswith("layer_norm")


def flops(record: dict) -> float:
    """gemm: a multiply and an add per (m,n,k). fused_norm: 5 per element, x+residual, h², sum, ·rsqrt, ·gamma.
    norm_gemm: those of its product. grouped_gemm: m are the rows of all groups. linear: of both products of a gated one.
    row_operator: layer_norm 7 per element, sum, -mean, its square and sum, ·rsqrt, ·gamma, +beta; softmax 5, max, -max, exp, sum, ·1/sum."""
    if record["problem"] == "row_operator":
        return (7.0 if is_layer_norm(record) else 5.0) * record["rows"] * record["cols"]
    if record["problem"] == "linear" and record["variant"] in ("swiglu", "geglu"):
        return 4.0 * record["m"] * record["n"] * record["k"]
    if record["problem"] == "grouped_gemm":
        return 2.0 * record["m"] * record["n"] * record["k"]
    if record["problem"] != "fused_norm":
        return 2.0 * math.prod(record[name] for name in DIMENSIONS[record["problem"]])
    return 5.0 * record["rows"] * record["cols"]


def quantised_bytes(precision: str, rows: int, cols: int) -> int:
    """Of a matrix's elements and scales, as QuantisedLayout (common/precision.h) has them."""
    if precision == "bf16":
        return 2 * rows * cols
    if precision == "fp8_block":
        return rows * -(-cols // 16) * 16 + 4 * -(-cols // 128) * -(-rows // 4) * 4
    bits, block = {"fp8": (8, 0), "mxfp8": (8, 32), "nvfp4": (4, 16)}[precision]
    tiles = -(-rows // 128) * -(-(cols // block) // 4) if block else 0
    return rows * -(-cols * bits // 128) * 16 + 512 * tiles


def compulsory_bytes(record: dict) -> float:
    """Bytes that must cross the memory bus: every input read once, every output written once. bf16, but for a
    norm's y of another precision."""
    if record["problem"] == "gemm":
        m, n, k = record["m"], record["n"], record["k"]
        return 2.0 * (m * k + k * n + m * n)
    if record["problem"] == "linear":
        m, n, k = record["m"], record["n"], record["k"]
        gated = record["variant"] in ("swiglu", "geglu")
        return 2.0 * (m * k + m * n + (2 * k * n if gated else k * n + n))
    if record["problem"] == "grouped_gemm":  # as if every group had rows
        groups, m, n, k = (record[name] for name in DIMENSIONS["grouped_gemm"])
        return 2.0 * (m * k + groups * k * n + m * n) + 4 * (groups + 1)
    rows, cols = record["rows"], record["cols"]
    if record["problem"] == "row_operator":
        return 2.0 * (2 * rows * cols + (2 * cols if is_layer_norm(record) else 0))
    without_y = 2 * (3 * rows * cols + cols)
    if record["problem"] == "fused_norm":
        return float(without_y + quantised_bytes(record.get("precision", "bf16"), rows, cols))
    return without_y + 2.0 * (rows + cols) * record["n"]
