"""A program of the reader's own, with the whole harness around it."""

from __future__ import annotations

from pathlib import Path

from exercise import PracticeError


def new(build: Path, folder: Path, arguments: list) -> int:
    raise PracticeError("not built yet")


def run(build: Path, folder: Path, name: str, arguments: list) -> int:
    raise PracticeError(f"there is no '{name}'")
