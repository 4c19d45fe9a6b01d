"""All of 00_naive's gemm, as if it were an exercise: the kernel's body is the learner's. For tests."""

import sys
import tempfile
import unittest
from pathlib import Path

from common.practice import exercise as exercises
from common.practice import grade, runs

at = sys.argv.index("--build")
build = Path(sys.argv[at + 1])
del sys.argv[at : at + 2]

PLACE = "  const int row = blockIdx.x % tiles_m * 32 + threadIdx.x, col = blockIdx.x / tiles_m * 32 + threadIdx.y;\n"
SUM = """  if (row >= p.m || col >= p.n) return;
  float sum = 0;
  for (int i = 0; i < p.k; ++i)
    sum += __bfloat162float(p.a[std::size_t(row) * p.k + i]) * __bfloat162float(p.b[std::size_t(i) * p.n + col]);
"""
INDEX = PLACE + SUM
STORE = "  p.c[std::size_t(row) * p.n + col] = __float2bfloat16_rn(sum);\n"


class NaiveGemm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "gemm.cu"
        self.exercise = exercises.Exercise(
            exercises.ROOT / "00_naive" / "practice" / "0_none.md",
            fields={"kind": "write", "file": "00_naive/gemm.cu", "run": ["gemm --m 40 --n 24 --k 16"], "part": "docs/00_naive.md#"},
        )
        self.sound = "\n".join(self.exercise.solution()) + "\n"
        self.tools = runs.Tools.of(build)

    def body(self, text):
        """The rung's source with another body of its kernel."""
        start = self.sound.index("{", self.sound.index("gemm_kernel(")) + 1
        return self.sound[:start] + "\n" + text + self.sound[self.sound.index("\n}\n", start) :]

    def grade(self, text):
        self.source.write_text(text, encoding="utf-8")
        return grade.graded(self.tools, self.exercise, self.source)

    def passes(self, text):
        verdict = self.grade(text)
        self.assertTrue(verdict.passed, verdict.text)
        return verdict

    def refused(self, text, *words):
        verdict = self.grade(text)
        self.assertFalse(verdict.passed)
        for word in words:
            self.assertIn(word, verdict.text)
        return verdict
