"""How every drawing looks, and how it is saved so that the same input gives the same bytes on every run."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import font_manager  # noqa: E402
from matplotlib.patches import Patch, Rectangle  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

# Okabe and Ito's colours, which stay apart for colour-blind readers; their yellow is darkened to show on white.
BLUE, ORANGE, GREEN, SKY, VERMILLION, PURPLE = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7")
YELLOW, GREY, BLACK, BROWN = "#B8A600", "#8C8C8C", "#000000", "#7A4B00"
INK, SOFT, FAINT, PALE = "#222222", "#606060", "#BBBBBB", "#F0F0F0"

RUNG_COLOURS = (GREY, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE, BLACK, BROWN)
RUNG_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*", "h")
RUNG_DASHES = ("-", "--", "-", "--", "-", "--", "-", "--", "-", "--")
OWN_LOOK = {"color": "#8B0A50", "marker": ">", "linestyle": "-."}
BASELINE_LOOK = {"color": INK, "marker": "d", "linestyle": (0, (2, 2))}


def rung_look(rung: str) -> dict:
    """Colour, marker and dashes of a rung: the same in every drawing, by the rung's number. Another program, every_shape or
    a reader's own, has no number, and a look of its own."""
    if not rung[:2].isdigit():
        return OWN_LOOK
    number = int(rung[:2]) % len(RUNG_COLOURS)
    return {"color": RUNG_COLOURS[number], "marker": RUNG_MARKERS[number], "linestyle": RUNG_DASHES[number]}


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
        color=SOFT,
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


def log_axis(axis) -> None:
    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(plain_number))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(LogLocator(base=10, subs=range(1, 10)))


def text_column(axes, x: float, heading: str, rows: list, **look) -> None:
    """Figures in a column to the right of the axes, one per bar, under a heading."""
    align = {"ha": "right", "annotation_clip": False, "fontsize": 9.5, **look}
    axes.annotate(
        heading,
        (x, 1.0),
        (0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        **{**align, "fontsize": 8.5, "color": SOFT},
    )
    for y, text in enumerate(rows):
        axes.annotate(text, (x, y), xycoords=("axes fraction", "data"), va="center", **align)


def axes_fraction(axes, x: float, y: float) -> tuple:
    return tuple(axes.transAxes.inverted().transform(axes.transData.transform((x, y))))


def end_labels(axes, ends: list, x: float, below: bool = False) -> None:
    """A label at x for each (position, text, colour, from_x), with a line to where it belongs; all in fractions of
    the axes. Labels that would overlap are moved apart; with `below`, downward from the highest one."""
    gap = 14.5 / axes.get_window_extent().height
    if below:
        ends = sorted(ends, key=lambda end: -end[0])
        places = []
        for end in ends:
            places.append(min(end[0], places[-1] - gap) if places else end[0])
    else:
        places = spread([end[0] for end in ends], gap)
    for (position, text, colour, from_x), place in zip(ends, places):
        axes.annotate(
            text,
            (from_x, position),
            (x, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            ha="left",
            fontsize=9,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.9,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def box(axes, x, y, width, height, face="white", edge=INK, line=0.8, **more) -> None:
    axes.add_patch(Rectangle((x, y), width, height, facecolor=face, edgecolor=edge, linewidth=line, **more))


def write(axes, x, y, text, size=9, **more) -> None:
    axes.text(x, y, text, **{"fontsize": size, "va": "center", **more})


def time_axis(axes, end: float, rows: tuple, label: str) -> None:
    """For rows of bars: time from 0 to end below them, and nothing else around them. rows: their limits, lower first."""
    axes.set_xlim(0, end)
    axes.set_ylim(*rows)
    axes.set_yticks([])
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel(label)


def bar_legend(axes, looks: dict, below: float, columns: int = 4, more: tuple = ()) -> None:
    """What a bar's look, face and hatch, says; so far below the axes, as a fraction of their height."""
    handles = [Patch(facecolor=face, edgecolor=INK, hatch=hatch, label=name) for name, (face, hatch) in looks.items()]
    axes.legend(
        handles=[*handles, *more],
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
        ncols=columns,
        frameon=False,
        fontsize=9,
    )
