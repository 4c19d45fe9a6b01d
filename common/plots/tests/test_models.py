"""Tests of a rung over many shapes (models.py), and of the charts of them."""

import unittest

from common.plots.pages import documents, models_tables, tables, values
from common.plots.records import models
from common.plots.records.error import ResultError
from common.plots.records.results import Results
from common.plots.tests.fixture import ENVIRONMENT, InFolder, gemm, roof

try:
    from common.plots import style
    from common.plots.charts import models as models_charts
except ImportError:
    models_charts = None

RUNG = "08_warp_specialized"
ROOFS = [roof("copy", 3000.0, "GB/s"), roof("read", 4000.0, "GB/s"), roof("bf16_wgmma", 800.0, "TFLOPS")]


def swept(m, n, k, us, library_us, **more):
    """The better of the two baselines takes library_us."""
    shape = {"m": m, "n": n, "k": k, "tflops": 2 * m * n * k / us / 1e6}
    return gemm(RUNG, us, base_us=library_us / 0.8, sweep="models", **shape, **more)


def tuned(m, times, **more):
    fastest = min(times, key=times.get)
    shape = {"problem": "gemm", "m": m, "n": 1024, "k": 1024, "sweep": "models"}
    us = {"rung_us": times["warp_specialized"], "fastest_us": times[fastest], "fastest": fastest}
    return {"record": "tune", "rung": RUNG, "variant": "warp_specialized", **shape, **us, "variants": times, **ENVIRONMENT, **more}


SWEPT = [
    swept(1, 64, 64, 4.0, 4.0),
    swept(16, 16384, 8192, 80.0, 72.0),  # 269 MB: 67.3 µs at 4000 GB/s
    swept(512, 4096, 1024, 10.0, 9.8),
    swept(4096, 4096, 4096, 200.0, 220.0),  # 137 GFLOP: 172 µs at 800 TFLOPS
]
TUNED = [
    tuned(1, {"64x64": 4.0, "warp_specialized": 5.0}),
    *(tuned(m, {"64x64": 9.0, "warp_specialized": 8.0}) for m in range(100, 119)),
]
NOT_YET = "*Not recorded yet: `build/bin/08_warp_specialized gemm --sweep models --shapes 200 --seed 1"


class Models(InFolder):
    def table(self, what, records):
        lines = tables.table(self.load(records), f"models {what}").split("\n")
        rows = [line for line in lines if line.startswith("|")]
        self.assertLessEqual(len({row.count("|") for row in rows}), 1, lines)
        return lines

    def test_all_of_it_is_of_the_device_that_has_tuned(self):
        on = {"device": "Other GPU"}
        other = [{**swept(8, 64, 64, 4.0, 2.0), **on}]
        self.assertEqual(models.value(self.load([*SWEPT, *other]), RUNG, "shapes"), 4)
        other.append({**TUNED[0], **on})
        results = self.load([*SWEPT, *other])
        self.assertEqual((results.device, models.value(results, RUNG, "shapes")), ("Test GPU", 1))
        self.assertIn("Other GPU", self.table(f"summary {RUNG}", [*SWEPT, *other])[-1])
        self.assertEqual(models.value(self.load([*SWEPT, *other, *TUNED]), RUNG, "shapes"), 4)

    def test_the_summary_counts_the_better_baseline_by_rows_of_a(self):
        lines = self.table(f"summary {RUNG}", SWEPT)
        self.assertEqual(lines[2], "| all | 4 | ×0.992 | 50.0 % | 75.0 % | 100.0 % | ×0.900 | 16×16384×8192 |")
        self.assertEqual(lines[3], "| m from 1 to 64 | 2 | ×0.949 | 50.0 % | 50.0 % | 100.0 % | ×0.900 | 16×16384×8192 |")
        self.assertEqual([line.split(" | ")[0] for line in lines[4:6]], ["| 257 to 1024", "| above 1024"])
        self.assertIn("4 drawn shapes", lines[-1])

    def test_the_first_choices_of_both_are_beside_each_other(self):
        tried = [{**run, "best16_us": run["median_us"] * 0.8} for run in SWEPT]
        lines = self.table(f"summary {RUNG}", tried)
        self.assertEqual(lines[6].split(" | ")[0], "| all, with the fastest of the first 16 choices")
        self.assertEqual(lines[6].split(" | ")[2], "×1.241")  # 0.9925 / 0.8
        self.assertEqual(lines[7].split(" | ")[:3], ["| all, beside cublasGemmEx's first choice", "4", "×1.241"])

    def test_a_table_may_be_of_another_device(self):
        other = [{**swept(8, 64, 64, 4.0, 2.0), "device": "Other GPU"}]
        results = self.load([*SWEPT, *other, *TUNED])
        self.assertIn("| all | 1 | ×0.500", tables.table(results, f"models summary {RUNG} device=Other"))
        self.assertIn("| all | 4 | ×0.992", tables.table(results, f"models summary {RUNG}"))
        with self.assertRaises(ResultError):
            tables.table(results, f"models summary {RUNG} device=Third")

    def test_each_region_is_beside_its_roof(self):
        lines = self.table(f"regions {RUNG}", ROOFS + SWEPT)
        self.assertEqual(lines[2], "| start: under 4 MB and 1 GFLOP | 1 | start | 100.0 % | 100.0 % | 100.0 % |")
        self.assertEqual(lines[3], "| weights: m up to 64, 128 MB or more | 1 | weights | 84.1 % | 93.5 % | 84.1 % |")
        self.assertEqual(lines[4].split(" | ")[1:], ["1", "tensor cores", "85.9 %", "78.1 %", "85.9 % |"])
        self.assertEqual(lines[5].split(" | ")[:3], ["| all others", "1", "highest"])
        self.assertIn("4.00 µs, 4000 GB/s (`read`), 800 TFLOPS", lines[-1])

    def test_a_launch_that_only_reads_has_a_start_and_an_end(self):
        short = {**roof("read_128_mib", 3200.0, "GB/s"), "median_us": 42.0}  # 134.4 MB, 33.6 µs at 4000 GB/s
        lines = self.table(f"regions {RUNG}", ROOFS + [short] + SWEPT)
        self.assertEqual(lines[4], "| the same | 1 | a launch that only reads as many bytes | 94.6 % | 105.1 % | 94.6 % |")

    def test_without_a_stream_that_is_only_read_a_copy_stands_in(self):
        self.assertIn("3000 GB/s (`copy`)", self.table(f"regions {RUNG}", ROOFS[:1] + ROOFS[2:] + SWEPT)[-1])

    def test_bounds_stand_over_any_shape_measured_or_not(self):
        lines = self.table(f"bounds {RUNG} 16x16384x8192 4096x4096x4096 64x4096x4096", ROOFS + SWEPT + [gemm(RUNG, 190.0)])
        self.assertEqual(lines[2], "| 16×16384×8192 | 268 | 4.29 | 4.00 | **67.3** | 5.37 | 80.0 | 84.1 % |")
        self.assertEqual(lines[3].split(" | ")[5:], ["**172**", "190", "90.4 % |"])  # a run of its own counts
        self.assertEqual(lines[4].split(" | ")[6:], ["not recorded yet", " |"])

    def test_a_kernels_name_says_its_design(self):
        names = {"transposed_64x64_mem": "k in parts", "split_8": "k in parts", "transposed_64x8_x2": "transposed", "narrow_64x64": "narrow"}
        for name, design in names.items():
            self.assertEqual(models_tables.design_of(name), design)

    def test_over_k_the_prediction_stands_before_anything_is_measured(self):
        lines = tables.table(self.load(SWEPT + TUNED), f"over_k {RUNG} 512x256 ping_pong 128x256").split("\n")
        self.assertEqual(lines[2], "| 64 | 1 | 70.9 % | ×1.17 |")
        self.assertEqual(lines[8], "| 4096 | 64 | 3.7 % | ×1.04 |")
        self.assertIn("--sweep k --m 512 --n 256 --tune --variant ping_pong,128x256", lines[-1])
        with self.assertRaises(ResultError):
            tables.table(self.load(SWEPT), f"over_k {RUNG} 512 ping_pong 128x256")

    def test_over_k_one_variant_is_beside_the_fastest_of_the_others(self):
        times = {"ping_pong": 4.0, "128x256": 5.0, "128x128": 4.4, "warp_specialized": 5.0}
        of_k = {**tuned(512, times), "n": 256, "k": 128, "sweep": "k"}
        results = self.load(TUNED + [of_k])
        lines = tables.table(results, f"over_k {RUNG} 512x256 ping_pong 128x256 128x128").split("\n")
        self.assertTrue(lines[2].endswith("|  |  |  |  |"), lines[2])
        self.assertTrue(lines[3].endswith("| 4.00 | 5.00 | 4.40 | ×1.100 |"), lines[3])
        self.assertEqual(models.value(results, RUNG, "tuned"), len(TUNED))

    def test_the_furthest_behind_come_first(self):
        lines = self.table(f"furthest {RUNG} 2", ROOFS + SWEPT)
        self.assertEqual(lines[2], "| 16×16384×8192 | ×0.900 | 80.0 | 72.0 | weights | 84.1 % |")
        self.assertEqual([line.split(" | ")[0] for line in lines[3:5]], ["| 512×4096×1024", ""])

    def test_where_no_kernel_reaches_the_baseline_each_design_has_a_column(self):
        times = {"warp_specialized": 10.2, "128x256": 10.1, "transposed_64x8": 10.5, "transposed_64x8_split": 10.4, "stream_k": 10.3, "vector_1": 15.0}
        of_512 = {**tuned(512, times), "n": 4096}
        ahead = {**tuned(4096, {"128x256": 200.0, "warp_specialized": 200.0}), "n": 4096, "k": 4096, "sweep": None}
        lines = self.table(f"designs {RUNG}", ROOFS + SWEPT + [of_512, ahead])
        self.assertEqual(lines[2], "| 512×4096×1024 | ×0.990 | 10.0 | **10.1** |  | 10.5 | 10.3 | 5.37 | tensor cores |")
        self.assertIn("of 2 drawn shapes at which all kernels were timed, 1", lines[-1])
        self.assertEqual(lines[3], "")
        other_choice = {**ahead, "rung_us": 1.2 * ahead["rung_us"]}
        self.assertIn("of 1 drawn", self.table(f"designs {RUNG}", ROOFS + SWEPT + [of_512, other_choice])[-1])

    def test_regret_is_of_the_rungs_own_choice(self):
        lines = self.table(f"regrets {RUNG}", TUNED)
        self.assertEqual(lines[2], "| all | 20 | 1.25 % | 0.00 % | 25.00 % | 1×1024×1024 | `64x64` |")
        self.assertEqual(lines[4].split(" | ")[:3], ["| 65 to 256", "19", "0.00 %"])

    def test_where_nothing_is_recorded_a_page_says_so_and_is_up_to_date(self):
        marks = [f"<!-- table: models {what} {RUNG} -->\n<!-- /table -->" for what in ("summary", "regions", "furthest", "designs", "regrets")]
        marks += [f"<!-- table: models bounds {RUNG} 1x8x8 -->\n<!-- /table -->"]
        marks += ["<!-- plot: models_map shapes -->\n<!-- /plot -->", f"<!--= percent(models('{RUNG}', 'geomean')) --><!--/-->"]
        once = documents.rewrite("\n".join(marks), Results(), "docs/a.md", self.root)
        self.assertEqual(once.count(NOT_YET), 6)
        self.assertIn("\n*Not recorded yet: shapes.*\n", once)
        self.assertIn("(not recorded yet)", once)
        self.assertEqual(documents.rewrite(once, Results(), "docs/a.md", self.root), once)

    def test_figures_in_prose(self):
        results = self.load(ROOFS + SWEPT + TUNED)
        for call, expected in (
            (f"models('{RUNG}', 'shapes')", "4"),
            (f"models('{RUNG}', 'geomean')", "0.992"),
            (f"models('{RUNG}', 'worst')", "0.900"),
            (f"percent(models('{RUNG}', 'level'))", "50.0 %"),
            (f"models('{RUNG}', 'tuned')", "20"),
            (f"models('{RUNG}', 'corner')", "200"),
            (f"percent(models('{RUNG}', 'regret'))", "1.2 %"),
        ):
            self.assertEqual(values.evaluate(results, call), expected, call)

    def test_waves_are_worked_out(self):
        lines = tables.table(Results(), "waves 1024x4608x3584 132 128x256 152x256 512x512").split("\n")
        self.assertEqual(lines[2], "| 128×256 | 144 | 2 | 54.5 % | 114688 | 54.5 % |")
        self.assertEqual(lines[3], "| 152×256 | 126 | 1 | 95.5 % | 68096 | 91.9 % |")
        self.assertIn("1024×4608×3584 on 132 SMs with 2048 multiply-adds", lines[-1])

    def test_what_is_unknown_is_an_error(self):
        for text in (f"<!-- table: models mood {RUNG} -->\n<!-- /table -->", f"<!--= models('{RUNG}', 'mood') -->1<!--/-->"):
            with self.assertRaisesRegex(ResultError, "there are: "):
                documents.rewrite(text, self.load(SWEPT), "docs/a.md", self.root)
        with self.assertRaisesRegex(ResultError, "unknown plot 'mood'"):
            documents.rewrite("<!-- plot: mood x -->\n<!-- /plot -->", self.load(SWEPT), "docs/a.md", self.root)

    def test_a_tune_record_that_contradicts_itself_is_refused(self):
        times = {"64x64": 4.0, "warp_specialized": 5.0}
        for change, words in (
            ({"fastest_us": 6.0}, "is not the fastest"),
            ({"fastest": "128x128"}, "is not the fastest"),
            ({"variants": None}, "not an object of positive numbers"),
            ({"variants": {"64x64": "4"}}, "not an object of positive numbers"),
        ):
            with self.assertRaisesRegex(ResultError, words):
                self.load([tuned(1, times, **change)])

    def test_the_other_tables_are_without_them(self):
        self.assertEqual(self.load(SWEPT).runs, [])


@unittest.skipUnless(models_charts, "matplotlib is absent")
class Charts(InFolder):
    def setUp(self):
        super().setUp()
        style.setup()

    def test_only_what_is_recorded_is_drawn(self):
        self.assertEqual(set(models_charts.all_charts(self.load([]))), set())
        self.assertEqual(set(models_charts.all_charts(self.load(SWEPT))), {"models_ratios"}, "a map needs roofs")
        self.assertEqual(set(models_charts.all_charts(self.load(ROOFS + SWEPT))), {"models_ratios", "models_map"})
        self.assertEqual(set(models_charts.all_charts(self.load(TUNED))), {"models_regret"})

    def test_the_regions_meet_where_all_roofs_are_equal(self):
        over = models.roofs(self.load(ROOFS + SWEPT), RUNG)
        m, weights = models_charts.corner(over)
        self.assertEqual((m, weights), (200.0, 16e6))
        self.assertAlmostEqual(weights / over.read, over.start)
        self.assertAlmostEqual(m * weights / over.tensor, over.start)

    def test_the_map_has_each_shape_once_with_its_mark(self):
        figure = models_charts.all_charts(self.load(ROOFS + SWEPT))["models_map"]()
        dots = [point for kind in figure.axes[0].collections for point in kind.get_offsets().tolist()]
        self.assertEqual(sorted(m for m, _ in dots), [1, 16, 512, 4096])
        self.assertEqual([models_charts.mark(beside) for beside in (0.96, 0.97, 1.0, 1.03)], ["v", "o", "o", "^"])

    def test_every_ratio_is_in_a_bar_and_none_is_on_the_wrong_side(self):
        more = [swept(2, 8, 8 * i, 100.0, us) for i, us in enumerate((50.0, 99.99, 100.0, 102.0, 131.0), start=1)]
        axes = models_charts.all_charts(self.load(SWEPT + more))["models_ratios"]().axes[0]
        bars = [(round(bar.get_x(), 2), bar.get_height()) for bar in axes.patches if bar.get_height()]
        self.assertEqual(sum(height for _, height in bars), 9)
        self.assertEqual(sum(height for left, height in bars if left < 1), 4)
        self.assertIn("behind: 44.4 %", [text.get_text() for text in axes.texts])

    def test_a_page_gets_its_plot_with_the_first_record(self):
        page = self.root / "README.md"
        page.write_text("<!-- plot: models_ratios how it stands -->\n<!-- /plot -->\n", encoding="utf-8")
        self.write([gemm(RUNG, 190.0)])
        self.assertEqual(self.run_plot("--docs")[0], 0)
        self.assertIn("Not recorded yet: how it stands", page.read_text(encoding="utf-8"))
        self.write(SWEPT)
        code, text = self.run_plot("--docs")
        self.assertEqual(code, 0, text)
        self.assertIn("![how it stands](docs/plots/models_ratios.svg)", page.read_text(encoding="utf-8"))
        self.assertTrue((self.root / "docs/plots/models_ratios.svg").is_file())
        code, text = self.run_plot("--check")
        self.assertIn(code, (0, 2), text)  # 2: its bytes are compared with the pinned matplotlib only

    def test_a_readers_own_sweep_is_drawn(self):
        code, text = self.run_plot(self.write(SWEPT, "own.jsonl"), "--out", self.root / "own")
        self.assertEqual(code, 0, text)
        self.assertTrue((self.root / "own/models_ratios.svg").is_file())


if __name__ == "__main__":
    unittest.main()
