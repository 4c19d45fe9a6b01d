"""One access of the learner's kernel, drawn in the terminal: which lanes want which sectors, or which banks."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from common.plots.records import memory
from common.practice.compiling import compile_ptx
from common.practice.exercise import Exercise
from common.practice.runs import Tools, simulate

MOST_ROWS = 12


def lanes_text(lanes: list) -> str:
    """0-3 8 12-15"""
    ranges = []
    for lane in lanes:
        if ranges and ranges[-1][1] == lane - 1:
            ranges[-1][1] = lane
        else:
            ranges.append([lane, lane])
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def rows_text(rows: list) -> list:
    """The first rows, and how many are left out."""
    left = len(rows) - MOST_ROWS
    return rows if left <= 1 else rows[:MOST_ROWS] + [f"  … and {left} more like these"]


def of_sectors(access: dict) -> list:
    addresses, width = access["addresses"], access["bytes"]
    active = [address for address in addresses if address is not None]
    touched = memory.sectors(active, width)
    base = touched[0]
    rows = []
    for sector in touched:
        low, high = sector * memory.SECTOR, (sector + 1) * memory.SECTOR
        lanes = [lane for lane, at in enumerate(addresses) if at is not None and at < high and at + width > low]
        rows.append(f"  sector {sector - base:5}: lanes {lanes_text(lanes)}")
    distinct = len({byte for at in active for byte in range(at, at + width)})
    fewest = -(-distinct // memory.SECTOR)
    return [*rows_text(rows), f"  {len(touched)} sectors of 32 bytes for {distinct} bytes: {fewest} would hold them"]


def lanes_of(group: dict, width: int, word: int) -> list:
    return [lane for lane, at in group.items() if at // 4 <= word <= (at + width - 1) // 4]


def of_banks(access: dict) -> list:
    addresses, width = access["addresses"], access["bytes"]
    fixed = access["ptx"].startswith(("st.", "ldmatrix."))
    rows = []
    groups = memory.phases(addresses, width, fixed)
    group = max(groups, key=lambda group: max(map(len, memory.bank_words(group.values(), width).values())))
    words = memory.bank_words(group.values(), width)
    for bank in sorted(words, key=lambda bank: (-len(words[bank]), bank)):
        many = len(words[bank])
        each = (lanes_of(group, width, word) for word in sorted(words[bank]))
        rows.append(f"  bank {bank:2}: {many} word{'s' * (many > 1)}, of lanes {' | '.join(map(lanes_text, each))}")
    costs, best = memory.wavefronts(addresses, width, fixed), memory.ideal_wavefronts(addresses, width, fixed)
    among = f" (lanes {min(group)} to {max(group)}, which go together)" if len(groups) > 1 else ""
    many = f"{costs} wavefront{'s' * (costs > 1)}"
    if costs == best:
        return [f"  {many}: no bank has two words to deliver"]
    return [f"  the busiest banks{among}:", *rows_text(rows), f"  {many}: {best} would do without conflicts"]


def waste(access: dict) -> float:
    """What it costs beside what its bytes would."""
    addresses, width = access["addresses"], access["bytes"]
    if access["space"] != "global":
        fixed = access["ptx"].startswith(("st.", "ldmatrix."))
        return memory.wavefronts(addresses, width, fixed) / memory.ideal_wavefronts(addresses, width, fixed)
    active = [address for address in addresses if address is not None]
    return len(memory.sectors(active, width)) * memory.SECTOR / (len(active) * width)


def draw(tools: Tools, exercise: Exercise, source: Path, what: str) -> str:
    """what: the beginning of an opcode, and the array where it is global memory: "ld.global A", "st.shared"."""
    opcode, _, array = what.partition(" ")
    ptx, errors = compile_ptx(tools, exercise, source)
    if errors:
        return errors
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        done = simulate(
            tools, exercise, exercise.runs[0], ptx, 0, "--verify-only", checks="off", threads=1, trace=trace, trace_limit=20000
        )
        lines = [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []
    alike = [
        access
        for access in lines
        if access.get("ptx", "").startswith(opcode)
        and "/common/harness/" not in access.get("file", "")  # which fills the matrices before the kernel runs
        and any(address is not None for address in access.get("addresses", ()))
        and (not array or access.get("array") == array)
    ]
    if not alike:
        wanted = f"{opcode}{f' of {array}' if array else ''}"
        if "simulator: " in done.stderr:
            return f"Nothing to draw yet: the kernel was stopped before warp 0's first {wanted}. Grade it first."
        return f"Nothing to draw yet: warp 0 of the first CTA has no {wanted}. Write it first."
    access = max(alike, key=lambda access: waste(access))  # of those that waste as much, the first
    at = f"{Path(access['file']).name}:{access['lines'][0]}" if access.get("lines") else ""
    lanes = sum(address is not None for address in access["addresses"])
    title = f"{access['ptx']}{f' of {array}' if array else ''}, {at}: {lanes} lanes, {access['bytes']} bytes each"
    among = f" (the costliest of {len(alike)} by warp 0 of the first CTA)" if len(alike) > 1 else ""
    return "\n".join([title + among, *(of_sectors(access) if access["space"] == "global" else of_banks(access))])
