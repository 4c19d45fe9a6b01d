"""Tests of common/plots. Plain Python runs all but those that draw; `test_plots.py VENV` uses that venv if there."""

import io
import os
import subprocess
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from records import (  # first: it makes the modules below findable
    COUNTED,
    EVERYTHING,
    PLOTS,
    TRACES,
    InFolder,
    gemm,
    power,
    profile,
    roof,
    simulated,
)

import links  # noqa: E402
import memory  # noqa: E402
import picture_inside  # noqa: E402
import tables  # noqa: E402
from results import ResultError, Results  # noqa: E402
from test_drawing import Drawing, Inside, Layouts, Timelines  # noqa: E402, F401 (run with the others)
from test_memory_ways import MemoryWays  # noqa: E402, F401
from test_models import Charts, Models  # noqa: E402, F401
from test_operators import Operators  # noqa: E402, F401
from test_pages import InTurns, Pages  # noqa: E402, F401
from test_precisions import Precisions  # noqa: E402, F401
from values import evaluate, figure, percent  # noqa: E402


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
        for text, us in (("us 00_naive gemm 4096x4096x4096", "8.00"), (f"us 00_naive:{own} gemm 4096x4096x4096 l2_set_aside=30", "9.00")):
            self.assertEqual(evaluate(results, text), us)
        self.assertEqual(evaluate(results, f"if_recorded us 00_naive:{own} gemm 4096x4096x4096 l2_set_aside=9"), "not recorded yet")

    def test_the_usual_ablation_is_the_first(self):
        def at(*sizes):
            runs = [(size, name) for size in sizes for name in ("coalesced", "plain")]
            return self.load([gemm("01_coalesced", 4.0, size=size, variant=name) for size, name in runs])

        of = ("01_coalesced", "gemm")
        self.assertEqual(at(512, 8192, 4096).ablations()[of], [f"{n}x{n}x{n}" for n in (4096, 512, 8192)])
        self.assertEqual(at(512, 8192).ablations()[of], [f"{n}x{n}x{n}" for n in (8192, 512)])


class Values(InFolder):
    def setUp(self):
        super().setUp()
        self.results = self.load(EVERYTHING)

    def value(self, text):
        return evaluate(self.results, text)

    def test_figures(self):
        self.assertEqual(
            [figure(v) for v in (0.00123, 0.9999, 9.994, 12.34, 99.96, 4295.4, 3)],
            ["0.00123", "1.00", "9.99", "12.3", "100", "4295", "3"],
        )
        self.assertEqual([percent(v) for v in (0.000449, 0.9134, 1.02)], ["0.045 %", "91.3 %", "102.0 %"])

    def test_expressions(self):
        cube = "4096x4096x4096"
        for text, expected in (
            (f"tflops 01_coalesced gemm {cube}", "6.87"),
            (f"tflops 01_coalesced:plain gemm {cube}", "5.50"),
            (f"tflops 01_coalesced gemm {cube} variant=plain", "5.50"),
            ("gbps 01_coalesced fused_norm 16384x8192", "2684"),
            (f"us 01_coalesced gemm {cube}", "20000"),
            (f"ratio 01_coalesced gemm {cube}", "0.00800"),
            (f"ratio 01_coalesced gemm {cube} baseline=cublasGemmEx", "0.0100"),
            (f"ratio 01_coalesced gemm {cube} baseline=best as=percent", "0.80 %"),
            ("ratio 01_coalesced fused_norm 16384x8192 baseline=copy", "0.650"),
            (f"baseline 01_coalesced gemm {cube}", "859"),
            (f"speedup 01_coalesced 00_naive gemm {cube}", "20.0"),
            (f"speedup 01_coalesced 01_coalesced:plain gemm {cube}", "1.25"),
            ("tflops 08_warp_specialized norm_gemm 8192x4096x4096", "550"),
            ("ratio 08_warp_specialized norm_gemm 8192x4096x4096", "1.25"),
            ("us 08_warp_specialized norm_gemm 128x4096x4096 launches=graph", "28.0"),
            ("us 08_warp_specialized grouped_gemm 8x1000x2048x4096", "100"),
            ("tflops 08_warp_specialized grouped_gemm 8x1000x2048x4096", "168"),
            ("ratio 08_warp_specialized grouped_gemm 8x1000x2048x4096", "2.00"),
            ("us 08_warp_specialized:one_kernel norm_gemm 128x4096x4096 launches=stream", "30.0"),
            (f"field 01_coalesced:coalesced gemm {cube} relative_error outlier=28672", "0.0600"),
            (f"us 01_coalesced@bf16 gemm {cube}", "25000"),
            (f"speedup 01_coalesced 01_coalesced@bf16 gemm {cube}", "1.25"),
            (f"cutlass sm90 gemm {cube}", "0.800"),
            (f"cutlass sm90 gemm {cube} what=name", "`sm90_small`"),
            (f"cutlass sm80 gemm {cube} as=percent", "40.0 %"),
            (f"if_recorded cutlass sm100 gemm {cube}", "not recorded yet"),
            (f"if_recorded quotient ratio 01_coalesced gemm {cube} / cutlass sm80 gemm {cube}", "0.0200"),
            ("roof copy", "4000"),
            (f"of_roof 01_coalesced gemm {cube} fp32_fma", "0.115"),
            (f"field 00_naive gemm {cube} sm_clock_mhz", "1500"),
            ("counter 00_naive gemm 256x256x256 global_load.sectors_per_request", "32.0"),
            (f"power 01_coalesced gemm {cube} tflops", "6.87"),
            (f"power 01_coalesced@zeros gemm {cube} sm_clock_mhz", "1875"),
            (f"power 01_coalesced/cublasGemmEx gemm {cube} per_clock", "458"),
            (f"power 01_coalesced:coalesced gemm {cube} pj", "102"),
            (f"power 01_coalesced gemm {cube} mj", "14000"),
            (f"power 01_coalesced gemm {cube} pj_above_idle", "82.9"),
            (f"power 01_coalesced gemm {cube} watts", "700"),
            (f"alone 01_coalesced@zeros 01_coalesced gemm {cube}", "1.11"),
            ("ridge fp32_fma copy", "15.0"),
            (f"quotient tflops 01_coalesced gemm {cube} / tflops 00_naive gemm {cube}", "20.0"),
            ("quotient roof bf16_mma_sync / roof fp32_fma", "10.0"),
            (f"quotient us 01_coalesced gemm {cube} / us 01_coalesced gemm {cube} variant=plain as=percent", "80.0 %"),
            (f"quotient power 01_coalesced/cublasGemmEx gemm {cube} mj / power 01_coalesced gemm {cube} mj", "1.00"),
            (
                "difference us 08_warp_specialized norm_gemm 128x4096x4096 launches=stream"
                " - us 08_warp_specialized norm_gemm 128x4096x4096 launches=graph",
                "2.00",
            ),
            (f"if_recorded tflops 01_coalesced gemm {cube}", "6.87"),
            (f"if_recorded ratio 01_coalesced gemm {cube} baseline=cublasGemmEx as=percent", "1.0 %"),
            ("if_recorded tflops 01_coalesced gemm 4095x4095x4095", "not recorded yet"),
            ("if_recorded us 01_coalesced:any_n_k gemm 4095x4095x4095 as=percent", "not recorded yet"),
            (
                f"if_recorded quotient baseline 00_naive gemm 4095x4095x4095 / baseline 00_naive gemm {cube}",
                "not recorded yet",
            ),
            ("if_recorded quotient roof bf16_sparse_wgmma / roof copy", "not recorded yet"),
            ("device", "Test GPU, CUDA 13.0, driver 1.2, cuBLAS 13.1"),
        ):
            self.assertEqual(self.value(text), expected, text)

    def test_what_cannot_be_answered_is_an_error(self):
        cube = "4096x4096x4096"
        for text in (
            "",
            "speed 00_naive",
            "tflops",
            "tflops 00_naive",
            f"tflops 05_mma_sync gemm {cube}",
            f"tflops 00_naive:best gemm {cube}",
            "tflops 00_naive fused_norm 16384x8192",
            "gbps 08_warp_specialized norm_gemm 8192x4096x4096",
            "us 08_warp_specialized norm_gemm 128x4096x4096",
            "us 08_warp_specialized norm_gemm 8192x4096x4096 launches=graph",
            f"us 01_coalesced:coalesced gemm {cube} outlier=1000",
            f"us 01_coalesced@s8 gemm {cube}",
            f"us 01_coalesced:plain@bf16 gemm {cube}",
            f"us 01_coalesced@bf16 norm_gemm {cube}",
            f"cutlass sm100 gemm {cube}",
            f"cutlass sm80 gemm {cube} what=colour",
            f"tflops 00_naive gem {cube}",
            "tflops 00_naive gemm 1x2x3",
            f"ratio 00_naive gemm {cube} baseline=mkl",
            f"ratio 00_naive gemm {cube} oops",
            f"ratio 00_naive gemm {cube} colour=red",
            f"ratio 00_naive gemm {cube} as=roman",
            f"power 01_coalesced@ones gemm {cube} tflops",
            f"power 00_naive gemm {cube} tflops",
            f"power 01_coalesced gemm {cube} mood",
            f"alone 01_coalesced 00_naive gemm {cube}",
            "roof dome",
            "of_roof 00_naive fused_norm 16384x8192 fp32_fma",
            f"field 00_naive gemm {cube} mood",
            "counter 00_naive gemm 256x256x256 stalls",
            "ridge copy fp32_fma",
            "ridge fp32_fma",
            "quotient roof copy",
            "quotient roof copy / roof dome",
            "quotient roof copy /roof copy",
            "quotient roof copy / counter 00_naive gemm 512x512x512 shared_store_requests",
            "quotient device / roof copy",
            "difference roof copy / roof copy",
            "if_recorded",
            f"if_recorded tflops 05_mma_sync gemm {cube}",
            f"if_recorded ratio 00_naive gemm {cube} baseline=mkl",
            f"if_recorded field 00_naive gemm {cube} mood",
        ):
            with self.assertRaises(ResultError, msg=text):
                self.value(text)


class Documents(InFolder):
    def setUp(self):
        super().setUp()
        self.write(EVERYTHING)
        self.results = Results([self.root / "docs" / "results"])

    def rewrite(self, text):
        return tables.rewrite(text, self.results, "doc.md", self.root)

    def test_a_figure_is_rewritten_and_nothing_else(self):
        text = "a <!--= roof copy -->old<!--/--> b\nc <!--= roof\nfp32_fma --><!--/--> d\n"
        self.assertEqual(
            self.rewrite(text), "a <!--= roof copy -->4000<!--/--> b\nc <!--= roof\nfp32_fma -->60.0<!--/--> d\n"
        )
        for text in (
            "nothing to do\n",
            "no newline at the end",
            "```\n<!--= roof dome -->\n<!-- table: x -->\n```\n",
            "so: `<!--= roof dome -->…<!--/-->`\n",
        ):
            self.assertEqual(self.rewrite(text), text)

    def test_every_table(self):
        for what, word in (
            ("ladder gemm", "×20.0"),
            ("ladder fused_norm", "65.0 %"),
            ("ablation 01_coalesced gemm", "×1.25"),
            ("ablations 01_coalesced gemm 4096x4096x4096", "| `coalesced` (the rung) | 0.80 % |"),
            ("launches 08_warp_specialized norm_gemm", "| 128×4096×4096 | `one_kernel` | 30.0 | 28.0 | 2.00 |"),
            ("launches 08_warp_specialized norm_gemm", "|  | norm+gemm | 37.5 | 35.0 | 2.50 |"),
            ("ablation 08_warp_specialized norm_gemm", "of two steps"),
            ("sweep gemm", "512³"),
            ("sweep fused_norm", "8192×4096"),
            ("rung 01_coalesced gemm", "20000"),
            ("counters 00_naive gemm 256x256x256", "32.0"),
            ("accesses 00_naive gemm 512x512x512", "| `naive` | global load | 1000 | 16500 | 16.5 |  |  |  |"),
            ("accesses 00_naive gemm 512x512x512", "|  | shared load | 7 |  |  | 77 | 60 | 17 |"),
            ("counted gemm 512x512x512", "| `00_naive` | 12345 | 1000 | 16.5 | 4.00 | 60 | 17 |"),
            ("profile 00_naive gemm", "16500"),
            ("profile 00_naive gemm naive", "16500"),
            ("agreement gemm", "| `00_naive` naive | 1000 | 16500 | 10 | 40 | **77** (70) | 60 |"),
            ("agreement gemm", "5 of 6 counts are equal"),
            ("roofs", "4000 GB/s"),
            ("power gemm 4096x4096x4096 01_coalesced@zeros", "| `01 coalesced` | zeros | 7.64 | 1875 | 4.07 | 690 | 14000 | 102 |"),
            ("simulator_speed", "| `00_naive` | off | 30.0 | 57.0 |"),
            ("simulator_speed", "| `00_naive` | on | 14.0 |  |"),
        ):
            text = f"top\n<!-- table: {what} -->\nstale\n<!-- /table -->\nend\n"
            once = self.rewrite(text)
            self.assertIn(word, once, what)
            self.assertNotIn("stale", once)
            self.assertTrue(once.startswith("top\n") and once.endswith("\nend\n"))
            self.assertEqual(self.rewrite(once), once, "rewriting twice changes nothing")
            rows = [line for line in once.split("\n") if line.startswith("|")]
            self.assertEqual(len({row.count("|") for row in rows}), 1, once)

    def test_counts_are_compared_for_every_variant(self):
        self.write(EVERYTHING + [profile("01_coalesced", COUNTED)])
        with self.assertRaisesRegex(ResultError, "no simulator record of 01_coalesced gemm coalesced 512x512x512"):
            tables.agreement(Results([self.root / "docs" / "results"]), "gemm")

    def test_errors_name_the_line(self):
        for text, line in (
            ("a\nb <!--= roof dome -->1<!--/-->\n", 2),
            ("\n\n<!-- table: nonsense -->\n<!-- /table -->\n", 3),
            ("<!-- table: ladder gemm 1x2x3 -->\n<!-- /table -->\n", 1),
            ("<!-- table: roofs -->\n", 1),
            ("```\nx\n```\n<!--= roof copy -->1\n", 4),
            ("a <!--= roof copy -->1\n<!--= roof copy -->1<!--/-->", 1),
            ("<!-- table: roofs -->\n<!-- /table -->\n<!--= roof dome -->1<!--/-->\n", 3),
            ("<!-- table: ladder -->\n<!-- /table -->\n", 1),
            ("<!-- table: accesses 00_naive gemm 1x2x3 -->\n<!-- /table -->\n", 1),
            ("<!-- table: agreement fused_norm -->\n<!-- /table -->\n", 1),
        ):
            with self.assertRaises(ResultError) as caught:
                self.rewrite(text)
            self.assertTrue(str(caught.exception).startswith(f"doc.md:{line}: "), f"{text!r}: {caught.exception}")

    def test_refresh_finds_stale_docs_and_writes_only_when_asked(self):
        doc = self.root / "docs" / "01.md"
        doc.write_text("<!--= roof copy -->1<!--/-->\n", encoding="utf-8")
        (self.root / "README.md").write_text("fine\n", encoding="utf-8")
        self.assertEqual(tables.refresh(self.root, self.results, write=False), [os.path.join("docs", "01.md")])
        self.assertIn(">1<", doc.read_text(encoding="utf-8"))
        tables.refresh(self.root, self.results, write=True)
        self.assertIn(">4000<", doc.read_text(encoding="utf-8"))
        self.assertEqual(tables.refresh(self.root, self.results, write=False), [])


class Links(InFolder):
    def test_what_leads_nowhere_is_named(self):
        (self.root / "docs").mkdir(exist_ok=True)
        (self.root / "code.cu").write_text("one\ntwo\n\nfour\n", encoding="utf-8")
        good = "[a](../code.cu) [b](../code.cu#L1-L2) [c](#two-words) [d](https://nowhere/x) [e](02.md#6-what-it-buys)"
        good += "\n<!-- pending picture: ![f](plots/not_yet.svg)\n-->"
        (self.root / "docs" / "01.md").write_text(f"# 01\n\n## Two `words`!\n\n{good}\n", encoding="utf-8")
        (self.root / "docs" / "02.md").write_text("## 6. What it buys\n", encoding="utf-8")
        links.follow(self.root)
        self.assertEqual(links.broken(self.root), [])
        bad = {
            "../gone.cu": "no such file",
            "../code.cu#L3-L4": "blank line",
            "../code.cu#L2-L5": "there are 4",
            "../code.cu#L2-L1": "there are 4",
            "02.md#6-what-it-cost": "no such heading",
        }
        text = "\n".join(f"[x]({target})" for target in bad)
        (self.root / "README.md").write_text(text.replace("../", "").replace("02.md", "docs/02.md"), encoding="utf-8")
        found = links.broken(self.root)
        self.assertEqual(len(found), len(bad), found)
        for line, (target, what) in zip(found, bad.items()):
            self.assertIn(what, line)
            self.assertTrue(line.startswith("README.md: link to "), line)


class LinesThatMove(InFolder):
    CODE = "top\nfor (a) {\n  barrier();\n}\n\nfor (b) {\n  if (c) {\n    load();\n  }\n  barrier();\n}\nend\n"

    def setUp(self):
        super().setUp()
        self.doc = self.root / "docs" / "01.md"
        self.code("")
        self.link("#L6-L11")
        self.assertEqual(links.follow(self.root), [])

    def code(self, before, change=("", "")):
        (self.root / "code.cu").write_text(before + self.CODE.replace(*change), encoding="utf-8")

    def link(self, *places):
        self.doc.write_text(" ".join(f"[x](../code.cu{place})" for place in places) + "\n", encoding="utf-8")

    def places(self):
        return [target.partition("#")[2] for target in links.LINK.findall(self.doc.read_text(encoding="utf-8"))]

    def test_their_numbers_are_rewritten(self):
        self.code("new\nnew\n")
        fault = "docs/01.md: link to ../code.cu#L6-L11: these lines are now #L8-L13"
        self.assertEqual(links.broken(self.root), [fault])
        self.assertEqual(self.places(), ["L6-L11"], "checking changes nothing")
        self.assertEqual(links.follow(self.root), ["docs/01.md: link to ../code.cu#L6-L11: now #L8-L13"])
        self.assertEqual(self.places(), ["L8-L13"])
        self.assertEqual(list(links.recorded(self.root)), ["code.cu#L8-L13"])
        self.assertEqual((links.broken(self.root), links.follow(self.root)), ([], []))

    def test_the_link_below_a_piece_of_code_is_not_looked_after_here(self):
        block = "<!-- code: code.cu a -->\n*[x](../code.cu#L1-L2)*\n<!-- /code -->\n"
        self.doc.write_text(block, encoding="utf-8")
        self.assertEqual((links.follow(self.root), links.broken(self.root), links.recorded(self.root)), ([], [], {}))

    def test_what_is_between_the_first_and_the_last_may_change(self):
        self.code("", ("    load();", "    convert();\n  }\n  if (d) {\n    load();"))
        moved = links.follow(self.root)
        self.assertEqual(moved, ["docs/01.md: link to ../code.cu#L6-L11: now #L6-L14, 9 lines, not 6"])
        self.assertEqual(self.places(), ["L6-L14"])

    def test_a_line_that_reads_as_others_is_told_from_them_by_its_neighbours(self):
        self.assertEqual(links.recorded(self.root), {"code.cu#L6-L11": ["for (b) {", "}"]})
        self.link("#L3", "#L10", "#L2-L11")
        links.follow(self.root)
        recorded = {
            "code.cu#L10": ["  barrier();\n}\nend", "  barrier();"],
            "code.cu#L2-L11": ["for (a) {", "  }\n  barrier();\n}"],
            "code.cu#L3": ["  barrier();\n}\n", "  barrier();"],
        }
        self.assertEqual(links.recorded(self.root), recorded)
        self.code("new\n" * 7)  # the first is now where the second was
        links.follow(self.root)
        self.assertEqual(self.places(), ["L10", "L17", "L9-L18"])
        self.code("", ("for (a) {\n  barrier();\n}\n", ""))
        gone = [fault for fault in links.broken(self.root) if " no '" in fault]
        self.assertEqual(["#L10:" in gone[0], "#L9-L18:" in gone[1], len(gone)], [True, True, 2])

    def test_the_nearest_of_several_is_meant(self):
        self.code(self.CODE)
        self.assertEqual(links.broken(self.root), [])
        self.code("new\n" * 13)
        links.follow(self.root)
        self.code(self.CODE)
        links.follow(self.root)
        self.assertEqual(self.places(), ["L18-L23"])

    def test_what_is_gone_is_named_until_someone_corrects_it(self):
        for change in (("for (b)", "for (c)"), ("  barrier();\n}\nend", "  barrier();\n};\nend")):
            self.code("new\n", change)
            for _ in range(2):
                self.assertEqual(links.follow(self.root), [])
                self.assertEqual(self.places(), ["L6-L11"])
                (fault,) = links.broken(self.root)
                self.assertTrue(fault.startswith("docs/01.md: link to ../code.cu#L6-L11: no 'for (b) {' … '}' there"))
        self.link("#L7-L12")
        self.assertEqual(links.broken(self.root), ["docs/01.md: link to ../code.cu#L7-L12: not in docs/lines.json yet"])
        links.follow(self.root)
        self.assertEqual(links.broken(self.root), [])
        self.assertEqual(list(links.recorded(self.root)), ["code.cu#L7-L12"], "the old one is left out")

    def test_what_cannot_be_meant_is_not_recorded(self):
        self.link("#L5", "#L4-L99", "#L4-L3")
        links.follow(self.root)
        self.assertEqual((self.places(), links.recorded(self.root)), (["L5", "L4-L99", "L4-L3"], {}))

    def test_everything_else_in_a_doc_stays(self):
        text = "<!-- [x](../code.cu#L6-L11) --> [a](https://x/y#L6-L11) [b](../gone.cu#L6-L11) ../code.cu#L6-L11\n"
        self.doc.write_text(text + "[x](../code.cu#L6-L11)", encoding="utf-8")
        self.code("new\n")
        links.follow(self.root)
        self.assertEqual(self.doc.read_text(encoding="utf-8"), text + "[x](../code.cu#L7-L12)")

    def test_the_writer_fails_where_someone_must_look(self):
        for change, status, word in (("for (b)", 0, "now #L7-L12"), ("for (c)", 1, "no 'for (b) {'")):
            self.code("new\n", ("for (b)", change))
            out = io.StringIO()
            with redirect_stdout(out), redirect_stderr(out):
                self.assertEqual(links.main(self.root), status)
            self.assertIn(word, out.getvalue())


class Memory(unittest.TestCase):
    def test_sectors(self):
        for addresses, width, count in (
            ([2 * i for i in range(32)], 2, 2),
            ([4 * i for i in range(32)], 4, 4),
            ([16 * i for i in range(32)], 16, 16),
            ([8192 * i for i in range(32)], 2, 32),
            ([64] * 32, 2, 1),
            ([30], 4, 2),
            ([31], 1, 1),
        ):
            self.assertEqual(len(memory.sectors(addresses, width)), count)

    def test_wavefronts(self):
        lanes = range(32)
        for what, addresses, width, count in (
            ("consecutive words", [4 * i for i in lanes], 4, 1),
            ("one word for all", [0] * 32, 4, 1),
            ("two halves of a word", [2 * i for i in lanes], 2, 1),
            ("stride of two words", [8 * i for i in lanes], 4, 2),
            ("a column of 32 words", [128 * i for i in lanes], 4, 32),
            ("that column, padded", [132 * i for i in lanes], 4, 1),
            ("8 bytes each", [8 * i for i in lanes], 8, 2),
            ("16 bytes each", [16 * i for i in lanes], 16, 4),
            ("16 bytes, rows of 128", [128 * i for i in lanes], 16, 32),
            ("16 bytes for all", [0] * 32, 16, 2),
            ("8 bytes for all", [0] * 32, 8, 1),
            ("16 bytes, rows of 144", [144 * i for i in lanes], 16, 4),
            ("8 bytes, stride 16", [16 * i for i in lanes], 8, 4),
            ("two lanes", [0, 128] + [None] * 30, 4, 2),
            ("no lane", [None] * 32, 4, 0),
        ):
            self.assertEqual(memory.wavefronts(addresses, width), count, what)
        self.assertEqual(memory.wavefronts([0] * 32, 16, fixed=True), 4)
        for width, addresses, ideal in ((16, [128 * i for i in lanes], 4), (16, [0] * 32, 2), (4, [128, None] * 16, 1)):
            self.assertEqual(memory.ideal_wavefronts(addresses, width), ideal)

    def test_wavefronts_as_an_h200_has_them(self):
        """Of the accesses measured for the simulator's counters, those whose names say where the lanes are."""
        index = {
            "broadcast": lambda lane: 0,
            "31-lane": lambda lane: 31 - lane,
            "pairs, then single": lambda lane: lane // 2 if lane < 16 else lane,
            "pairs in quarter 0": lambda lane: lane & ~1 if lane < 8 else lane,
            "pairs but lanes 30 31": lambda lane: lane & ~1 if lane < 30 else lane,
            "transpose 8x4": lambda lane: lane % 8 * 4 + lane // 8,
            "a fragment": lambda lane: lane // 4 * 36 + lane % 4,
        }
        for number in range(1, 34):
            index[f"stride {number}"] = lambda lane, by=number: lane * by
            index[f"lane/{number}"] = lambda lane, by=number: lane // by
            index[f"lane%{number}"] = lambda lane, by=number: lane % by
            index[f"lane&~{number}"] = lambda lane, by=number: lane & ~by
            index[f"lane^{number}"] = lambda lane, by=number: lane ^ by
        measured = PLOTS.parent / "simulator/tests/golden/wavefronts.txt"
        compared = 0
        for line in measured.read_text(encoding="utf-8").splitlines():
            operation, width, mask, count, *_, pattern = [*line.split(maxsplit=7), ""][:8]
            if operation not in ("ld", "st") or pattern not in index:
                continue
            active = [int(mask, 16) >> lane & 1 for lane in range(32)]
            addresses = [index[pattern](lane) * int(width) if active[lane] else None for lane in range(32)]
            self.assertEqual(memory.wavefronts(addresses, int(width), operation == "st"), int(count), line)
            compared += 1
        self.assertGreater(compared, 500)

    def test_a_misaligned_access_is_refused(self):
        with self.assertRaises(ValueError):
            memory.wavefronts([2] * 32, 4)
        with self.assertRaises(ValueError):
            memory.wavefronts([0] * 32, 3)
        with self.assertRaises(ValueError):
            memory.wavefronts([0], 4)


class Traces(InFolder):
    def test_what_was_counted_is_what_the_addresses_cost(self):
        loaded = self.load(TRACES)
        self.assertEqual(len(loaded.traces) + len(loaded.timelines), len(TRACES))
        for name in ("sectors", "wavefronts", "ideal_wavefronts"):
            trace = next(trace for trace in TRACES if name in trace)
            with self.assertRaisesRegex(ResultError, "a.jsonl:1: .*wavefronts|a.jsonl:1: .*sectors"):
                self.load([{**trace, name: trace[name] + 1}])
        matrices = next(trace for trace in TRACES if trace["ptx"].startswith("ldmatrix"))
        self.load([{**matrices, "addresses": [0] * 32, "wavefronts": 4, "ideal_wavefronts": 4}])
        incomplete = {name: value for name, value in TRACES[0].items() if name != "lines"}
        with self.assertRaisesRegex(ResultError, 'no "lines"'):
            self.load([incomplete])

    def test_a_timeline_runs_forward(self):
        timeline = next(trace for trace in TRACES if trace["record"] == "timeline")
        steps = timeline["steps"]
        commits = [i for i, step in enumerate(steps) if step["step"] == "commit"]
        for broken, words in (
            ([], "step is {}"),
            ([{"step": "nap", "at": 1}], "nap"),
            ([{"step": "copy", "at": 1, "until": 2}], "copy"),
            ([steps[1], steps[0]], "back in time"),
            ([step for i, step in enumerate(steps) if i != commits[0]], "do not follow each other"),
            ([{"step": "wait", "at": 1, "below": 1}], "do not follow each other"),
        ):
            with self.assertRaisesRegex(ResultError, words):
                self.load([{**timeline, "steps": broken}])
        with self.assertRaisesRegex(ResultError, "no timeline of 04_cp_async gemm nothing"):
            self.load([timeline]).timeline("04_cp_async", "gemm", "nothing")

    def test_what_warps_noted_is_cut_to_what_is_drawn(self):
        def event(warp, what, begin, cta=0):
            args = {"tile": 0, "k_tile": 3}
            return {"ph": "X", "name": what, "pid": cta, "tid": warp, "ts": begin, "dur": 1.0, "args": args}

        def names_of(role):
            return [
                {"ph": "M", "name": "thread_name", "pid": 0, "tid": warp, "args": {"name": f"{role}warp {warp}"}}
                for warp in (4, 0)
            ]

        names = names_of("consumer, ")
        about = {"rung": "08_warp_specialized", "problem": "gemm", "variant": "128x256", "device": "GPU", "sm_count": 1}
        about |= {"m": 64, "n": 64, "k": 64, "plain_us": 100.0, "traced_us": 103.0}
        bars = [event(0, "load", 1.0), event(0, "load", 18.0), event(4, "store", 20.0), event(4, "store", 40.0)]
        trace = {"otherData": about, "traceEvents": names + bars + [event(4, "store", 20.0, cta=1)]}
        record = picture_inside.part_of(trace)
        self.assertEqual([warp["warp"] for warp in record["warps"]], [0, 4])
        self.assertEqual(record["bars"], [[0, "load", 4.0, 1.0, 0, 3], [4, "store", 6.0, 1.0, 0, 3]])
        self.assertNotIn("sm_count", record)
        self.assertEqual(self.load([record]).inside["08_warp_specialized"]["traced_us"], 103.0)
        back = [[0, "load", 4.0, 1.0, 0, 3], [0, "load", 3.0, 1.0, 0, 3]]
        for broken in ({"bars": []}, {"warps": []}, {"bars": [[7, "load", 1.0, 1.0, 0, 3]]}, {"bars": back}):
            with self.assertRaises(ResultError):
                self.load([{**record, **broken}])
        with self.assertRaisesRegex(ResultError, "no timeline of a GPU: it does not say plain_us, traced_us"):
            picture_inside.part_of({**trace, "otherData": {k: v for k, v in about.items() if not k.endswith("_us")}})
        with self.assertRaisesRegex(ResultError, "stores nothing"):
            picture_inside.part_of({**trace, "traceEvents": names + bars[:2]})

        # The first tile of a CTA whose warps all do everything, from its first bar on, and a little more.
        whole = {**trace, "traceEvents": names_of("") + bars}
        next_tile = [event(0, "multiply", begin) for begin in (41.0, 43.0, 43.5)]
        for bar in next_tile:
            bar["args"]["tile"] = 1
        record = picture_inside.part_of({**whole, "traceEvents": names_of("") + bars + next_tile})
        self.assertEqual([bar[2] for bar in record["bars"]], [0.0, 17.0, 19.0, 39.0, 40.0, 42.0])
        many = [event(0, "multiply", 2.0) for _ in range(25)]
        for k_tile, bar in enumerate(many):
            bar["args"]["k_tile"] = k_tile
        picture_inside.part_of({**whole, "traceEvents": names_of("") + bars + many[:24] + next_tile})
        with self.assertRaisesRegex(ResultError, "its 25 k-tiles are too many for a picture, 24 at most"):
            picture_inside.part_of({**whole, "traceEvents": names_of("") + bars + many})

    def test_an_access_is_found_by_what_it_is(self):
        results = self.load(TRACES)
        store = results.access("03_vectorized", "gemm", "vectorized", "st.shared", source="tile_a")
        self.assertEqual((store["wavefronts"], store["ideal_wavefronts"]), (2, 1))
        self.assertEqual(results.access("00_naive", "gemm", "naive", "ld.global", array="B")["sectors"], 1)
        with self.assertRaisesRegex(ResultError, "no trace of ld.global .*array"):
            results.access("00_naive", "gemm", "naive", "ld.global", array="C")


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        venv_python = Path(sys.argv.pop(1)) / "bin" / "python"
        if venv_python.exists() and Path(sys.prefix).resolve() != venv_python.parents[1].resolve():
            sys.exit(subprocess.call([str(venv_python), "-B", __file__] + sys.argv[1:]))
    unittest.main()
