"""Attempts to pass an exercise without solving it: none gets through, and the grader says what it found.

python3 -m common.practice.tests.fooling_test --build build
"""

import os
import unittest
from unittest import mock

from common.practice import exercise as exercises
from common.practice import compiling, grade
from common.practice.tests.naive_gemm import INDEX, PLACE, STORE, SUM, NaiveGemm


class Fooling(NaiveGemm):
    def test_an_honest_kernel_passes(self):
        self.passes(self.body(INDEX + STORE))
        self.passes(self.sound)

    def test_host_code_that_does_the_work_is_not_run(self):
        cheat = self.body("").replace(
            "return cudaGetLastError();",
            "for (int i = 0; i < p.m * p.n; ++i) p.c[i] = p.a[i];\n  abort();\n  return cudaSuccess;",
        ).replace('#include "common/rung.h"', '#include <cstdlib>\n#include "common/rung.h"')  # fmt: skip
        self.assertIn("abort", cheat)
        self.refused(cheat, "elements wrong")

    def test_the_reference_cannot_be_included_nor_the_solution_however_it_is_named(self):
        root = exercises.ROOT
        (self.source.parent / "by_link.h").symlink_to(root / "common/harness/base/format.h")
        ways = {  # each reads another file
            "common/harness/problems/gemm/reference.h": '#include "%s"',
            "01_coalesced/gemm.cu": "#include <%s>",
            "02_smem_tiling/gemm.cu": '#define FILE_OF_IT "%s"\n#include FILE_OF_IT',
            "03_vectorized/gemm.cu": f'#inc\\\nlude "{root}/%s"',
            "04_cp_async/gemm.cu": '%%:include "%s"',
            "05_mma_sync/gemm.cu": '#if __has_include("%s")\n/**/ # /**/ include /**/ "%s"\n#endif',
            "06_swizzle_ldmatrix/gemm.cu": '#ifdef __CUDA_ARCH__\n#include_next "%s"\n#endif',
            "00_naive/gemm.cu": '#import "%s"',
            "common/harness/base/format.h": '#include "by_link.h"',
        }
        lines = [way % ((file,) * way.count("%s")) if "%" in way else way for file, way in ways.items()]
        self.refused("\n".join(lines) + "\n", "of the course's files only", *ways)

    def test_of_what_was_read_only_files_of_the_course_count(self):
        ptx, root = self.source.with_suffix(".ptx"), exercises.ROOT
        read = [self.source, root / "common/rung.h", self.tools.build / "toolkit/include/cuda_bf16.h", root / "common/ptx/mma.cuh", "/usr/include/math.h"]
        compiling.read_files(ptx).write_text("\n".join(map(str, read)))
        self.assertEqual(compiling.foreign_files(self.tools, self.exercise, self.source, ptx), ["common/ptx/mma.cuh"])

    def judge(self, text):
        """Without the shapes, which other tests are about."""
        with mock.patch.object(grade, "check", return_value=("", "")):
            return self.grade(text)

    def over(self, text, *words):
        verdict = self.judge(text)
        self.assertEqual(verdict.stage, "budget", verdict.text)
        for word in words:
            self.assertIn(word, verdict.text)

    def test_a_header_of_the_learners_own_may_be_included(self):
        (self.source.parent / "mine.h").write_text("constexpr float nothing = 0;\n")
        verdict = self.judge('#include "mine.h"\n#include <cmath>\n' + self.body(INDEX.replace("sum = 0", "sum = nothing") + STORE))
        self.assertTrue(verdict.passed, verdict.text)

    def test_a_load_is_counted_whatever_it_is_called(self):
        self.exercise.fields["budget"] = ['count("ld.global") <= 16 * 2 * 40 -- a load of A and of B each step']
        more = "".join(
            f'    asm volatile("{{ .reg .u16 x; {load} x, [%0]; }}" ::"l"(p.a + std::size_t(row) * p.k + i));\n'
            for load in ("ld.volatile.global.u16", "ld.u16", "ld.relaxed.gpu.global.u16")
        )
        kernel = self.body(PLACE + SUM.replace("++i)\n", "++i) {\n" + more) + "  }\n" + STORE)
        counted = 5 * 16 * 48  # by each warp that has an element
        self.over(kernel, f'count("ld.global") is {counted}, and the budget is at most 1280')

    def test_a_way_around_the_counters_is_named(self):
        self.exercise.fields["budget"] = ["global_load_requests <= 1536 -- a load of A and of B each step"]
        around = """  asm volatile(
      "{ .reg .b32 x; mov.b32 x, 0; atom.global.or.b32 x, [%0], 0; red.global.or.b32 [%0], x; }"
      ::"l"(p.c - (std::size_t(p.c) & 2) / 2));
"""
        self.over(
            self.body(INDEX + STORE + around),
            "It uses atom.global.or.b32", "It uses red.global.or.b32", "the budget does not count it",
        )  # fmt: skip

    def test_a_comment_in_the_ptx_is_no_instruction(self):
        self.exercise.fields["budget"] = ['ptx("membar.gl;") >= 1 -- a fence']
        self.over(self.body(INDEX + STORE + '  asm volatile("// membar.gl;");\n'), "does not hold")

    def test_work_that_is_skipped_is_missed(self):
        self.refused(self.body("  if (blockIdx.x > 0) return;\n" + INDEX + STORE), "elements wrong")

    def test_a_sample_of_k_is_not_enough(self):
        self.refused(self.body(INDEX.replace("++i", "i += 2") + STORE), "elements wrong")

    def test_a_read_past_an_input_is_found_though_its_value_is_dropped(self):
        past = "  if (row == p.m - 1 && col == p.n - 1)\n    asm volatile(\"{ .reg .u16 x; ld.global.u16 x, [%0]; }\" ::\"l\"(p.a + std::size_t(p.m) * p.k));\n"
        self.refused(self.body(INDEX + past + STORE), "past the end of")

    def test_a_write_past_the_output_is_found(self):
        past = "  if (row == p.m - 1 && col == p.n - 1) p.c[std::size_t(p.m) * p.n] = p.a[0];\n"
        self.refused(self.body(INDEX + past + STORE), "past the end of")

    def test_what_an_earlier_call_left_is_of_no_use(self):
        stash = "__device__ __nv_bfloat16 stash[1 << 20];\n__device__ int calls;\n\n"
        again = PLACE + """  if (row >= p.m || col >= p.n) return;
  const std::size_t at = std::size_t(row) * p.n + col;
  if (calls > 1) {
    p.c[at] = stash[at];
    return;
  }
"""
        sum = SUM.partition("\n")[2] + STORE + "  stash[at] = p.c[at];\n  if (at == 0) ++calls;\n"
        self.refused(self.body(again + sum).replace("// A CTA computes", stash + "// A CTA computes"), "elements wrong")

    def test_what_the_output_held_is_of_no_use(self):
        self.refused(self.body(INDEX.replace("float sum = 0;", "float sum = __bfloat162float(p.c[std::size_t(row) * p.n + col]);") + STORE), "elements wrong")

    def test_other_kernels_are_refused(self):
        self.refused(
            self.sound.replace("gemm_kernel", "my_kernel"),
            "its kernels are not the rung's", "missing: gemm_kernel(Gemm, int); there is: my_kernel(Gemm, int)",
        )  # fmt: skip

    def test_the_checks_cannot_be_switched_off_from_outside(self):
        past = "  if (row + col == 0) p.c[std::size_t(p.m) * p.n] = p.a[0];\n"
        os.environ["SIMULATOR_CHECKS"] = "off"
        self.addCleanup(os.environ.pop, "SIMULATOR_CHECKS")
        self.refused(self.body(INDEX + past + STORE), "past the end of")


if __name__ == "__main__":
    unittest.main()
