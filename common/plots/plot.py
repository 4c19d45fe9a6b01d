"""Draws the course's plots from result files, and keeps the docs' tables and figures in step with them.

python3 -m common.plots.plot    docs/results/*.jsonl → docs/plots/*.svg, those that a page shows
  … --docs                      ... and the generated tables and figures in the docs
  … --check                     changes nothing; fails if a plot or a doc is out of date
  … my.jsonl --out folder       your own results; the docs are not touched
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from common.plots.pages.documents import documents, refresh
from common.plots.pages.links import broken
from common.plots.records.error import ResultError
from common.plots.records.results import Results

HERE = Path(__file__).resolve().parent


def shown(root: Path) -> set:
    """The names of the plots that a page shows, or would show if there were records for them."""
    pages = [page.read_text(encoding="utf-8") for page in documents(root)]
    return {name for text in pages for name in re.findall(r"(?:plots/|<!-- plot: )(\w+)(?=\.svg| )", text)}


def draw(results: Results, out: Path, with_pictures: bool, only: set | None = None) -> list:
    """Writes the SVGs, all or only these, and returns their names."""
    from common.plots import style  # which takes matplotlib, as all that draws does
    from common.plots.charts.all import all_charts
    from common.plots.pictures.all import all_pictures

    style.setup()
    out.mkdir(parents=True, exist_ok=True)
    drawings = all_charts(results) | (all_pictures(results) if with_pictures else {})
    drawn = []
    for name, function in sorted(drawings.items()):
        if only is not None and name not in only:
            continue
        figure = function()
        if figure:
            style.save(figure, out / f"{name}.svg")
            drawn.append(f"{name}.svg")
    return drawn


def unpinned() -> str:
    """Empty where this is the matplotlib that the committed plots are drawn with."""
    import matplotlib

    pinned = re.search(r"^matplotlib==(\S+)", (HERE / "requirements.txt").read_text(), re.MULTILINE)[1]
    if matplotlib.__version__ == pinned:
        return ""
    return f"matplotlib is {matplotlib.__version__}, the committed plots are drawn with {pinned} (requirements.txt)"


def stale_plots(results: Results, root: Path) -> list:
    """One line for each committed plot that differs from what is drawn now."""
    if unpinned():
        raise ResultError(f"{unpinned()}: their bytes cannot be compared")
    lines, committed = [], root / "docs" / "plots"
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        drawn = draw(results, fresh, with_pictures=True, only=shown(root))
        there = sorted(path.name for path in committed.glob("*.svg"))
        for name in sorted({*drawn, *there}):
            if name not in there:
                lines.append(f"docs/plots/{name}: missing")
            elif name not in drawn:
                lines.append(f"docs/plots/{name}: nothing draws it any more, or no page shows it")
            elif (fresh / name).read_bytes() != (committed / name).read_bytes():
                lines.append(f"docs/plots/{name}: out of date")
    return lines


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", metavar="RESULTS", help="result files, or folders of *.jsonl")
    parser.add_argument(
        "--out", type=Path, help="folder for the SVGs (docs/plots for the committed results, else plots)"
    )
    parser.add_argument("--docs", action="store_true", help="also rewrite the tables and figures in the docs")
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 and name what is out of date")
    parser.add_argument("--device", help="which device, where the results hold several (the one with most records)")
    parser.add_argument("--root", type=Path, default=HERE.parents[1], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    committed = options.root / "docs" / "plots"
    own = bool(options.results)
    if own and (options.docs or options.check):
        parser.error("--docs and --check are about the committed results; leave RESULTS out")
    try:
        folder = options.root / "docs" / "results"
        results = Results(options.results if own else [folder] if folder.is_dir() else [], options.device)
        if len(results.devices) > 1 and not options.device:
            print(f"plots: results of {', '.join(results.devices)}; showing {results.device} (--device picks another)")
        if own and not (results.runs or results.swept or results.tunes):
            raise ResultError(f"no timed run in {', '.join(options.results)}")
        if options.check:
            lines = [f"{name}: generated text is out of date" for name in refresh(options.root, results, write=False)]
            lines += stale_plots(results, options.root) + broken(options.root)
            for line in lines:
                print(line, file=sys.stderr)
            if lines:
                print("plots: bring them up to date with: cmake --build build --target plots", file=sys.stderr)
            return 1 if lines else 0
        out = options.out or (Path("plots") if own else committed)
        drawn = draw(results, out, with_pictures=not own, only=shown(options.root) if out == committed else None)
        if out == committed:
            if unpinned():
                print(f"plots: {unpinned()}: these differ in their bytes; do not commit them")
            for old in set(path.name for path in out.glob("*.svg")) - set(drawn):
                (out / old).unlink()
        print(f"plots: {len(drawn)} drawn in {out}")
        if options.docs:
            for name in refresh(options.root, results, write=True):
                print(f"plots: {name} brought up to date")
        return 0
    except ResultError as error:
        print(f"plots: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"plots: {error}; get it with: python3 -m pip install -r {HERE / 'requirements.txt'}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
