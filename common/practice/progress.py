"""practice/progress.json: what was passed when, and how many hints were shown."""

from __future__ import annotations

import contextlib
import fcntl
import json
import sys
from pathlib import Path

from common.practice.exercise import Exercise


def fresh() -> dict:
    return {"attempts": 0, "hints": 0}


class Progress:
    def __init__(self, folder: Path):
        self.file = folder / "progress.json"
        self.done = {}
        if self.file.exists():
            with self.locked():
                self.done = self.read()

    def of(self, exercise: Exercise) -> dict:
        return {**fresh(), **self.done.get(exercise.id, {})}

    def has_passed(self, exercise: Exercise) -> bool:
        return bool(self.of(exercise).get("passed"))

    def change(self, exercise: Exercise, apply) -> None:
        """apply(state): on the file as it is now, which another grader may have written since."""
        with self.locked():
            self.done = self.read()
            state = self.done[exercise.id] = self.of(exercise)
            apply(state)
            new = self.file.with_suffix(".new")
            new.write_text(json.dumps(self.done, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            new.replace(self.file)

    @contextlib.contextmanager
    def locked(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with open(self.file.with_suffix(".lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def read(self) -> dict:
        """Under the lock. A file that is damaged is kept aside."""
        if not self.file.exists():
            return {}
        try:
            done = json.loads(self.file.read_bytes().decode("utf-8"))
            if not all(is_state(state) for state in done.values()):
                raise ValueError
            return done
        except (ValueError, AttributeError, RecursionError):
            aside = self.file.with_name("progress.json.damaged")
            number = 1
            while aside.exists():
                number += 1
                aside = self.file.with_name(f"progress.json.damaged-{number}")
            self.file.rename(aside)
            print(f"practice: {self.file} is damaged: kept as {aside.name}, and a new one begun", file=sys.stderr)
            return {}


def is_state(state) -> bool:
    return isinstance(state, dict) and all(isinstance(state.get(name, 0), int) for name in fresh())
