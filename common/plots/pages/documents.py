"""Everything generated in the docs, brought up to date between its markers, so that no number and no code there is typed by
hand. A block stands between two markers, each alone on its line:

    <!-- table: ladder gemm -->
    <!-- /table -->

    table: …                a table from the records (tables.py)
    plot: NAME TEXT         a plot, or that its records are still missing
    code: FILE NAME         code (excerpts.py)
    fault: …, run: …        what programs print (transcripts.py)
    pages: FOLDER           the pages of a folder
    practice: RUNG          the exercises of a rung, or of `all`

A figure in prose stands between two markers, too, the first of which has the call that gives it (values.py):

    <!--= tflops("01_coalesced", "gemm", "4096x4096x4096") -->6.12<!--/-->

Markers inside fenced code and in `code` are left alone.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from common.plots.pages import transcripts
from common.plots.pages.excerpts import excerpt
from common.plots.pages.markdown import markdown, needs
from common.plots.pages.tables import table
from common.plots.pages.values import evaluate
from common.plots.records import models
from common.plots.records.error import ResultError
from common.plots.records.results import Results

BLOCK = re.compile(r"^[ \t]*<!-- (?P<kind>table|plot|code|fault|run|pages|practice): (?P<what>.*?) -->[ \t]*$")
INLINE = re.compile(r"(?<!`)<!--= (?P<expression>(?:(?!-->).)*?) -->(?P<text>(?:(?!<!--).)*)<!--/-->", re.DOTALL)
INLINE_START = re.compile(r"(?<!`)<!--=")
FENCE = re.compile(r"^[ \t]*(```|~~~)")


def with_chapters(text: str, root: Path, page: Path) -> str:
    """A table whose lines are rungs, or every_shape among them, with links to their chapters."""

    def link(rung):
        chapter = root / "docs" / f"{rung[1]}.md"
        there = chapter.is_file() and chapter != page
        return f"| [`{rung[1]}`]({os.path.relpath(chapter, page.parent)}) |" if there else rung[0]

    return re.sub(r"^\| `(\d\d_\w+|every_shape)` \|", link, text, flags=re.MULTILINE)


def pages(root: Path, page: Path, folder: str) -> str:
    """The pages of a folder by their titles, and of which chapter they are."""
    lines = []
    for other in sorted((root / folder).glob("*.md")):
        title = other.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        chapter = "every shape" if other.name.startswith("every_shape_") else other.name[:2] if other.name[:2].isdigit() else ""
        chapter = f" ({chapter})" if chapter and chapter not in title else ""
        lines.append(f"- [{title}]({os.path.relpath(other, page.parent)}){chapter}")
    return "\n".join(lines)


def practice(root: Path, page: Path, rung: str) -> str:
    """The exercises of a rung, or of `all`, to be written and graded (common/practice)."""
    rows = []
    files = root.glob(f"{'[0-9][0-9]_*' if rung == 'all' else rung}/practice/[0-9]*_*.md")
    for file in sorted(files, key=lambda file: (file.parts[-3], int(file.stem.partition("_")[0]))):
        text = file.read_text(encoding="utf-8")
        kind = re.search(r"^kind: (.*)$", text, re.MULTILINE)
        if not kind:
            raise ResultError(f"{file.relative_to(root)} has no kind")
        title = text.partition("\n")[0].removeprefix("# ")
        core = ", core" if re.search(r"^core: ", text, re.MULTILINE) else ""  # of the short course
        rows.append([f"`{file.parts[-3][:2]}.{file.stem.partition('_')[0]}`{core}", kind[1], title])
    table = markdown(["exercise", "kind", "what"], needs(rows, f"practice {rung}")).replace("--:", ":--")
    if rung == "all":
        return table
    return f"    cmake --build build --target practice_{rung[:2]} && build/bin/practice {rung[:2]}.1\n\n{table}"


def plot(results: Results, root: Path, page: Path, what: str) -> str:
    """The plot of that name where there are records for it."""
    name, _, text = what.partition(" ")
    if name not in models.CHARTS:
        raise ResultError(f"unknown plot '{name}'; there are: {', '.join(models.CHARTS)}")
    if name not in models.charts(results):
        return f"*Not recorded yet: {text[:1].lower() + text[1:]}.*"
    return f"![{text}]({os.path.relpath(root / 'docs' / 'plots' / name, page.parent)}.svg)"


def blocks(results: Results, root: Path, page: Path) -> dict:
    """What makes the text between two markers, by the markers' kind."""
    return {
        "table": lambda what: with_chapters(table(results, what), root, page),
        "plot": lambda what: plot(results, root, page, what),
        "code": lambda what: excerpt(root, page, what),
        "fault": lambda what: transcripts.block(root, "fault", what),
        "run": lambda what: transcripts.block(root, "run", what),
        "pages": lambda what: pages(root, page, what),
        "practice": lambda what: practice(root, page, what),
    }


def rewrite(text: str, results: Results, name: str, root: Path = Path()) -> str:
    """The text with everything generated in it brought up to date."""
    makers = blocks(results, root, root / name)

    def fail(line, message):
        raise ResultError(f"{name}:{line}: {message}")

    def inline(passage: str, first_line: int) -> str:
        def value(match):
            line = first_line + passage.count("\n", 0, match.start())
            try:
                return f"<!--= {match['expression']} -->{evaluate(results, match['expression'])}<!--/-->"
            except ResultError as error:
                fail(line, error)

        for start in INLINE_START.finditer(passage):
            if not INLINE.match(passage, start.start()):
                fail(first_line + passage.count("\n", 0, start.start()), "'<!--=' without its ' -->…<!--/-->'")
        return INLINE.sub(value, passage)

    lines, out, prose, prose_line = text.split("\n"), [], [], 1

    def flush(next_line: int):
        nonlocal prose, prose_line
        if prose:
            out.extend(inline("\n".join(prose), prose_line).split("\n"))
        prose, prose_line = [], next_line

    i, fence = 0, None
    while i < len(lines):
        line = lines[i]
        mark, begin = FENCE.match(line), BLOCK.match(line)
        if mark or fence:
            flush(i + 2)
            out.append(line)
            if mark and fence in (None, mark[1]):
                fence = None if fence else mark[1]
        elif begin:
            flush(i + 1)
            last = re.compile(rf"^[ \t]*<!-- /{begin['kind']} -->[ \t]*$")
            end = next((j for j in range(i + 1, len(lines)) if last.match(lines[j])), None)
            if end is None or any(BLOCK.match(inner) for inner in lines[i + 1 : end]):
                fail(i + 1, f"'<!-- {begin['kind']}: -->' without its '<!-- /{begin['kind']} -->'")
            try:
                out += [line, "", makers[begin["kind"]](begin["what"]), "", lines[end]]
            except ResultError as error:
                fail(i + 1, error)
            i, prose_line = end, end + 2
        else:
            prose.append(line)
        i += 1
    flush(len(lines))
    return "\n".join(out)


def documents(root: Path) -> list:
    """README.md at the top, in each folder and in each of common/, and everything in docs/."""
    found = [
        *root.glob("README.md"),
        *root.glob("*/README.md"),
        *root.glob("common/*/README.md"),
        *root.glob("docs/**/*.md"),
    ]
    return sorted({path for path in found if not path.relative_to(root).parts[0].startswith(("build", "."))})


def refresh(root: Path, results: Results, write: bool) -> list:
    """Names of the docs that were out of date. With `write` they are brought up to date, all or none of them."""
    stale = []
    for path in documents(root):
        before = path.read_text(encoding="utf-8")
        after = rewrite(before, results, str(path.relative_to(root)), root)
        if after != before:
            stale.append((path, after))
    for path, after in stale if write else []:
        path.write_text(after, encoding="utf-8")
    return [str(path.relative_to(root)) for path, _ in stale]
