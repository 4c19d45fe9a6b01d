"""How a figure is written; a table in Markdown, and the line below it."""

from __future__ import annotations

from results import ResultError, Results


def figure(value) -> str:
    """Three significant digits; whole numbers of a hundred and more are not rounded further."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return str(value)
    if isinstance(value, int) or abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:#.3g}"


def percent(share: float) -> str:
    """One decimal; below one per cent two significant digits."""
    share *= 100
    return f"{share:.1f} %" if share >= 0.995 else f"{share:#.2g} %"


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
