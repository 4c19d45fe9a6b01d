"""What the grader says: of which run and shape, what a kernel printed, which kernels are missing, and of answers.

python3 -m common.practice.tests.grade_test --build build
"""

import unittest
from pathlib import Path
from unittest import mock

from common.practice import arithmetic, beside, budget, grade, runs
from common.practice import exercise as exercises
from common.practice.tests.naive_gemm import INDEX, PLACE, STORE, NaiveGemm


class OfAKernel(NaiveGemm):
    def setUp(self):
        super().setUp()
        seeds = mock.patch.object(grade, "SEEDS", (0,))
        seeds.start()
        self.addCleanup(seeds.stop)

    def test_a_right_one_may_have_functions_and_kernels_of_its_own(self):
        helper = "__device__ float f(float x) { return x + 0; }\n__global__ void unused(int) {}\n\nnamespace ladder"
        text = self.body(INDEX + STORE.replace("(sum)", "(f(sum))")).replace("namespace ladder", helper, 1)
        self.assertEqual(self.passes(text).printed, "")

    def test_other_parameters_are_named(self):
        text = self.sound.replace("gemm_kernel(Gemm p, int tiles_m)", "gemm_kernel(Gemm p, long tiles_m)")
        self.refused(text, "missing: gemm_kernel(Gemm, int); there is: gemm_kernel(Gemm, long)")

    def test_what_a_right_one_prints_is_shown_of_the_exercises_run(self):
        print_it = '  if (row == 0 && p.m == 40) printf("col %d ", col);\n'
        text = "#include <cstdio>\n" + self.body(INDEX + print_it + STORE)
        self.assertIn("Your kernel printed, in gemm --m 40 --n 24 --k 16, schedule 0:\ncol 0 col 1 ", self.passes(text).printed)

    def test_what_a_wrong_one_prints_is_shown_of_its_run_and_not_all_of_it(self):
        print_it = '  if (row < 10 && p.m == 40) printf("row %d %g\\n", row, sum);\n'
        wrong = STORE.replace("(sum)", "(p.m == 40 ? 0 : sum)")
        verdict = self.refused(
            "#include <cstdio>\n" + self.body(INDEX + print_it + wrong),
            "gemm --m 40 --n 24 --k 16, schedule 0, at 40x24x16:",
            "elements wrong; C[0,0] is 0",
            "See it again: build/bin/practice 00.0 --m 40 --n 24 --k 16 --verify-only",
        )
        self.assertIn("Your kernel printed, in gemm --m 40 --n 24 --k 16, schedule 0, at 40x24x16:\nrow ", verdict.printed)
        self.assertEqual(verdict.printed.count("\n"), 1 + runs.MOST_PRINTED)
        self.assertRegex(verdict.printed, r"… and \d+ lines more$")

    def test_an_element_that_is_never_written_is_said_to_be(self):
        self.refused(
            self.body(INDEX + "  if (p.n != 13 || col != 5)\n" + STORE),
            "gemm at 7x13x5, schedule 0:", "7 of 91 elements wrong; C[0,5] was never written",
            "See it again: build/bin/practice 00.0 --m 7 --n 13 --k 5 --verify-only",
        )  # fmt: skip

    def test_the_time_that_ran_out_is_of_a_shape(self):
        output = "".join(f"00_naive             {shape:17} naive   -   -  ok\n" for shape in ("1x1x1", "7x13x5"))
        simulate = runs.simulate

        def slow(tools, exercise, run, ptx, *more, **settings):
            if ptx:
                raise grade.subprocess.TimeoutExpired("gemm", runs.LONGEST, output, "simulator: interrupted\nsimulator:   warp 0 stands at gemm.cu:7\n")
            return simulate(tools, exercise, run, ptx, *more, **settings)

        with mock.patch.object(grade, "simulate", slow):
            wrong, _ = grade.check(self.tools, self.exercise, Path("some.ptx"), self.source)
        self.assertIn("gemm at 33x65x129, schedule 0:\nit did not end in 120 s: ", wrong)
        self.assertIn("gemm.cu:7", wrong)

    @unittest.skipUnless("SIMULATOR_LIMIT" in (exercises.ROOT / "common/simulator/settings/settings.h").read_text(), "no limit yet")
    def test_a_loop_that_never_ends_is_ended(self):
        loop = '  for (unsigned long long i = 1; i; i += 2) asm volatile("" : "+l"(i));\n'  # its state is never the same again
        with mock.patch.object(runs, "LIMIT", 1):
            self.refused(self.body(PLACE + loop), "gemm at 1x1x1, schedule 0:", "limit reached in gemm_kernel at", "gemm.cu:")

    def test_the_simulators_settings_are_those_of_the_page(self):
        self.exercise.fields["sms"] = "4"
        self.exercise.fields["run"].append("gemm --size 8 --variant naive")
        given = {}

        def note(command, variables):
            given[" ".join(command[1:3])] = variables.get("SIMULATOR_SMS"), variables["SIMULATOR_LIMIT"]
            return mock.Mock(returncode=0, stderr="", stdout="")

        with mock.patch.object(runs, "ended", note):
            grade.check(self.tools, self.exercise, Path("some.ptx"), self.source)
        limit = str(runs.LIMIT)
        self.assertEqual(given, {"gemm --table-rows": (None, limit), "gemm --m": ("4", limit), "gemm --size": ("4", limit)})
        self.assertIn("SIMULATOR_SEED=1 SIMULATOR_SMS=4 build/", grade.again(self.exercise, self.exercise.runs[0], "40x24x16", 1))
        self.assertIn("SIMULATOR_SMS= build/bin/practice 00.0 --m 1 --n 2 --k 3 --v", grade.again(self.exercise, "gemm", "1x2x3", 0))

    def test_counters_beside_the_rungs(self):
        self.exercise.fields["budget"] = ["global_load_requests <= m * n * k"]
        counted = {"counters": {"global_load_requests": 7, "ptx_instructions": 900}, "instruction_mix": {}, "m": 40, "n": 24, "k": 16}
        own = budget.Lazy(budget.counters_of(counted), dict)
        table = [line.split() for line in beside.table(self.tools, self.exercise, own).splitlines()]
        self.assertEqual(table[0][-2:], ["the", "rung's"])
        self.assertEqual(table[1], ["global_load_requests", "7", "1536"])
        self.assertEqual(table[2][:2], ["ptx_instructions", "900"])
        with mock.patch.object(budget, "record_of", side_effect=AssertionError("it is kept")):
            beside.table(self.tools, self.exercise, own)


class Lines(unittest.TestCase):
    def test_what_both_launches_print_is_shown_once(self):
        self.assertEqual(runs.printed("a\nb\na\nb\n"), "a\nb")
        self.assertEqual(runs.printed("a\nb\n"), "a\nb")

    def test_the_learners_line_comes_first(self):
        said = "race at 06_swizzle_ldmatrix/gemm.cu:127 (in 06.4_exchange/tiles.cuh:54, ptx/cp_async.cuh:31) (inlined at x.cu:3)"
        self.assertEqual(
            grade.learners_lines_first(said, Path("practice/06.4_exchange/tiles.cuh")),
            "race at 06.4_exchange/tiles.cuh:54 (in ptx/cp_async.cuh:31) (called at 06_swizzle_ldmatrix/gemm.cu:127) (inlined at x.cu:3)",
        )
        self.assertEqual(grade.learners_lines_first(said, Path("practice/06.4_exchange/gemm.cuh")), said)


class Answers(unittest.TestCase):
    def test_numbers(self):
        for text, value in (("4 * (8 + 2)", 40), ("-2.5e3", -2500), ("2 ** 10 // 3", 341), ("7 % 4 / 2", 1.5), ("1_000", 1000)):
            self.assertEqual(arithmetic.number_of(text), value)

    def test_what_is_no_number_or_would_take_for_ever(self):
        for text in ("9**9**9", "1e999", "1/0", "2**2**30", "10**-1000", "x", "True", "'a'", "[1]", "1,2", "__import__('os')", "1j",
                     "(1).real", "-" * 150 + "1j", "(" * 99 + ")" * 99, "1" * 201, "0 ** -1", "(-8) ** 0.5", "9" * 200 + " % 0"):  # fmt: skip
            with self.assertRaises(ValueError, msg=text):
                arithmetic.number_of(text)


if __name__ == "__main__":
    unittest.main()
