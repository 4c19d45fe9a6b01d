"""Tests of what stands in a page between markers: code, planted faults, runs; and of the figures of an ablation in turns."""

import json
import subprocess
import sys

from common.plots.pages import documents, excerpts, tables, transcripts, values
from common.plots.records.error import ResultError
from common.plots.records.results import Results
from common.plots.tests.fixture import InFolder, gemm, roof


SOURCE = """// A kernel.
struct Tile {
  int rows;  // }
};
struct Later;

constexpr int vector = 8;

template <class C>
__global__ void __launch_bounds__(C::threads)
    kernel(Gemm p) {
  const char open = '{';
  if (p.m) {
    load(p);  // first
  }
  auto half = [&](int i) {
    return i / 2;
  };
  store(p);
}

cudaError_t launch(const Gemm& p) {
  kernel<Tile><<<1, 1>>>(p);
  return twice(p);
}
int twice(int);
int twice(int x) {
  return 2 * x;
}
"""
PATCH = """The store is missing.

run: gemm --size 64
expect: race

--- 01_x/gemm.cu
@@
-  store(p);
"""
SAYS = """#!/bin/sh
echo "args $*" >&2
echo 'simulator: race in ladder::rung_01::(anonymous namespace)::kernel<…>(ladder::Gemm, int) at 01_x/gemm.cu:7' >&2
echo 'simulator:   load of 4 bytes, thread (0,0,0)' >&2
echo 'simulator:   PTX line 12: ld.global' >&2
echo 'simulator: race in another' >&2
echo '01_x_sim: gemm x at 64x64x64: unspecified launch failure' >&2
"""
WRONG = "#!/bin/sh\necho table\necho '01_x_sim: gemm x 64x64x64: 3 of 4 elements wrong; C[0,0] is 1' >&2\n"


class Pages(InFolder):
    def setUp(self):
        super().setUp()
        self.folder = self.root / "01_x"
        (self.folder / "faults").mkdir(parents=True)
        (self.folder / "gemm.cu").write_text(SOURCE, encoding="utf-8")
        (self.folder / "faults" / "no_store.patch").write_text(PATCH, encoding="utf-8")
        (self.root / "docs" / "deeper").mkdir(parents=True, exist_ok=True)
        (self.root / "docs" / "results").mkdir(exist_ok=True)

    def code(self, what, page="docs/01.md"):
        return excerpts.excerpt(self.root, self.root / page, what)

    def shown(self, what):
        return self.code(what).split("```")[1].split("\n")[1:-1]

    def test_a_definition_is_found_by_its_name(self):
        self.assertEqual(self.shown("01_x/gemm.cu Tile"), ["struct Tile {", "  int rows;  // }", "};"])
        self.assertEqual(self.shown("01_x/gemm.cu vector"), ["constexpr int vector = 8;"])
        kernel = self.shown("01_x/gemm.cu kernel")
        self.assertEqual((kernel[0], kernel[-2:], len(kernel)), ("template <class C>", ["  store(p);", "}"], 12))
        self.assertEqual(self.shown("01_x/gemm.cu half")[0], "auto half = [&](int i) {")
        self.assertEqual(len(self.shown("01_x/gemm.cu launch")), 4)
        self.assertEqual(self.shown("01_x/gemm.cu twice")[0], "int twice(int x) {")

    def test_lines_are_found_by_their_text_and_lose_their_indentation(self):
        self.assertEqual(self.shown('01_x/gemm.cu "if (p.m)" … "}"'), ["if (p.m) {", "  load(p);  // first", "}"])
        self.assertEqual(self.shown('01_x/gemm.cu "return i / 2"'), ["return i / 2;"])

    def test_the_link_leads_from_the_page_to_the_lines(self):
        self.assertIn("*[01_x/gemm.cu, line 7](../01_x/gemm.cu#L7)*", self.code("01_x/gemm.cu vector"))
        link = "*[01_x/gemm.cu, lines 2–4](../../01_x/gemm.cu#L2-L4)*"
        self.assertIn(link, self.code("01_x/gemm.cu Tile", "docs/deeper/01_x.md"))

    def test_what_is_not_there_or_there_twice_is_an_error(self):
        for what, words in (
            ("01_x/gemm.cu Tiles", "no definition of Tiles"),
            ("01_x/gone.cu Tile", "no such file"),
            ('01_x/gemm.cu "return"', "3 lines with 'return'"),
            ('01_x/gemm.cu "nothing"', "no lines with 'nothing'"),
            ('01_x/gemm.cu "if (p.m)" … "nothing"', "no lines with 'nothing'"),
            ("01_x/gemm.cu", "is neither"),
        ):
            with self.assertRaisesRegex(ResultError, words.replace("(", r"\(").replace(")", r"\)")):
                self.code(what)

    def test_code_that_has_changed_is_stale(self):
        page, results = self.root / "docs" / "01.md", Results()
        page.write_text("<!-- code: 01_x/gemm.cu Tile -->\n<!-- /code -->\n", encoding="utf-8")
        self.assertEqual(documents.refresh(self.root, results, write=True), ["docs/01.md"])
        self.assertEqual(documents.refresh(self.root, results, write=False), [])
        (self.folder / "gemm.cu").write_text(SOURCE.replace("int rows", "int columns"), encoding="utf-8")
        self.assertEqual(documents.refresh(self.root, results, write=False), ["docs/01.md"])

    def test_pages_are_listed_by_their_titles(self):
        (self.root / "docs" / "deeper" / "08_why.md").write_text("# Why so?\n\ntext\n", encoding="utf-8")
        (self.root / "docs" / "deeper" / "every_shape_x.md").write_text("# Which?\n", encoding="utf-8")
        text = documents.rewrite("<!-- pages: docs/deeper -->\n<!-- /pages -->\n", Results(), "docs/README.md", self.root)
        self.assertIn("\n- [Why so?](deeper/08_why.md) (08)\n- [Which?](deeper/every_shape_x.md) (every shape)\n", text)

    def program(self, name, text):
        file = self.root / "bin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)

    def record(self, *arguments):
        command = [sys.executable, "-B", "-m", "common.plots.pages.transcripts", self.root / "bin", "--root", self.root, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_what_programs_print_is_recorded_shown_and_compared(self):
        self.program("faults/01_x_no_store", SAYS)
        self.program("01_x_sim", "#!/bin/sh\necho one $1\n")
        page = self.root / "docs" / "01.md"
        marks = "<!-- fault: 01_x no_store -->\n<!-- /fault -->\n<!-- run: 01_x_sim gemm -->\n<!-- /run -->\n"
        page.write_text(marks + "```\n<!-- run: not_this_one -->\n```\n", encoding="utf-8")
        self.assertEqual(self.record("--check")[0], 1)
        self.assertEqual(self.record(), (0, "transcripts: fault: 01_x no_store: new\ntranscripts: run: 01_x_sim gemm: new\n"))
        self.assertEqual(self.record("--check"), (0, ""))
        documents.refresh(self.root, Results(), write=True)
        text = page.read_text(encoding="utf-8")
        for part in (
            "```diff\n--- 01_x/gemm.cu\n@@\n-  store(p);\n```",
            "$ build/bin/faults/01_x_no_store gemm --size 64\nrace in kernel at 01_x/gemm.cu:7\n  load of 4 bytes, thread (0,0,0)\n```",
            "$ build/bin/01_x_sim gemm\none gemm\n```",
        ):
            self.assertIn(part, text)
        self.program("01_x_sim", "#!/bin/sh\necho two $1\n")
        self.assertIn("run: 01_x_sim gemm: differs", self.record("--check")[1])
        page.write_text("nothing\n", encoding="utf-8")
        self.assertEqual(self.record("--check")[0], 1)
        self.record()
        self.assertEqual(json.loads(transcripts.store(self.root).read_text()), {})

    def test_without_a_finding_the_checkers_line_is_shown(self):
        self.assertEqual(transcripts.finding(WRONG.replace("echo '", "").replace("' >&2", "")), "gemm x 64x64x64: 3 of 4 elements wrong; C[0,0] is 1")
        with self.assertRaises(ResultError):
            transcripts.finding("all is well\n")

    def test_a_fault_of_every_shape_is_in_its_folder(self):
        faults = self.root / "common/every_shape/blackwell/faults"
        faults.mkdir(parents=True)
        (faults / "no_store.patch").write_text(PATCH, encoding="utf-8")
        found = transcripts.fault_named(self.root, "every_shape_blackwell no_store")
        self.assertEqual((found.program, found.name, found.run), ("every_shape_blackwell", "no_store", "gemm --size 64"))

    def test_a_fault_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(ResultError, "expected RUNG FAULT"):
            transcripts.fault_named(self.root, "01_x gone")


class InTurns(InFolder):
    def setUp(self):
        super().setUp()
        rung = {"is_rung": True, "index": 2, "noise": 0.0031, "dependent_launch": False}
        early = {"variant": "early_start", "index": 1, "is_rung": False, "dependent_launch": True}
        self.write(
            [
                roof("copy", 4000.0, "GB/s"),
                gemm("08_x", 250.0, variant="plain", is_rung=False, rung_us=200.0, dependent_launch=False),
                gemm("08_x", 190.0, rung_us=200.0, launches_per_sample=1, **early),
                gemm("08_x", 220.0, variant="x", **rung),
                gemm("08_x", 2.0, size=512, base_us=4.0, launches_per_sample=100, **early),
                gemm("08_x", 3.0, size=512, base_us=4.0, variant="x", **rung),
            ]
        )
        self.results = Results([self.root / "docs" / "results"])

    def test_an_ablation_is_beside_the_rung_that_it_was_timed_with(self):
        text = tables.table(self.results, "ablation 08_x gemm")
        self.assertIn("| `plain` | 550 | 367 | 64.0 % | ×1.250 |", text)
        self.assertIn("which was within 0.31 % of itself", text)
        self.assertNotIn("early_start", text, "it is no ablation: it is launched in another way")
        self.assertEqual(values.evaluate(self.results, 'speedup("08_x", "08_x:plain", "gemm", "4096x4096x4096")'), "1.25")
        self.assertEqual(values.evaluate(self.results, 'speedup("08_x:plain", "08_x", "gemm", "4096x4096x4096")'), "0.800")
        self.assertEqual(values.evaluate(self.results, 'percent(noise("08_x", "gemm", "4096x4096x4096"))'), "0.31 %")
        self.assertEqual(values.evaluate(self.results, 'per_clock("08_x", "gemm", "4096x4096x4096")'), "416")

    def test_early_launch_is_a_column_of_its_own(self):
        text = tables.table(self.results, "ladder gemm 512x512x512")
        self.assertIn("| in a chain, with early launch |", text)
        self.assertIn("| 106.7 % | 134, 160.0 % |", text)
        text = tables.table(self.results, "ladder gemm")
        self.assertNotIn("in a chain", text, "launches that are timed singly are not in a chain")
