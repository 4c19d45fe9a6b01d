"""Tests of what is drawn: they need matplotlib, and are skipped without it."""

import subprocess
import sys
import unittest

from common.plots.records.error import ResultError
from common.plots.tests.fixture import EVERYTHING, PLOTS, TRACES, InFolder, gemm

try:
    import matplotlib

    from common.plots import style
    from common.plots.pictures import banks, four_roles, fp8, fragments, roles, split, tcgen05, tma
    from common.plots.pictures import timeline as timelines
    from common.plots.pictures.all import all_pictures
except ImportError:
    matplotlib = None

needs_matplotlib = unittest.skipUnless(
    matplotlib, "matplotlib is absent; `cmake --build build --target plots` makes a venv with it"
)


@needs_matplotlib
class Drawing(InFolder):
    def drawn(self, name):
        """In a process of its own, so that nothing carries over."""
        out = self.root / name
        subprocess.run(
            [sys.executable, "-B", "-m", "common.plots.plot", "--root", str(self.root), "--out", str(out)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return {path.name: path.read_bytes() for path in out.iterdir()}

    def test_a_readers_own_program_looks_like_no_rung(self):

        looks = [style.rung_look(f"{number:02}_name") for number in range(10)]
        own = style.rung_look("my_gemm")
        for of in ("color", "marker"):
            self.assertNotIn(own[of], [look[of] for look in looks])
        self.write([gemm(rung, us, size) for rung, us in (("05_mma_sync", 9.0), ("my_gemm", 7.0)) for size in (512, 4096)])
        self.assertLessEqual({"ladder_gemm.svg", "sweep_gemm.svg"}, set(self.drawn("own")))

    def test_two_processes_draw_the_same_bytes(self):
        self.write(EVERYTHING + TRACES)
        first, second = self.drawn("first"), self.drawn("second")
        self.assertEqual(first, second)
        self.assertLessEqual(
            {
                "ladder_gemm.svg",
                "ladder_norm.svg",
                "roofline.svg",
                "sweep_gemm.svg",
                "sweep_norm.svg",
                "ablation_01_coalesced_gemm.svg",
                "access_00_naive.svg",
                "access_01_coalesced.svg",
                "access_03_vectorized.svg",
                "warp_reduction.svg",
                "tiling_02.svg",
                "banks_02.svg",
                "banks_03.svg",
                "banks_05.svg",
                "banks_06.svg",
                "fragments_05.svg",
                "layout_07.svg",
                "memory_map_09.svg",
                "multicast_08.svg",
                "pair_09.svg",
                "scales_09.svg",
                "split_k.svg",
                "fp8_sums_08.svg",
                "timeline_04.svg",
                "timeline_09.svg",
                "vector_03.svg",
                "norm_rows.svg",
            },
            set(first),
        )
        for name, svg in first.items():
            self.assertNotIn(b"<dc:date>", svg, name)

    def test_an_ablation_at_another_size_has_a_name_of_its_own(self):
        runs = [gemm("01_coalesced", 4.0, size, name) for size in (512, 4096) for name in ("coalesced", "plain")]
        self.write(runs)
        drawn = set(self.drawn("ablations"))
        self.assertLessEqual({"ablation_01_coalesced_gemm.svg", "ablation_01_coalesced_gemm_512.svg"}, drawn)

    def test_without_roofs_there_is_no_roofline(self):
        code, text = self.run_plot(self.write([gemm("00_naive", 9.0)], "own.jsonl"), "--out", self.root / "own")
        self.assertEqual(code, 0, text)
        self.assertEqual([path.name for path in (self.root / "own").iterdir()], ["ladder_gemm.svg"])

    def test_pictures_need_no_results_but_some_need_traces(self):
        worked_out = {"layout_07", "memory_map_09", "multicast_08", "pair_09", "scales_09", "split_k", "tiling_02"}
        worked_out |= {"vector_03", "warp_reduction", "norm_gemm_08", "precision_formats", "sparse_metadata"}
        worked_out |= {"fp8_sums_08"}
        self.assertEqual(set(self.drawn("none")), {f"{name}.svg" for name in worked_out})
        self.write(TRACES)
        drawn = self.drawn("traces")
        self.assertIn("banks_02.svg", drawn)
        self.assertNotIn("ladder_gemm.svg", drawn)
        other = {"addresses": [4 * lane for lane in range(32)]}
        self.write(
            [
                {**trace, **other} if trace["rung"] == "02_smem_tiling" and trace["ptx"] == "ld.shared.u16" else trace
                for trace in TRACES
            ]
        )
        changed = {name for name, svg in self.drawn("others").items() if svg != drawn[name]}
        self.assertEqual(changed, {"banks_02.svg"})

    def test_own_results_touch_no_doc(self):
        self.write(EVERYTHING)
        doc = self.root / "README.md"
        doc.write_text("<!--= roof('copy') -->1<!--/-->\n", encoding="utf-8")
        code, text = self.run_plot(self.write(EVERYTHING, "own.jsonl"), "--out", self.root / "own")
        self.assertEqual(code, 0, text)
        self.assertIn(">1<", doc.read_text(encoding="utf-8"))
        self.assertFalse((self.root / "docs" / "plots").exists())
        self.assertFalse((self.root / "own" / "tiling_02.svg").exists())

    def test_check_names_what_is_stale(self):
        pinned = next(
            line[12:]
            for line in (PLOTS / "requirements.txt").read_text().split("\n")
            if line.startswith("matplotlib==")
        )
        if matplotlib.__version__ != pinned:
            self.assertEqual(self.run_plot("--check")[0], 2)
            self.skipTest(f"bytes are compared with matplotlib {pinned} only")
        self.write(EVERYTHING + TRACES)
        page = "<!--= roof('copy') --><!--/-->\n" + "".join(f"![](docs/plots/{name}.svg)" for name in ("ladder_gemm", "banks_02", "tiling_02"))
        (self.root / "README.md").write_text(page, encoding="utf-8")
        self.assertEqual(self.run_plot("--docs")[0], 0)
        drawn = sorted(path.name for path in (self.root / "docs" / "plots").iterdir())
        self.assertEqual(drawn, ["banks_02.svg", "ladder_gemm.svg", "tiling_02.svg"])
        code, text = self.run_plot("--check")
        self.assertEqual(code, 0, text)
        self.write(EVERYTHING + TRACES + [gemm("00_naive", 300000.0)])
        (self.root / "README.md").write_text(page, encoding="utf-8")
        (self.root / "docs" / "plots" / "banks_02.svg").unlink()
        (self.root / "docs" / "plots" / "old.svg").write_text("<svg/>")
        code, text = self.run_plot("--check")
        self.assertEqual(code, 1)
        self.assertIn("README.md: generated text is out of date", text)
        self.assertIn("docs/plots/ladder_gemm.svg: out of date", text)
        self.assertNotIn("tiling_02", text)
        self.assertIn("docs/plots/banks_02.svg: missing", text)
        self.assertIn("docs/plots/old.svg: nothing draws it any more", text)


@needs_matplotlib
class Layouts(InFolder):
    """Where a picture's elements lie, against what PTX's documentation and the kernels' comments say."""

    def test_fragments(self):
        held = fragments.fragments(self.load(TRACES))
        a, b, c = {}, {}, {}
        for lane in range(32):
            g, t = divmod(lane, 4)
            for r in range(4):
                for half in range(2):
                    a[g + r % 2 * 8, 2 * t + half + r // 2 * 8] = (lane, r, half)
                c[g + r // 2 * 8, 2 * t + r % 2] = (lane, r, 0)
            for r in range(2):
                for half in range(2):
                    b[2 * t + half + r * 8, g] = (lane, r, half)
        self.assertEqual(held, {"A": a, "B": b, "C": c})

    def test_what_ldmatrix_reads(self):
        place = {  # of chunk c of row r, in chunks of 16 bytes
            "unswizzled": lambda r, c: 8 * r + c,
            "padded": lambda r, c: 9 * r + c,
            "swizzle_ldmatrix": lambda r, c: 8 * r + (c ^ r),
        }
        for variant, chunk_at in place.items():
            loads = [t for t in TRACES if (t["rung"], t["variant"]) == ("06_swizzle_ldmatrix", variant)]
            found = banks.matrices(loads)
            self.assertEqual(len(found), 8, variant)
            for c, rows in enumerate(found):
                expected = [found[0][0] + 16 * chunk_at(r, c) for r in range(8)]
                self.assertEqual(rows, expected, f"{variant}, chunk {c}")
            conflicts = 8 if variant == "unswizzled" else 1
            self.assertEqual({load["wavefronts"] for load in loads}, {4 * conflicts}, variant)


    def test_what_lies_in_tensor_memory(self):
        for arguments, sets in (((False, 6), 0), ((True, 5, 32, 8), 5), ((True, 5, 16, 4), 2)):
            found = tcgen05.regions(*arguments)
            self.assertEqual(len(found), 2 + sets)
            self.assertLessEqual(max(region.first + region.columns for region in found), 512)
            scales = [region for region in found if region.name.startswith("scales")]
            first, second = found[:2]
            self.assertEqual(second.first, first.columns // (2 if sets else 1))
            for left, right in zip([second, *scales], scales):
                self.assertLessEqual(left.first + left.columns, right.first)

    def test_a_tile_of_scales_is_full_and_each_word_has_the_four_blocks_of_a_row(self):
        place = {tcgen05.scale_offset(row, block): (row, block) for row in range(128) for block in range(4)}
        self.assertEqual(set(place), set(range(512)))
        for offset, (row, block) in place.items():
            self.assertEqual(tcgen05.in_tensor_memory(offset), (row % 32, row // 32, block))

    def test_a_pair_has_all_of_a_and_b_once(self):
        parts = [tcgen05.pair_part(rank) for rank in (0, 1)]
        for operand in ("A", "B", "D rows"):
            covered = [first + i for first, count in (part[operand] for part in parts) for i in range(count)]
            self.assertEqual(covered, list(range(256)), operand)


@needs_matplotlib
class Inside(InFolder):
    def test_it_is_drawn_by_rung(self):
        record = {"record": "inside", "rung": "08_warp_specialized", "problem": "gemm", "variant": "warp_specialized"}
        record |= {"m": 64, "n": 64, "k": 64, "device": "Test GPU", "plain_us": 100.0, "traced_us": 103.0}
        record["warps"] = [{"warp": 0, "name": "producer"}, {"warp": 4, "name": "consumer"}]
        record["bars"] = [[0, "load", -0.5, 1.0, 0, 3], [4, "multiply", 0.0, 6.0, 0, 3], [4, "store", 6.0, 9.0, 0, 0]]
        drawings = all_pictures(self.load([record]))
        self.assertIn("inside_08", drawings)
        figure = drawings["inside_08"]()
        texts = [text.get_text() for text in figure.axes[0].texts]
        self.assertIn("producer", texts)
        self.assertIn("3", texts)
        self.assertEqual(figure.axes[0].get_xlim(), (0.0, 12.0))
        self.assertNotIn("inside_08", all_pictures(self.load([])))

    def test_of_a_cta_without_roles_all_is_shown(self):
        record = {"record": "inside", "rung": "04_cp_async", "problem": "gemm", "variant": "cp_async"}
        record |= {"m": 64, "n": 64, "k": 64, "device": "Test GPU", "plain_us": 100.0, "traced_us": 99.0}
        record["warps"] = [{"warp": 0, "name": "warp 0"}]
        record["bars"] = [[0, "load", 0.0, 1.0, 0, 0], [0, "multiply", 1.0, 20.0, 0, 3], [0, "store", 21.0, 9.0, 0, 0]]
        axes = all_pictures(self.load([record]))["inside_04"]().axes[0]
        self.assertEqual(axes.get_xlim(), (0.0, 30.0))
        texts = " ".join(text.get_text() for text in axes.texts)
        self.assertIn("from the first k-tile to the store", texts)
        self.assertIn("costs nothing that can be told from noise", texts)


@needs_matplotlib
class Timelines(InFolder):
    def bars(self, variant):
        return timelines.bars(self.load(TRACES).timeline("04_cp_async", "gemm", variant))

    def test_a_k_tile_is_copied_then_widened_then_multiplied(self):
        copy, widen, multiply = timelines.LOOKS
        for variant, stages in (("blocking", 1), ("1_stage", 1), ("cp_async", 4)):
            for k_tile in range(8):
                mine = sorted((bar for bar in self.bars(variant) if bar.k_tile == k_tile), key=lambda bar: bar.begin)
                stage, tile = ("stage", k_tile % stages), ("tile", k_tile % 2)
                self.assertEqual(
                    [(bar.row, bar.what) for bar in mine],
                    [(stage, copy), (stage, widen), (tile, widen), (tile, multiply)],
                    f"{variant}, k-tile {k_tile}",
                )
                for earlier, later in zip(mine, mine[1:]):
                    self.assertLess(earlier.begin, later.begin)
                    self.assertLessEqual(earlier.end, later.begin if earlier.what == copy else later.end)

    def test_more_stages_leave_more_time(self):
        blocking, one, four = (
            timelines.time_to_arrive(self.bars(variant)) for variant in ("blocking", "1_stage", "cp_async")
        )
        self.assertLess(blocking, 10)
        self.assertGreater(one, 1000)
        self.assertAlmostEqual(four / one, 4, delta=0.5)

    def test_a_copy_that_is_read_before_it_is_waited_for_is_refused(self):
        timeline = self.load(TRACES).timeline("04_cp_async", "gemm", "cp_async")
        steps = [step for step in timeline["steps"] if step["step"] != "wait"]
        with self.assertRaisesRegex(ResultError, "is read before it is there"):
            timelines.bars({**timeline, "steps": steps})

    def test_the_replay_of_four_roles(self):
        played = four_roles.replay(self.load(TRACES))
        looks = four_roles
        for what, numbers in (
            *((what, range(18)) for what in (looks.COPY, looks.LANDED, looks.MULTIPLY)),
            *((what, range(3)) for what in (looks.SUMS, looks.READ)),
            (looks.STORE, [tile for tile in range(3) for _ in range(4)]),
            (looks.ANSWER, range(1, 4)),
        ):
            self.assertEqual(sorted(bar.number for bar in played.bars if bar.what == what), list(numbers), what)
        for row in {bar.row for bar in played.bars}:
            mine = sorted((bar for bar in played.bars if bar.row == row), key=lambda bar: bar.begin)
            for earlier, later in zip(mine, mine[1:]):
                self.assertLessEqual(earlier.end, later.begin, row)
        read = {bar.number: bar for bar in played.bars if bar.what == looks.READ}
        made = {bar.number: bar for bar in played.bars if bar.what == looks.SUMS}
        self.assertLess(made[1].begin, read[0].end)  # the next tile's products do not wait for the epilogue
        self.assertLessEqual(read[0].end, made[2].begin)  # but those that overwrite the sums do

    def test_four_roles_that_wait_for_ever_are_refused(self):
        results = self.load(TRACES)
        timelines = {
            warp: results.timeline("09_tcgen05", "gemm", "launch_control", warp) for warp in four_roles.ROLES
        }
        steps = [step for step in timelines[1]["steps"] if step["step"] != "arrive"]
        with self.assertRaisesRegex(ResultError, "for ever"):
            four_roles.Replay({**timelines, 1: {**timelines[1], "steps": steps}})

    def test_the_ctas_of_a_cluster_load_every_part_of_a_stage_once(self):
        for cluster_m, cluster_n in ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1)):
            asked = roles.loads(cluster_m, cluster_n)
            for rank in range(cluster_m * cluster_n):
                arrives = [load for load in asked if rank in load.to]
                for operand, parts in (("A", roles.STAGE_ROWS), ("B", roles.BOXES_B)):
                    mine = [load for load in arrives if load.operand == operand]
                    covered = [load.first + i for load in mine for i in range(load.count)]
                    self.assertEqual(sorted(covered), list(range(parts)))
                self.assertEqual(len({load.by for load in arrives}), cluster_m + cluster_n - 1)

    def test_every_column_of_a_split_tile_gets_every_part_once(self):
        for cluster_k in (2, 4, 8):
            sent = split.parts(cluster_k)
            for group in range(split.GROUPS):
                mine = [part for part in sent if part.first <= group < part.first + part.count]
                self.assertEqual({part.by for part in mine}, set(range(cluster_k)))
                self.assertEqual(len({part.to for part in mine}), 1)
            tile = 64 * 64 * 4
            self.assertEqual(split.bytes_received(cluster_k, 0), tile - tile // cluster_k)

    def test_a_product_loses_what_is_cut_below_the_sum(self):
        for sum_exponent in range(-20, 30):
            kept, lost = fp8.arrives(sum_exponent, 1)
            self.assertEqual(kept + lost, fp8.PRODUCT)
            unit = 2.0 ** (max(sum_exponent, 1) - 13)
            product = sum(2.0 ** (1 - bit) for bit in range(fp8.PRODUCT))  # all bits set
            arrived = sum(2.0 ** (1 - bit) for bit in range(kept))
            self.assertEqual(arrived, product // unit * unit)

    def test_eight_rows_of_a_box_meet_all_banks(self):
        for width in (16, 32, 64, 128):
            for chunk in range(width // 16):
                places = {tma.place(row, chunk, width) % 128 for row in range(8)}
                self.assertEqual(places, set(range(0, 128, 16)), f"chunk {chunk} of rows of {width} bytes")
        # As PTX ISA's tables of the swizzling modes have it: which chunk lies at the second row of 128 bytes.
        row = {tma.place(1, chunk, 128) // 16 - 8: chunk for chunk in range(8)}
        self.assertEqual([row[at] for at in range(8)], [1, 0, 3, 2, 5, 4, 7, 6])


if __name__ == "__main__":
    unittest.main()
