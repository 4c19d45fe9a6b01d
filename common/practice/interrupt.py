"""Ctrl-C: everything that this process has started ends with it, the compilers below a build as well."""

from __future__ import annotations

import os
import signal
from pathlib import Path

EXIT_CODE = 130  # 128 + SIGINT


def children_of(process: int) -> list:
    """With their own, from /proc."""
    try:
        direct = [int(child) for task in Path(f"/proc/{process}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [*direct, *(other for child in direct for other in children_of(child))]


def interrupted(*_) -> None:
    for child in children_of(os.getpid()):
        try:
            os.kill(child, signal.SIGINT)
        except OSError:
            pass
    raise KeyboardInterrupt


def watch() -> None:
    signal.signal(signal.SIGINT, interrupted)
