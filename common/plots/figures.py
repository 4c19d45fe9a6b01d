"""How a figure is written, in pages and in drawings."""

from __future__ import annotations


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
