"""How every drawing looks, and how it is saved so that the same input gives the same bytes on every run."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import font_manager  # noqa: E402

# Okabe and Ito's colours, which stay apart for colour-blind readers; their yellow is darkened to show on white.
BLUE, ORANGE, GREEN, SKY, VERMILLION, PURPLE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#56B4E9",
    "#D55E00",
    "#CC79A7",
)
YELLOW, GREY, BLACK, BROWN = "#B8A600", "#8C8C8C", "#000000", "#7A4B00"
INK, FAINT, PALE = "#222222", "#BBBBBB", "#F0F0F0"

RUNG_COLOURS = (GREY, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE, BLACK, BROWN)
RUNG_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*", "h")
RUNG_HATCHES = ("", "//", "\\\\", "xx", "--", "||", "++", "///", "\\\\\\", "...")
RUNG_DASHES = ("-", "--", "-", "--", "-", "--", "-", "--", "-", "--")
BASELINE_LOOK = {"color": INK, "marker": "d", "linestyle": (0, (2, 2))}


def rung_look(rung: str) -> dict:
    """Colour, marker and dashes of a rung: the same in every drawing, by the rung's number."""
    number = int(rung[:2]) % len(RUNG_COLOURS)
    return {"color": RUNG_COLOURS[number], "marker": RUNG_MARKERS[number], "linestyle": RUNG_DASHES[number]}


def rung_hatch(rung: str) -> str:
    return RUNG_HATCHES[int(rung[:2]) % len(RUNG_HATCHES)]


def setup() -> None:
    """Nothing of the reader's own configuration or fonts gets in."""
    matplotlib.rcdefaults()
    bundled = matplotlib.get_data_path()
    manager = font_manager.fontManager
    manager.ttflist = [font for font in manager.ttflist if font.fname.startswith(bundled)] or manager.ttflist
    plt.rcParams.update(
        {
            "svg.hashsalt": "kernel-ladder",
            "svg.fonttype": "path",
            "figure.dpi": 100,
            "font.family": "DejaVu Sans",
            "font.size": 10,
            "axes.titlesize": 12,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": INK,
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.grid": False,
            "grid.color": "#DDDDDD",
            "grid.linewidth": 0.8,
            "axes.axisbelow": True,
            "hatch.linewidth": 0.6,
            "lines.linewidth": 1.8,
            "lines.markersize": 7,
            "axes.formatter.useoffset": False,
        }
    )


def save(figure, path) -> None:
    """An SVG without date, version or random ids, on a white page whatever the reader's theme."""
    figure.savefig(
        path,
        format="svg",
        facecolor="white",
        bbox_inches="tight",
        pad_inches=0.15,
        metadata={"Date": None, "Creator": "common/plots", "Title": path.stem},
    )
    plt.close(figure)


def plain_number(value, _=None) -> str:
    """Tick labels: 0.1, 1, 10, 100, never 10^2."""
    return f"{value:g}"


def titles(axes, title: str, subtitle: str) -> None:
    axes.set_title(title, pad=24)
    axes.annotate(
        subtitle,
        (0, 1),
        (0, 8),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=8.5,
        color="#555555",
        ha="left",
        va="bottom",
    )


def spread(positions, gap: float) -> list:
    """The positions moved as little as needed to stand at least `gap` apart, in the same order."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    groups = []  # runs of labels that touch: [indices, centre]
    for i in order:
        groups.append([[i], positions[i]])
        while len(groups) > 1:
            (below, low), (above, high) = groups[-2:]
            if high - low >= gap * (len(below) + len(above)) / 2 - 1e-12:
                break
            both = below + above
            groups[-2:] = [[both, (low * len(below) + high * len(above)) / len(both)]]
    moved = [0.0] * len(positions)
    for members, centre in groups:
        for place, i in enumerate(members):
            moved[i] = centre + (place - (len(members) - 1) / 2) * gap
    return moved
