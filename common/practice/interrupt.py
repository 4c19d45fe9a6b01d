"""Ctrl-C: everything that this process has started ends with it, the compilers below a build as well."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

EXIT_CODE = 130  # 128 + SIGINT
PATIENCE = 1  # second, for what the terminal has interrupted, too: the simulator says where its warps stand


def children_of(process: int) -> list:
    """With their own, from /proc."""
    try:
        direct = [int(child) for task in Path(f"/proc/{process}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [*direct, *(other for child in direct for other in children_of(child))]


def runs_on(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def interrupted(*_) -> None:
    children, until = children_of(os.getpid()), time.monotonic() + PATIENCE
    while any(map(runs_on, children)) and time.monotonic() < until:
        time.sleep(0.02)
    for child in filter(runs_on, children):
        try:
            os.kill(child, signal.SIGINT)
        except OSError:
            pass
    raise KeyboardInterrupt


def watch() -> None:
    signal.signal(signal.SIGINT, interrupted)
