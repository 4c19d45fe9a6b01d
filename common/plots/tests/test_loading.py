"""Tests of results.py: which records are taken, and how they are found."""

from common.plots.pages.values import evaluate
from common.plots.records.error import ResultError
from common.plots.tests.fixture import InFolder, gemm, power, roof, simulated


class Loading(InFolder):
    def fails(self, records, *words):
        with self.assertRaises(ResultError) as caught:
            self.load(records)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_a_malformed_line_is_named(self):
        self.fails([gemm("00_naive", 5.0), "{not json\n"], "a.jsonl:2:", "not JSON")
        self.fails(["[]\n"], "a.jsonl:1:", "not a JSON object")
        self.fails([{**gemm("00_naive", 5.0), "record": "walk"}], "a.jsonl:1:", "walk")
        self.fails([{**gemm("00_naive", 5.0), "problem": "gem"}], "a.jsonl:1:", "gem")
        self.fails([{**gemm("00_naive", 5.0), "m": "4096"}], "a.jsonl:1:", '"m"')
        self.fails([{**gemm("00_naive", 5.0), "median_us": -1}], "a.jsonl:1:", '"median_us"')
        self.fails([{**roof("copy", 1.0, "GB/s"), "unit": "km/h"}], "a.jsonl:1:", "km/h")
        self.fails([{**power(5.0), "series": {"seconds": [1], "sm_clock_mhz": [], "power_w": [5]}}], "a.jsonl:1:", "series")

    def test_a_readers_own_program_has_a_name_without_a_number(self):
        results = self.load([gemm("my_gemm", 5.0), gemm("05_mma_sync", 6.0)])
        self.assertEqual(results.rungs("gemm"), ["05_mma_sync", "my_gemm"])
        self.fails([gemm("5_mma_sync", 5.0)], "a.jsonl:1:", "two-digit number")
        self.fails([gemm("", 5.0)], "a.jsonl:1:", "two-digit number")

    def test_a_program_with_a_kernel_for_every_shape_is_no_rung(self):
        runs = [gemm("08_warp_specialized", 5.0), *(gemm("every_shape", 4.0, variant=name) for name in ("one", "two"))]
        odd = {**gemm("every_shape", 5.0), **{name: 4095 for name in "mnk"}, "tflops": 2 * 4095**3 / 5.0 / 1e6}
        results, shape = self.load([*runs, odd]), "4096x4096x4096"
        self.assertEqual(results.rungs("gemm"), ["08_warp_specialized"])
        self.assertEqual(results.programs("gemm"), ["08_warp_specialized", "every_shape"])
        self.assertEqual([run["rung"] for run in results.ladder("gemm", shape)], ["08_warp_specialized"])
        self.assertEqual(results.shapes("gemm"), [shape])
        self.assertEqual(results.shapes("gemm", "every_shape"), ["4095x4095x4095", shape])
        self.assertEqual(results.ablations(), {("every_shape", "gemm"): [shape]})

    def test_a_score_that_contradicts_its_time_is_refused(self):
        self.fails([{**gemm("00_naive", 5.0), "tflops": 1.0}], "a.jsonl:1:", "its shape and time give")

    def test_an_unverified_run_is_refused(self):
        self.fails([{**gemm("00_naive", 5.0), "verified": False}], "a.jsonl:1:", "not verified")
        missing = gemm("00_naive", 5.0)
        del missing["verified"]
        self.fails([missing], "not verified")

    def test_the_exit_status_is_2(self):
        code, text = self.run_plot(self.write(["oops\n"], "bad.jsonl"))
        self.assertEqual(code, 2)
        self.assertIn("bad.jsonl:1:", text)
        self.assertEqual(self.run_plot(self.root / "absent.jsonl")[0], 2)

    def test_the_last_line_of_a_measurement_wins(self):
        results = self.load([gemm("00_naive", 9.0), gemm("00_naive", 7.0), gemm("00_naive", 5.0, size=512)])
        self.assertEqual(len(results.runs), 2)
        self.assertEqual(results.run("00_naive", "gemm", "4096x4096x4096")["median_us"], 7.0)

    def test_simulated_and_untimed_runs_are_not_plotted(self):
        untimed = gemm("02_smem_tiling", 1.0)
        del untimed["median_us"]
        results = self.load([gemm("00_naive", 9.0), simulated("01_coalesced", {"loads": 3}), untimed])
        self.assertEqual(results.rungs("gemm"), ["00_naive"])
        self.assertEqual(results.device, "Test GPU")

    def test_of_several_devices_one_is_shown(self):
        other = {**gemm("00_naive", 9.0, size=512), "device": "Other GPU"}
        records = [gemm("00_naive", 9.0), gemm("01_coalesced", 9.0), other]
        self.assertEqual(self.load(records).device, "Test GPU")
        self.assertEqual([r["device"] for r in self.load(records, device="Other GPU").runs], ["Other GPU"])
        with self.assertRaises(ResultError):
            self.load(records, device="No GPU")

    def test_the_rung_itself_is_its_last_variant(self):
        results = self.load(
            [gemm("01_coalesced", 4.0, index=1), gemm("01_coalesced", 8.0, variant="plain", is_rung=False)]
        )
        shape = "4096x4096x4096"
        self.assertEqual(
            [v["variant"] for v in results.variants("01_coalesced", "gemm", shape)], ["plain", "coalesced"]
        )
        self.assertEqual(results.run("01_coalesced", "gemm", shape)["median_us"], 4.0)
        self.assertEqual(results.ablations(), {("01_coalesced", "gemm"): [shape]})

    def test_a_run_beside_a_part_of_l2_set_aside_is_kept_apart(self):
        results = self.load([gemm("00_naive", 9.0, l2_set_aside_mib=30), gemm("00_naive", 8.0)])
        self.assertEqual([run["median_us"] for run in results.runs], [8.0])
        own = results.own_variant("00_naive", "gemm")
        for text, us in (('us("00_naive", "gemm", "4096x4096x4096")', "8.00"), (f'us("00_naive:{own}", "gemm", "4096x4096x4096", l2_set_aside=30)', "9.00")):
            self.assertEqual(evaluate(results, text), us)
        self.assertEqual(evaluate(results, f'if_recorded(us("00_naive:{own}", "gemm", "4096x4096x4096", l2_set_aside=9))'), "not recorded yet")

    def test_the_usual_ablation_is_the_first(self):
        def at(*sizes):
            runs = [(size, name) for size in sizes for name in ("coalesced", "plain")]
            return self.load([gemm("01_coalesced", 4.0, size=size, variant=name) for size, name in runs])

        of = ("01_coalesced", "gemm")
        self.assertEqual(at(512, 8192, 4096).ablations()[of], [f"{n}x{n}x{n}" for n in (4096, 512, 8192)])
        self.assertEqual(at(512, 8192).ablations()[of], [f"{n}x{n}x{n}" for n in (8192, 512)])
