"""Attempts to pass an exercise without solving it: none gets through, and the grader says what it found.

python3 -m common.practice.tests.fooling_test --build build
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

from common.practice import exercise as exercises
from common.practice import grade, runs

class Fooling(unittest.TestCase):
    """All of 00_naive's gemm, as if it were an exercise: the kernel's body is the learner's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "gemm.cu"
        self.exercise = exercises.Exercise(
            exercises.ROOT / "00_naive" / "practice" / "0_none.md",
            fields={"kind": "write", "file": "00_naive/gemm.cu", "run": ["gemm --m 40 --n 24 --k 16"], "part": "docs/00_naive.md#"},
        )
        self.sound = "\n".join(self.exercise.solution()) + "\n"

    def body(self, text):
        """The rung's source with another body of its kernel."""
        start = self.sound.index("{", self.sound.index("gemm_kernel(")) + 1
        return self.sound[:start] + "\n" + text + self.sound[self.sound.index("\n}\n", start) :]

    def grade(self, text):
        self.source.write_text(text, encoding="utf-8")
        return grade.graded(tools, self.exercise, self.source)

    def refused(self, text, *words):
        verdict = self.grade(text)
        self.assertFalse(verdict.passed)
        for word in words:
            self.assertIn(word, verdict.text)
        return verdict

    PLACE = "  const int row = blockIdx.x % tiles_m * 32 + threadIdx.x, col = blockIdx.x / tiles_m * 32 + threadIdx.y;\n"
    SUM = """  if (row >= p.m || col >= p.n) return;
  float sum = 0;
  for (int i = 0; i < p.k; ++i)
    sum += __bfloat162float(p.a[std::size_t(row) * p.k + i]) * __bfloat162float(p.b[std::size_t(i) * p.n + col]);
"""
    INDEX = PLACE + SUM
    STORE = "  p.c[std::size_t(row) * p.n + col] = __float2bfloat16_rn(sum);\n"

    def test_an_honest_kernel_passes(self):
        verdict = self.grade(self.body(self.INDEX + self.STORE))
        self.assertTrue(verdict.passed, verdict.text)
        self.assertTrue(self.grade(self.sound).passed)

    def test_host_code_that_does_the_work_is_not_run(self):
        cheat = self.body("").replace(
            "return cudaGetLastError();",
            "for (int i = 0; i < p.m * p.n; ++i) p.c[i] = p.a[i];\n  abort();\n  return cudaSuccess;",
        ).replace('#include "common/rung.h"', '#include <cstdlib>\n#include "common/rung.h"')  # fmt: skip
        self.assertIn("abort", cheat)
        self.refused(cheat, "elements wrong")

    def test_the_reference_cannot_be_included_nor_the_solution(self):
        for file in ("common/harness/problems/gemm/reference.h", "00_naive/gemm.cu"):
            self.refused(f'#include "{file}"\n' + self.sound, file)

    def test_work_that_is_skipped_is_missed(self):
        self.refused(self.body("  if (blockIdx.x > 0) return;\n" + self.INDEX + self.STORE), "elements wrong")

    def test_a_sample_of_k_is_not_enough(self):
        self.refused(self.body(self.INDEX.replace("++i", "i += 2") + self.STORE), "elements wrong")

    def test_a_read_past_an_input_is_found_though_its_value_is_dropped(self):
        past = "  if (row == p.m - 1 && col == p.n - 1)\n    asm volatile(\"{ .reg .u16 x; ld.global.u16 x, [%0]; }\" ::\"l\"(p.a + std::size_t(p.m) * p.k));\n"
        self.refused(self.body(self.INDEX + past + self.STORE), "past the end of")

    def test_a_write_past_the_output_is_found(self):
        past = "  if (row == p.m - 1 && col == p.n - 1) p.c[std::size_t(p.m) * p.n] = p.a[0];\n"
        self.refused(self.body(self.INDEX + past + self.STORE), "past the end of")

    def test_what_an_earlier_call_left_is_of_no_use(self):
        stash = "__device__ __nv_bfloat16 stash[1 << 20];\n__device__ int calls;\n\n"
        again = self.PLACE + """  if (row >= p.m || col >= p.n) return;
  const std::size_t at = std::size_t(row) * p.n + col;
  if (calls > 1) {
    p.c[at] = stash[at];
    return;
  }
"""
        sum = self.SUM.partition("\n")[2] + self.STORE + "  stash[at] = p.c[at];\n  if (at == 0) ++calls;\n"
        self.refused(self.body(again + sum).replace("// A CTA computes", stash + "// A CTA computes"), "elements wrong")

    def test_what_the_output_held_is_of_no_use(self):
        self.refused(self.body(self.INDEX.replace("float sum = 0;", "float sum = __bfloat162float(p.c[std::size_t(row) * p.n + col]);") + self.STORE), "elements wrong")

    def test_other_kernels_are_refused(self):
        self.refused(self.sound.replace("gemm_kernel", "my_kernel"), "its kernels are not the rung's")

    def test_the_checks_cannot_be_switched_off_from_outside(self):
        past = "  if (row + col == 0) p.c[std::size_t(p.m) * p.n] = p.a[0];\n"
        os.environ["SIMULATOR_CHECKS"] = "off"
        self.addCleanup(os.environ.pop, "SIMULATOR_CHECKS")
        self.refused(self.body(self.INDEX + past + self.STORE), "past the end of")


if __name__ == "__main__":
    at = sys.argv.index("--build")
    tools = runs.Tools.of(Path(sys.argv[at + 1]))
    del sys.argv[at : at + 2]
    unittest.main()
