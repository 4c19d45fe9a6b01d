"""A passed kernel's counters beside the rung's."""

from __future__ import annotations

import json
import os
import re

from common.practice import budget
from common.practice.exercise import Exercise, PracticeError
from common.practice.runs import Tools

MAIN = (
    "ptx_instructions", "global_load_sectors_per_request", "global_store_sectors_per_request",
    "shared_wavefronts", "shared_wavefronts_ideal",
)  # fmt: skip
TERM = re.compile(r'count\("[^"]*"\)|\b[a-z]\w{3,}\b(?!\()')


def rungs_record(tools: Tools, exercise: Exercise) -> dict:
    """Of the exercise's first run, kept for as long as the program that grades it is not built anew."""
    run, settings = exercise.runs[0], exercise.settings(exercise.runs[0])
    host = tools.host(exercise.rung, exercise.problem)
    name = re.sub(r"\W+", "_", " ".join([host.name, run, *map(str, settings.values())]))
    file = tools.build / "practice" / "counted" / f"{name}.json"
    built = host.stat().st_mtime_ns
    if file.is_file() and (kept := json.loads(file.read_text(encoding="utf-8")))["built"] == built:
        return kept["record"]
    record, _ = budget.record_of(tools, exercise, run, None)
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps({"built": built, "record": record}), encoding="utf-8")
    new.replace(file)
    return record


def table(tools: Tools, exercise: Exercise, own: dict) -> str:
    """The counters of the budget, and of the main ones those that differ."""
    rung = budget.Lazy(budget.counters_of(rungs_record(tools, exercise)), dict)
    expressions = " ".join(line.partition(" -- ")[0] for line in exercise.fields["budget"])
    limited = [term for term in dict.fromkeys(TERM.findall(re.sub(r'ptx\("[^"]*"\)', "", expressions))) if known(term, rung)]
    rows = [(f"at {exercise.runs[0]}", "yours", "the rung's")]
    for term in dict.fromkeys([*limited, *MAIN]):
        yours, theirs = (budget.number_text(budget.value_of(term, values)) for values in (own, rung))
        if term in limited or yours != theirs:
            rows.append((term, yours, theirs))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return "\n".join(f"  {row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows)


def known(term: str, rung: dict) -> bool:
    """Whether it is a counter that the rung's record gives: not registers, for which its PTX would have to be assembled."""
    if term in ("rows", "cols", "registers", "spills"):
        return False
    try:
        return budget.value_of(term, rung) is not None
    except PracticeError:
        return False
