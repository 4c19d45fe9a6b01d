"""Tests of compare_builds.py, with shell scripts for programs."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fixture import listing

PROGRAM = """#!/bin/sh
[ "$1" = --list ] && { LISTING; exit 0; }
for last; do :; done
[ "$1" = fused_norm ] && exit 77
printf '{"record": "run", "variant": "plain", "median_us": %s}\\n' >> "$last"
""".replace("LISTING", listing(gemm=["fast"]))


class Builds(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)

    def build(self, name, microseconds, rung=PROGRAM):
        folder = self.root / name
        folder.mkdir()
        (folder / "42_x").write_text(rung.replace("%s", str(microseconds)))
        (folder / "42_x").chmod(0o755)
        (folder / "42_x_sim").write_text("")

    def compare(self, *runs):
        command = [sys.executable, "-B", "-m", "common.tools.compare_builds", self.root / "old", self.root / "new", "--turns", "2", *runs]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_as_fast(self):
        self.build("old", 100)
        self.build("new", 100.5)
        code, text = self.compare()
        self.assertEqual(code, 0, text)
        self.assertIn("0.9950   0.00%  42_x gemm --m 4096 --n 2048 --k 8192 --variant plain", text)

    def test_slower(self):
        self.build("old", 100)
        self.build("new", 102)
        code, text = self.compare("42_x gemm --size 64")
        self.assertEqual(code, 1, text)
        self.assertIn("42_x gemm --size 64 --variant plain  SLOWER", text)

    def test_missing(self):
        self.build("old", 100)
        self.build("new", 100, PROGRAM.replace('"plain"', '"other"'))
        code, text = self.compare("42_x gemm")
        self.assertEqual(code, 1, text)
        self.assertIn("42_x gemm plain: not in ", text)

    def test_a_program_that_fails(self):
        self.build("old", 100)
        self.build("new", 100, "#!/bin/sh\necho wrong\nexit 1\n")
        code, text = self.compare("42_x gemm")
        self.assertEqual(code, 1, text)
        self.assertIn("exit code 1\nwrong", text)


if __name__ == "__main__":
    unittest.main()
