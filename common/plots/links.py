"""Links of the docs into the repository: files, lines of them (#L12-L34), headings."""

from __future__ import annotations

import re
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # what is in one is not there yet
LINES = re.compile(r"L(\d+)(?:-L(\d+))?")


def headings(text: str) -> set:
    """The names under which a page's headings are linked to."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def fault(doc: Path, target: str) -> str:
    """What is wrong with a link; empty where nothing is. A range of lines must begin and end with text: what has moved
    by a line or two mostly does not."""
    path, _, place = target.partition("#")
    file = doc.parent / path if path else doc
    if not file.exists():
        return "no such file"
    if not place:
        return ""
    found = LINES.fullmatch(place)
    if not found:
        return "" if place in headings(file.read_text(encoding="utf-8")) else "no such heading"
    lines = file.read_text(encoding="utf-8").splitlines()
    first, last = int(found[1]), int(found[2] or found[1])
    if not 1 <= first <= last <= len(lines):
        return f"no such lines, there are {len(lines)}"
    return "" if lines[first - 1].strip() and lines[last - 1].strip() else "begins or ends with a blank line"


def broken(root: Path) -> list:
    """One line for each link of the README and the docs that leads nowhere."""
    lines = []
    for doc in sorted([*root.glob("*.md"), *(root / "docs").glob("*.md")]):
        for target in LINK.findall(COMMENT.sub("", doc.read_text(encoding="utf-8"))):
            what = "" if re.match(r"\w+:", target) else fault(doc, target)
            if what:
                lines.append(f"{doc.relative_to(root)}: link to {target}: {what}")
    return lines
