"""Links of the docs into the repository: files, lines of them (#L12-L34), headings.

docs/lines.json has the text that each linked range of lines begins with, and the text that it ends with. By these it is
found again when the code has moved: run as a script, this rewrites the numbers in the docs, and docs/lines.json.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

# What is in a comment is not there yet, and below a piece of code stands a link that is generated with it.
LINK = re.compile(r"<!-- code: .*?<!-- /code -->|<!--.*?-->|(?<=\]\()(?P<target>[^)\s]+)(?=\))", re.DOTALL)
LINES = re.compile(r"L(\d+)(?:-L(\d+))?")


def documents(root: Path) -> list:
    return sorted([*root.glob("*.md"), *(root / "docs").glob("**/*.md")])


def headings(text: str) -> set:
    """The names under which a page's headings are linked to."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def places(lines: list, text: str) -> list:
    """The numbers of the lines at which a text of one or more lines begins."""
    wanted = text.split("\n")
    return [i + 1 for i in range(len(lines)) if lines[i : i + len(wanted)] == wanted]


def finish(lines: list, text: str, begin: int) -> int | None:
    """Where a range that begins there ends: with the first line that reads so, and those before it too."""
    return next((last for i in places(lines, text) if (last := i + text.count("\n")) >= begin), None)


def find(lines: list, texts: list, near: int) -> tuple | None:
    """The range that begins and ends with these texts; where several begin so, the one nearest to a line."""
    begin = min(places(lines, texts[0]), key=lambda i: abs(i - near), default=None)
    last = finish(lines, texts[1], begin) if begin else None
    return (begin, last) if last else None


def ends(lines: list, first: int, last: int) -> list:
    """The texts by which a range is found: its first line, with so many of the next that it reads so nowhere else, and
    its last line, with so many of those before that no other line since the first reads so."""
    begins = ["\n".join(lines[first - 1 : i]) for i in range(first, len(lines) + 1)]
    lasts = ["\n".join(lines[i:last]) for i in range(last - 1, -1, -1)]
    begin = next((text for text in begins if len(places(lines, text)) == 1), begins[0])
    return [begin, next(text for text in lasts if finish(lines, text, first) == last)]


def linked(root: Path, doc: Path, target: str) -> tuple | None:
    """For a link to lines: its key in docs/lines.json, all lines of the file, and the numbers of the first and last."""
    path, _, place = target.partition("#")
    file, numbers = doc.parent / path, LINES.fullmatch(place)
    if not numbers or not file.is_file():
        return None
    lines = [line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()]
    return f"{os.path.relpath(file, root)}#{place}", lines, int(numbers[1]), int(numbers[2] or numbers[1])


def unfit(lines: list, first: int, last: int) -> str:
    """Why a range cannot be meant; empty where it can. It must begin and end with text."""
    if not 1 <= first <= last <= len(lines):
        return f"no such lines, there are {len(lines)}"
    return "" if lines[first - 1] and lines[last - 1] else "begins or ends with a blank line"


def anchor(first: int, last: int) -> str:
    return f"#L{first}" if first == last else f"#L{first}-L{last}"


def fault(root: Path, doc: Path, target: str, known: dict) -> str:
    """What is wrong with a link; empty where nothing is."""
    path, _, place = target.partition("#")
    file = doc.parent / path if path else doc
    if not file.exists():
        return "no such file"
    link = linked(root, doc, target)
    if not link:
        return "" if not place or place in headings(file.read_text(encoding="utf-8")) else "no such heading"
    key, lines, first, last = link
    if key not in known:
        return unfit(lines, first, last) or "not in docs/lines.json yet"
    now = find(lines, known[key], first)
    if not now:
        begin, end = known[key][0].split("\n")[0].strip(), known[key][1].split("\n")[-1].strip()
        return f"no '{begin}' … '{end}' there: correct the link or, if it is right, remove it from docs/lines.json"
    return "" if now == (first, last) else f"these lines are now {anchor(*now)}"


def recorded(root: Path) -> dict:
    file = root / "docs" / "lines.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def broken(root: Path) -> list:
    """One line for each link of the README and the docs that leads nowhere, or to other lines than were meant."""
    faults, known = [], recorded(root)
    for doc in documents(root):
        for link in LINK.finditer(doc.read_text(encoding="utf-8")):
            target = link["target"]
            what = fault(root, doc, target, known) if target and not re.match(r"\w+:", target) else ""
            if what:
                faults.append(f"{doc.relative_to(root)}: link to {target}: {what}")
    return faults


def follow(root: Path) -> list:
    """Rewrites the numbers of lines that have moved, and docs/lines.json: new links are added to it, those that no doc
    has any more are left out. One line for each link whose numbers changed."""
    known, kept, lost, moved = recorded(root), {}, {}, []

    def followed(doc: Path, target: str) -> str:
        link = linked(root, doc, target)
        if not link:
            return target
        key, lines, first, last = link
        if key in known:
            now = find(lines, known[key], first)
            lost.update({} if now else {key: known[key]})
        else:
            now = None if unfit(lines, first, last) else (first, last)
        if not now:
            return target
        if now != (first, last):
            length = "" if now[1] - now[0] == last - first else f", {now[1] - now[0] + 1} lines, not {last - first + 1}"
            moved.append(f"{doc.relative_to(root)}: link to {target}: now {anchor(*now)}{length}")
            key, target = (name.partition("#")[0] + anchor(*now) for name in (key, target))
        kept[key] = ends(lines, *now)
        return target

    for doc in documents(root):
        before = doc.read_text(encoding="utf-8")
        after = LINK.sub(lambda link: followed(doc, link["target"]) if link["target"] else link[0], before)
        if after != before:
            doc.write_text(after, encoding="utf-8")
    entries = sorted({**kept, **lost}.items())
    text = ",\n".join(f"  {json.dumps(key)}: {json.dumps(texts, ensure_ascii=False)}" for key, texts in entries)
    (root / "docs" / "lines.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    return moved


def main(root: Path) -> int:
    for line in follow(root):
        print(f"plots: {line}")
    faults = broken(root)
    for line in faults:
        print(f"plots: {line}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[3]))
