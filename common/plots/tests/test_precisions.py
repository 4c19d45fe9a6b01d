"""Tests of the precision ladder: what runs with --type show, and where they stay out of."""

import unittest

from common.plots.pages import tables
from common.plots.records import precisions
from common.plots.records.results import Results
from common.plots.tests.fixture import InFolder, gemm


def typed(kind, us, size=4096, rung="06_swizzle_ldmatrix", k=None, error=1e-3, **more):
    record = gemm(rung, us, size, variant=kind, is_rung=kind == "bf16", type=kind, relative_error=error, **more)
    if kind != "bf16":
        record["precision"] = kind
    if k:
        record.update({"k": k, "tflops": record["tflops"] * k / size})
    return record


class Precisions(InFolder):
    def results(self, *records):
        self.write([gemm("06_swizzle_ldmatrix", 300.0), *records])
        return Results([self.root / "docs" / "results"])

    def test_what_was_run_with_a_type_gives_way_to_what_was_not(self):
        plain = {**gemm("06_swizzle_ldmatrix", 140.0, variant="s8", index=9, is_rung=False), "precision": "s8"}
        run = self.results(typed("s8", 150.0), plain).run("06_swizzle_ldmatrix", "gemm", "4096x4096x4096", "s8")
        self.assertEqual(run["median_us"], 140.0)

    def test_the_table_goes_from_many_bits_to_few(self):
        results = self.results(typed("s8", 150.0), typed("tf32", 600.0, error=3e-4), typed("bf16", 310.0))
        rows = [line for line in tables.precision(results).split("\n") if "--type" in line]
        self.assertEqual([row.split("`")[1] for row in rows], ["--type tf32", "--type bf16", "--type s8"])
        self.assertIn("| 3.0e-04 |", rows[0])

    def test_a_sparse_run_has_no_library_beside_it(self):
        results = self.results(typed("bf16_sparse", 240.0, baselines={}))
        self.assertIn("| 573 |  |  |", tables.precision(results))

    def test_typed_runs_stay_out_of_the_ladder_and_the_ablations(self):
        results = self.results(typed("bf16", 999.0), typed("f16", 320.0))
        self.assertEqual(results.run("06_swizzle_ldmatrix", "gemm", "4096x4096x4096")["median_us"], 300.0)
        self.assertEqual(len(results.typed), 2)
        other = gemm("06_swizzle_ldmatrix", 150.0, variant="s8", is_rung=False, precision="s8")
        names = [run["variant"] for run in self.results(other).tricks("06_swizzle_ldmatrix", "gemm", "4096x4096x4096")]
        self.assertEqual(names, ["swizzle_ldmatrix"])

    def test_an_error_is_a_line_from_two_values_of_k_on(self):
        runs = [typed("bf16", 10.0, 1024, k=k) for k in (4096, 256)] + [typed("f16", 10.0, 1024)]
        lines = precisions.growing(self.results(*runs))
        self.assertEqual({kind: [run["k"] for run in line] for kind, line in lines.items()}, {"bf16": [256, 4096]})

    def test_what_is_not_measured_says_so(self):
        results = self.results()
        self.assertIn("Not measured yet", tables.precision(results))

    def test_a_chart_is_drawn_where_there_are_records(self):
        try:
            from common.plots.charts import precision
        except ImportError as error:
            self.skipTest(str(error))
        self.assertIsNone(precision.ladder(self.results()))
        self.assertIsNone(precision.errors(self.results()))
        results = self.results(typed("bf16", 300.0), typed("bf16", 10.0, 1024, k=256), typed("bf16", 10.0, 1024, k=512))
        self.assertIsNotNone(precision.ladder(results))
        self.assertIsNotNone(precision.errors(results))


if __name__ == "__main__":
    unittest.main()
