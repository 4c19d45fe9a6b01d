"""The problems: their sizes, units and baselines, as the harness has them, and the work that each of them is."""

from __future__ import annotations

import json
import math
from pathlib import Path

from common.plots.records.error import ResultError


NAMES = {
    "gemm": "GEMM",
    "fused_norm": "Fused add + RMSNorm",
    "norm_gemm": "Add + RMSNorm + GEMM",
    "grouped_gemm": "Grouped GEMM",
    "linear": "GEMM with an epilogue",
    "row_operator": "LayerNorm and softmax",
}
# The harness's own facts (common/tools/problem_facts.py).
FACTS = json.loads((Path(__file__).resolve().parents[3] / "docs/results/problems.json").read_text(encoding="utf-8"))
DIMENSIONS = {name: tuple(facts["dimensions"]) for name, facts in FACTS.items()}
UNIT = {name: facts["unit"] for name, facts in FACTS.items()}
BASELINE = {name: facts["baseline"] for name, facts in FACTS.items()}
DEFAULT_SHAPE = {name: facts["default_shape"]["gpu"] for name, facts in FACTS.items()}  # where none is given
SCORE = {name: facts["score"] for name, facts in FACTS.items()}  # the field that has it


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
