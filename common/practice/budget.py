"""A budget is a comparison of counters of the exercise's first run, by the names that the simulator gives them in a record
(docs/deeper/records.md), and of m, n, k, rows and cols; count("ld.global") is how many instructions of warps begin so;
registers, spills: what ptxas makes of the kernel that takes the most; ptx("wgmma.wait_group.sync.aligned 1;"): how often the
PTX has this text.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from common.practice.exercise import Exercise, PracticeError
from common.practice.runs import Tools, finding, rungs_ptx, simulate

# A record leaves out what a kernel does not do at all.
COUNTED = (
    "global_", "shared_", "async_copy_", "bulk_copy_", "wgmma_", "tcgen05_", "ldmatrix_", "stmatrix_", "tensor_", "local_",
    "atomic_", "mma_", "barrier",
)  # fmt: skip
# How an access is ordered, and how far: nothing that a count depends on.
ORDERS = {"volatile", "weak", "relaxed", "acquire", "release", "mmio", "cta", "gpu", "sys", "nc"}
SPACES = ("global", "shared", "local", "const", "param")
# Ways of moving data that are counted under names of their own, or under none that a budget has.
BYWAYS = ("atom", "red", "multimem", "ldmatrix", "stmatrix", "wmma.load", "wmma.store", "cp.async", "cp.reduce")


def counters(tools: Tools, exercise: Exercise, run: str, ptx: Path | None, **settings) -> dict:
    """Those of a run."""
    return counters_of(record_of(tools, exercise, run, ptx, **settings)[0])


def record_of(tools: Tools, exercise: Exercise, run: str, ptx: Path | None, seed: int = 0, **settings) -> tuple:
    """The record of a run that comes out right, and what the run printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.jsonl"
        done = simulate(tools, exercise, run, ptx, seed, "--json", str(file), **settings)
        if done.returncode != 0:
            raise PracticeError(f"{run}: {finding(done.stderr, f'exit code {done.returncode}')}")
        return json.loads(file.read_text().splitlines()[-1]), done.stdout


def counters_of(record: dict) -> dict:
    """The names that a budget may use, and their values."""
    sizes = {name: record[name] for name in ("m", "n", "k", "rows", "cols") if name in record}
    return {**record["counters"], **sizes, "count": functools.partial(count, record["instruction_mix"])}


def plain(opcode: str) -> str:
    """ld.volatile.global.u16 as ld.global.u16; and a load or store that names no space, as one of global memory."""
    first, *parts = opcode.split(".")
    if first not in ("ld", "ldu", "st"):
        return opcode
    parts = [part for part in parts if part not in ORDERS]
    if not any(part.startswith(SPACES) for part in parts):
        parts.insert(0, "global")
    return ".".join([first.removesuffix("u"), *parts])


def count(mix: dict, prefix: str) -> int:
    return sum(times for name, times in mix.items() if plain(name).startswith(prefix))


class Lazy(dict):
    """Registers and spills only where an expression has them: ptxas takes seconds. A kind of access that is not there is 0."""

    def __init__(self, values: dict, assemble):
        super().__init__(values)
        self.assemble = assemble

    def __missing__(self, name):
        if name.startswith(COUNTED):
            return 0
        if name not in ("registers", "spills"):
            raise KeyError(name)
        self.update(self.assemble())
        return self[name]


def assembled(tools: Tools, exercise: Exercise, ptx: Path) -> dict:
    command = [tools.ptxas, f"-arch=sm_{tools.archs[exercise.rung]}", "-v", "-o", os.devnull, str(ptx)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise PracticeError(f"ptxas: {done.stderr.strip().splitlines()[-1]}")
    registers = [int(number) for number in re.findall(r"Used (\d+) registers", done.stderr)]
    spills = [int(number) for number in re.findall(r"(\d+) bytes spill stores", done.stderr)]
    return {"registers": max(registers), "spills": max(spills, default=0)}


def value_of(expression: str, values: dict):
    try:
        return eval(expression, {"__builtins__": {}}, values)
    except (KeyError, NameError) as error:
        raise PracticeError(f"'{expression}': there is no counter {error}") from None


def number_text(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) and value != int(value) else f"{int(value)}"


def measured(tools: Tools, exercise: Exercise, ptx: Path) -> tuple:
    """What budgets may name, of the exercise's first run; its instructions; and what the run printed."""
    record, output = record_of(tools, exercise, exercise.runs[0], ptx)
    values = Lazy(counters_of(record), lambda: assembled(tools, exercise, ptx))
    values["ptx"] = re.sub(r"//[^\n]*", "", ptx.read_text()).count
    return values, record["instruction_mix"], output


def exceeded(exercise: Exercise, values: dict) -> list:
    """A line for each budget that does not hold, with what was counted."""
    lines = []
    for budget in exercise.fields["budget"]:
        expression, _, meaning = budget.partition(" -- ")
        if value_of(expression, values):
            continue
        parts = re.fullmatch(r"(.*?)\s*(<=|>=|==|<|>)\s*(.*)", expression)
        if not parts:
            lines.append(f"{expression} does not hold")
            continue
        left, right = (number_text(value_of(part, values)) for part in (parts[1], parts[3]))
        limit = {"<=": "at most", ">=": "at least", "==": "exactly", "<": "less than", ">": "more than"}[parts[2]]
        why = f" ({meaning})" if meaning else ""
        lines.append(f"{expression} does not hold: {parts[1]} is {left}, and the budget is {limit} {right}{why}.")
    return lines


def byways(tools: Tools, exercise: Exercise, mix: dict) -> list:
    """A line for each way around the counters that no kernel of the rung takes."""
    used = {way: name for name in sorted(mix) for way in BYWAYS if name.startswith(f"{way}.")}
    texts = rungs_ptx(tools, exercise, f"{exercise.rung}/") if used else []
    new = {way: name for way, name in used.items() if not any(re.search(rf"[\s;]{re.escape(way)}\.", text) for text in texts)}
    return [f"It uses {name}, which the rung's kernel has no need of: the budget does not count it." for name in new.values()]
