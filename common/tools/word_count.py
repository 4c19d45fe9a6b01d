"""How long the pages are, in words of prose, and how much of the code they show: `word_count.py [ROOT]`.

Counted is what a reader reads from left to right: text, lists, tables written by hand. Not counted: what is generated
between <!-- table|plot|code|fault|run|pages|practice: … --> and its end, code blocks, comments, images, and the targets of links.
A chapter has a second budget, for all that its file holds, counted as `wc -w` does: code, tables and transcripts are read, too.
Exits with 1, and names the page, where one is over a budget or shows too little code.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHAPTER, PAGE, DEEPER, README = 2100, 2500, 3000, 400  # words of prose at most
WHOLE = 3000  # words of a chapter at most, whatever they are
EXCERPTS = 3  # of a chapter, at least
GENERATED = re.compile(r"^[ \t]*<!-- (table|plot|code|fault|run|pages|practice): .*?^[ \t]*<!-- /\1 -->[ \t]*$", re.DOTALL | re.MULTILINE)
EXCERPT = re.compile(r"^[ \t]*<!-- code: ", re.MULTILINE)


def words(text: str) -> int:
    text = GENERATED.sub("", text)
    text = re.sub(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def is_chapter(page: Path) -> bool:
    return page.parent.name == "docs" and bool(re.match(r"0\d_", page.name))


def budget(page: Path, root: Path) -> int:
    if is_chapter(page):
        return CHAPTER
    return README if page.parent == root else PAGE if page.parent.name == "docs" else DEEPER


def main(root: Path) -> int:
    over = 0
    for page in [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]:
        text = page.read_text(encoding="utf-8")
        count, excerpts, most = words(text), len(EXCERPT.findall(text)), budget(page, root)
        faults = [f"{count - most} words too many"] if count > most else []
        whole = len(text.split())
        if is_chapter(page) and whole > WHOLE:
            faults.append(f"{whole - WHOLE} words too many in the whole file")
        if is_chapter(page) and excerpts < EXCERPTS:
            faults.append(f"{excerpts} excerpts of code, {EXCERPTS} at least")
        print(f"{page.relative_to(root)!s:44}{count:6} words of {most}{whole:6} in all{excerpts:4} excerpts  {'; '.join(faults)}")
        over += bool(faults)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))
