"""A table in Markdown, and the line below it."""

from __future__ import annotations

from common.plots.records.error import ResultError
from common.plots.records.results import Results


def markdown(header: list, rows: list, note: str = "") -> str:
    """The first column to the left, the others, being figures, to the right."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join([":--"] + ["--:"] * (len(header) - 1)) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines + (["", note] if note else []))


def measured(results: Results, *parts: str) -> str:
    return "*" + "; ".join(part for part in (results.where_measured(), *parts) if part) + ".*"


def needs(rows: list, what: str) -> list:
    if not rows:
        raise ResultError(f"no record for {what}")
    return rows


def own_mark(program: str) -> str:
    """Behind the name of a program's own variant, as --list has it."""
    return " (the rung)" if program[:1].isdigit() else " (the default)"
