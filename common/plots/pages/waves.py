"""Tiles over SMs, worked out and not measured: how many waves a tile makes of a product, and what of them is of use."""

from __future__ import annotations

from common.plots.figures import figure, percent
from common.plots.pages.markdown import markdown
from common.plots.records.problems import pretty, sizes

PER_CYCLE = 2048  # multiply-adds of an SM's tensor cores, bf16 on compute capability 9.0
K_TILE = 64


def cycles(shape: str, sms: int, tile: tuple) -> tuple:
    """(tiles, waves, cycles of the tensor cores) where each wave takes as long as a tile."""
    m, n, k = sizes(shape)
    rows, columns = tile
    tiles = -(-m // rows) * -(-n // columns)
    waves = -(-tiles // sms)
    return tiles, waves, waves * -(-k // K_TILE) * K_TILE * rows * columns // PER_CYCLE


def waves(_, shape: str, sms: str, *tiles: str) -> str:
    m, n, k = sizes(shape)
    least = m * n * k / PER_CYCLE / int(sms)
    rows = []
    for tile in tiles:
        count, needed, took = cycles(shape, int(sms), sizes(tile))
        cells = [str(count), str(needed), percent(count / (needed * int(sms))), str(took), percent(least / took)]
        rows.append([pretty(tile), *cells])
    header = ["tile, rows×columns of C", "tiles", "waves", "SMs that have one", "cycles of MMAs", "useful"]
    note = f"*{pretty(shape)} on {sms} SMs with {figure(PER_CYCLE)} multiply-adds a cycle; worked out, not measured.*"
    return markdown(header, rows, note)
