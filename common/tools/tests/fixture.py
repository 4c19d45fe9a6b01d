"""A folder with shell scripts in the programs' places."""

import json
import tempfile
import unittest
from pathlib import Path


def listing(**problems):
    """What --list --json - prints, as a command of a script: gemm=["plain", "fast"], the last the rung itself."""
    lines = []
    for name, variants in problems.items():
        listed = [{"name": variant, "is_rung": variant == variants[-1]} for variant in variants]
        problem = {"problem": name, "runs_unnamed": name in ("gemm", "fused_norm"), "variants": listed}
        problem |= {"dimensions": ["m", "n", "k"], "default_shape": {"gpu": "4096x2048x8192", "simulator": "256x256x256"}}
        lines.append(f"echo '{json.dumps(problem)}'")
    return "; ".join(lines)


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def program(self, name, script):
        """A program; what it notes with $log is read by log()."""
        log = f"exec 3>>'{self.root}/log'\n"
        file = self.write(name, f"#!/bin/sh\n{log}{script}\n")
        file.chmod(0o755)
        return file

    def log(self):
        file = self.root / "log"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
