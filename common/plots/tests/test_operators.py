"""Tests of operator_tables.py."""

from common.plots.pages import tables, values
from common.plots.records.error import ResultError
from common.plots.tests.fixture import InFolder, grouped, linear, norm, row_operator


class Operators(InFolder):
    def test_without_records_the_command_is_named(self):
        results = self.load([norm("03_vectorized", 260.0)])
        for what in "rows", "fusing":
            self.assertIn("Not recorded yet", tables.table(results, f"{what} 16384x8192"))

    def test_bytes_depend_on_what_a_variant_computes(self):
        few = {"rows": 1, "cols": 8192}
        self.load([row_operator("03_vectorized", 5.0, variant, **few) for variant in ("layer_norm", "softmax")])
        wrong = {**row_operator("03_vectorized", 5.0, "layer_norm", **few), "variant": "softmax"}
        with self.assertRaises(ResultError):
            self.load([wrong])

    def test_rungs_stand_below_each_other(self):
        results = self.load(
            [
                row_operator("01_coalesced", 260.0, "softmax", 0),
                row_operator("03_vectorized", 130.0, "layer_norm", 0),
                row_operator("03_vectorized", 125.0, "softmax", 1, is_rung=True),
            ]
        )
        rows = [line for line in tables.table(results, "rows 16384x8192").splitlines() if line.startswith("| `")]
        self.assertEqual(len(rows), 3)
        self.assertIn("| 50.0 % |", rows[0])
        self.assertIn("| `layer_norm` | 130 |", rows[1])
        of_one = tables.table(results, "ablation 03_vectorized row_operator")
        self.assertNotIn("×1.040", of_one)  # what computes something else is not compared with the rung

    def test_groups_stand_by_their_average_rows_each_tile_beside_the_choice(self):
        few = {"m": 80, "tflops": 2 * 80 * 2048 * 4096 / 50.0 / 1e6}
        tiles = [grouped(120.0, "grouped_64x16", 0, False), grouped(101.0, "grouped_128x64", 1, False)]
        results = self.load([*tiles, grouped(100.0, "grouped", 2), grouped(50.0, "grouped", 2, **few)])
        lines = tables.table(results, "grouped 08_warp_specialized").splitlines()
        self.assertIn("| 8 groups, 80×2048×4096 | 10.0 |", lines[2])
        self.assertIn("| 8 groups, 1000×2048×4096 | 125 | 120 | **101** | 100 |", lines[3])
        self.assertIn("Not recorded yet", tables.table(self.load([norm("03_vectorized", 260.0)]), "grouped 08_warp_specialized"))

    def test_widths_stand_in_order_each_beside_the_other_rung(self):
        every = {"variant": "every_width", "variant_index": 1, "is_rung": False}
        narrow = {**norm("08_warp_specialized", 260.0, rows=131072, cols=1024), **every}
        results = self.load([{**norm("08_warp_specialized", 260.0), **every}, narrow, norm("03_vectorized", 520.0)])
        lines = tables.table(results, "widths 08_warp_specialized every_width 03_vectorized").splitlines()
        self.assertTrue(lines[2].startswith("| 1024 | 131072 |") and lines[2].endswith("| 100.0 % |  |"), lines[2])
        self.assertTrue(lines[3].startswith("| 8192 | 16384 |") and lines[3].endswith("| 100.0 % | 50.0 % |"), lines[3])

    def test_versions_stand_by_revision_the_latest_last(self):
        older = {**norm("03_vectorized", 520.0), "revision": "older"}
        newer = {**norm("03_vectorized", 260.0), "revision": "newer"}
        elsewhere = {**norm("03_vectorized", 130.0), "revision": "elsewhere", "device": "Other GPU 2"}
        results = self.load([elsewhere, elsewhere, older, newer])
        name = f"versions 03_vectorized fused_norm {newer['variant']}"
        lines = tables.table(results.on("test"), f"{name} 16384x8192").splitlines()
        self.assertEqual(lines[0], "| shape | of copy at `older` | of copy at `newer` |")
        self.assertEqual(lines[2], "| 16384×8192 | 50.0 % | 100.0 % |")
        self.assertIn("Not recorded yet", tables.table(results.on("test"), f"{name} 3x3"))

    def test_ends_of_a_launch_are_what_the_rows_do_not_account_for(self):
        few = norm("03_vectorized", 28.0, rows=100, copy_us=22.0)
        many = norm("03_vectorized", 103.0, rows=400, copy_us=82.0)
        lines = tables.table(self.load([many, few]), "ends 03_vectorized vectorized 8192 4096").splitlines()
        self.assertEqual(lines[2], "| 8192 | 80.0 % | 3.0 | 2.0 | 100 | 78.6 % | 81.5 % |")
        self.assertEqual(len(lines), 5)  # nothing of 4096 columns
        nearly = norm("03_vectorized", 29.0, rows=110, copy_us=23.0)
        self.assertIn("Not recorded yet", tables.table(self.load([few, nearly]), "ends 03_vectorized vectorized 8192"))

    def test_passes_of_the_fused_norm(self):
        rung = norm("03_vectorized", 260.0)
        unfused = {**norm("03_vectorized", 325.0), "variant": "unfused", "variant_index": 1, "is_rung": False}
        results = self.load([{**rung, "variant_index": 2}, unfused])
        rows = [line for line in tables.table(results, "fusing 16384x8192").splitlines() if line.startswith("| `")]
        self.assertEqual(len(rows), 2)
        self.assertIn("| `unfused` | 5 | 325 |", rows[0])
        self.assertIn("| ×1.250 |", rows[0])
        self.assertIn("(the rung) | 4 | 260 |", rows[1])

    def test_epilogues_stand_beside_the_fastest_other_way(self):
        results = self.load([linear(1000.0, "gelu", product_us=900.0), linear(1900.0, "swiglu", 1, is_rung=True)])
        rows = [line for line in tables.table(results, "linear 8192x14336x4096").splitlines() if line.startswith("| `")]
        self.assertIn("| `gelu` | 962 | `chain` | ×1.100 | 90.0 % |", rows[0])
        self.assertIn("| `swiglu` | 1013 |", rows[1])  # of two products
        self.assertIn("Not recorded yet", tables.table(self.load([norm("03_vectorized", 260.0)]), "linear 8192x14336x4096"))

    def test_another_device_is_shown_where_it_is_named(self):
        norms = [norm(rung, 250.0) for rung in ("02_smem_tiling", "03_vectorized")]
        results = self.load([*norms, {**row_operator("03_vectorized", 130.0, "softmax"), "device": "Other GPU 2"}])
        self.assertEqual(results.device, "Test GPU")
        self.assertIn("Not recorded yet", tables.table(results, "rows 16384x8192"))
        there = tables.table(results, "rows 16384x8192 device=other")
        self.assertIn("| `softmax` | 130 |", there)
        self.assertIn("Other GPU 2, CUDA", there)
        self.assertEqual(values.evaluate(results, 'us("03_vectorized:softmax", "row_operator", "16384x8192", device="2")'), "130")
        of_two = 'quotient(us("03_vectorized:softmax", "row_operator", "16384x8192", device="2"), us("03_vectorized", "fused_norm", "16384x8192"))'
        self.assertEqual(values.evaluate(results, of_two), "0.520")
        for nothing in "gpu", "third":  # no device, or several
            with self.assertRaises(ResultError):
                tables.table(results, f"rows 16384x8192 device={nothing}")
