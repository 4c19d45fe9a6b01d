"""Tests of what is drawn: they need matplotlib, and are skipped without it."""

import subprocess
import sys
import unittest

from records import EVERYTHING, PLOTS, TRACES, InFolder, gemm

try:
    import matplotlib
except ImportError:
    matplotlib = None


@unittest.skipUnless(matplotlib, "matplotlib is absent; `cmake --build build --target plots` makes a venv with it")
class Drawing(InFolder):
    def drawn(self, name):
        """In a process of its own, so that nothing carries over."""
        out = self.root / name
        subprocess.run(
            [sys.executable, "-B", str(PLOTS / "plot.py"), "--root", str(self.root), "--out", str(out)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return {path.name: path.read_bytes() for path in out.iterdir()}

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
                "vector_03.svg",
                "norm_rows.svg",
            },
            set(first),
        )
        for name, svg in first.items():
            self.assertNotIn(b"<dc:date>", svg, name)

    def test_without_roofs_there_is_no_roofline(self):
        code, text = self.run_plot(self.write([gemm("00_naive", 9.0)], "own.jsonl"), "--out", self.root / "own")
        self.assertEqual(code, 0, text)
        self.assertEqual([path.name for path in (self.root / "own").iterdir()], ["ladder_gemm.svg"])

    def test_pictures_need_no_results_but_some_need_traces(self):
        self.assertEqual(set(self.drawn("none")), {"tiling_02.svg", "vector_03.svg", "warp_reduction.svg"})
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
        doc.write_text("<!--= roof copy -->1<!--/-->\n", encoding="utf-8")
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
        (self.root / "README.md").write_text("<!--= roof copy --><!--/-->\n", encoding="utf-8")
        self.assertEqual(self.run_plot("--docs")[0], 0)
        code, text = self.run_plot("--check")
        self.assertEqual(code, 0, text)
        self.write(EVERYTHING + TRACES + [gemm("00_naive", 300000.0)])
        (self.root / "README.md").write_text("<!--= roof copy --><!--/-->\n", encoding="utf-8")
        (self.root / "docs" / "plots" / "banks_02.svg").unlink()
        (self.root / "docs" / "plots" / "old.svg").write_text("<svg/>")
        code, text = self.run_plot("--check")
        self.assertEqual(code, 1)
        self.assertIn("README.md: generated text is out of date", text)
        self.assertIn("docs/plots/ladder_gemm.svg: out of date", text)
        self.assertNotIn("tiling_02", text)
        self.assertIn("docs/plots/banks_02.svg: missing", text)
        self.assertIn("docs/plots/old.svg: nothing draws it any more", text)


if __name__ == "__main__":
    unittest.main()
