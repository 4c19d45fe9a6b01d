"""Tests of documents.py and tables.py: what is generated into a doc."""

import os

from common.plots.pages import count_tables, documents
from common.plots.records.error import ResultError
from common.plots.records.results import Results
from common.plots.tests.fixture import COUNTED, EVERYTHING, InFolder, profile


class Documents(InFolder):
    def setUp(self):
        super().setUp()
        self.write(EVERYTHING)
        self.results = Results([self.root / "docs" / "results"])

    def rewrite(self, text):
        return documents.rewrite(text, self.results, "doc.md", self.root)

    def test_a_figure_is_rewritten_and_nothing_else(self):
        text = "a <!--= roof('copy') -->old<!--/--> b\nc <!--= roof(\n'fp32_fma') --><!--/--> d\n"
        self.assertEqual(
            self.rewrite(text), "a <!--= roof('copy') -->4000<!--/--> b\nc <!--= roof(\n'fp32_fma') -->60.0<!--/--> d\n"
        )
        for text in (
            "nothing to do\n",
            "no newline at the end",
            "```\n<!--= roof('dome') -->\n<!-- table: x -->\n```\n",
            "so: `<!--= roof('dome') -->…<!--/-->`\n",
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
            ("in_flight", "| 48 | 4100 | 100.0 % |"),
            ("in_flight", "| 192 | 3690 | 90.0 % |"),
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

    def test_exercises_of_the_short_course_are_marked(self):
        for number, core in ((1, "core: 20\n"), (2, "")):
            page = self.root / "00_naive" / "practice" / f"{number}_name.md"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f"# Title {number}\n\nkind: write\n{core}part: x\n")
        table = self.rewrite("<!-- practice: all -->\n<!-- /practice -->\n")
        self.assertIn("| `00.1`, core | write | Title 1 |\n| `00.2` | write | Title 2 |", table)

    def test_every_shape_is_linked_to_its_page(self):
        for name in ("01_coalesced", "every_shape"):
            (self.root / "docs" / f"{name}.md").write_text("", encoding="utf-8")
        table = "| `01_coalesced` | x |\n| `every_shape` | x |\n| `02_y` | x |\n| `copy` | x |"
        linked = documents.with_chapters(table, self.root, self.root / "docs" / "every_shape.md").split("\n")
        self.assertEqual(linked, ["| [`01_coalesced`](01_coalesced.md) | x |", *table.split("\n")[1:]])
        linked = documents.with_chapters(table, self.root, self.root / "README.md").split("\n")
        self.assertEqual(linked[1], "| [`every_shape`](docs/every_shape.md) | x |")

    def test_counts_are_compared_for_every_variant(self):
        self.write(EVERYTHING + [profile("01_coalesced", COUNTED)])
        with self.assertRaisesRegex(ResultError, "no simulator record of 01_coalesced gemm coalesced 512x512x512"):
            count_tables.agreement(Results([self.root / "docs" / "results"]), "gemm")

    def test_errors_name_the_line(self):
        for text, line in (
            ("a\nb <!--= roof('dome') -->1<!--/-->\n", 2),
            ("\n\n<!-- table: nonsense -->\n<!-- /table -->\n", 3),
            ("<!-- table: ladder gemm 1x2x3 -->\n<!-- /table -->\n", 1),
            ("<!-- table: roofs -->\n", 1),
            ("```\nx\n```\n<!--= roof('copy') -->1\n", 4),
            ("a <!--= roof('copy') -->1\n<!--= roof('copy') -->1<!--/-->", 1),
            ("<!-- table: roofs -->\n<!-- /table -->\n<!--= roof('dome') -->1<!--/-->\n", 3),
            ("<!-- table: ladder -->\n<!-- /table -->\n", 1),
            ("<!-- table: accesses 00_naive gemm 1x2x3 -->\n<!-- /table -->\n", 1),
            ("<!-- table: agreement fused_norm -->\n<!-- /table -->\n", 1),
        ):
            with self.assertRaises(ResultError) as caught:
                self.rewrite(text)
            self.assertTrue(str(caught.exception).startswith(f"doc.md:{line}: "), f"{text!r}: {caught.exception}")

    def test_refresh_finds_stale_docs_and_writes_only_when_asked(self):
        doc = self.root / "docs" / "01.md"
        doc.write_text("<!--= roof('copy') -->1<!--/-->\n", encoding="utf-8")
        (self.root / "README.md").write_text("fine\n", encoding="utf-8")
        self.assertEqual(documents.refresh(self.root, self.results, write=False), [os.path.join("docs", "01.md")])
        self.assertIn(">1<", doc.read_text(encoding="utf-8"))
        documents.refresh(self.root, self.results, write=True)
        self.assertIn(">4000<", doc.read_text(encoding="utf-8"))
        self.assertEqual(documents.refresh(self.root, self.results, write=False), [])
