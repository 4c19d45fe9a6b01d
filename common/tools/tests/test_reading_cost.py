"""Tests of reading_cost.py, and that the course itself is within its budgets."""

import tempfile
import unittest
from pathlib import Path

from common.tools import reading_cost as cost

ROOT = Path(__file__).resolve().parents[3]


class Course(unittest.TestCase):
    def test_is_within_its_budgets(self):
        self.assertEqual(cost.over_budget(ROOT), [])

    def test_has_ten_rungs(self):
        self.assertEqual(len(cost.rungs(ROOT)), 10)


class Made(unittest.TestCase):
    """A course of one rung, whose files a test spoils."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        self.write("common/rung.h", "\n")
        self.write("06_x/gemm.cu", '#include "common/rung.h"\n')
        self.write("06_x/fused_norm.cu", "\n")
        self.write("06_x/CMakeLists.txt", "\n")
        self.assertEqual(cost.over_budget(self.root), [])

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, *parts):
        found = cost.over_budget(self.root)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_a_long_file(self):
        self.write("06_x/gemm.cu", "\n" * 280)
        self.assertEqual(cost.over_budget(self.root), [])
        self.write("06_x/gemm.cu", "\n" * 281)
        self.expect("06_x/gemm.cu has 281 lines, at most 280")

    def test_a_long_norm(self):
        self.write("06_x/fused_norm.cu", "\n" * 201)
        self.expect("06_x/fused_norm.cu has 201 lines, at most 200")

    def test_a_long_contract(self):
        self.write("common/rung.h", "\n" * 121)
        self.expect("common/rung.h has 121 lines")

    def test_further_files(self):
        self.write("06_x/gemm.cu", '#include "06_x/ring.cuh"\n')
        self.write("06_x/ring.cuh", "\n" * 150)
        self.assertEqual(cost.over_budget(self.root), [])
        self.write("06_x/ring.cuh", "\n" * 151)
        self.expect("06_x/ring.cuh has 151 lines, at most 150")
        self.write("06_x/ring.cuh", '#include "06_x/other.cuh"\n')
        self.write("06_x/other.cuh", "\n")
        self.expect("06_x/gemm.cu takes 2 further files", "06_x/ring.cuh, 06_x/other.cuh")

    def test_limits_of_a_rung(self):
        self.write("06_x/gemm.cu", '#include "06_x/tiles.cuh"\n' + "\n" * 199)
        self.write("06_x/tiles.cuh", "\n" * 100)
        self.assertEqual(cost.over_budget(self.root), [])
        self.write("06_x/tiles.cuh", "\n" * 101)
        self.expect("06_x/gemm.cu and 06_x/tiles.cuh have 301 lines together, at most 300")
        self.write("06_x/tiles.cuh", "int long_one(int x) {\n" + "  ++x;\n" * 58 + "}\n")
        self.assertEqual(cost.over_budget(self.root), [])
        self.write("06_x/tiles.cuh", "int long_one(int x) {\n" + "  ++x;\n" * 59 + "}\n")
        self.expect("long_one of 06_x/gemm.cu and 06_x/tiles.cuh has 61 lines, at most 60")
        fields = "  Rows rows = Rows::plain;\n  bool b = true;  // c = 1;\n  int group = 8;\n  ptx::Cache of;\n"
        self.write("06_x/tiles.cuh", f"struct Tricks {{\n{fields}}};\n")
        self.assertEqual(cost.over_budget(self.root), [])
        self.write("06_x/tiles.cuh", f"struct Design {{\n{fields}  bool e;\n  static constexpr int f = 1;\n}};\n")
        self.expect("have 5 flags, at most 4: rows, b, group, of, e")

    def test_limits_of_other_rungs(self):
        self.write("07_x/gemm.cu", '#include "07_x/tiles.cuh"\n' + "\n" * 270)
        self.write("07_x/tiles.cuh", "\n" * 100)
        self.write("07_x/fused_norm.cu", "\n")
        self.assertEqual(cost.over_budget(self.root), [])

    def test_an_excursion_in_the_rungs_own_file(self):
        self.write("06_x/gemm.cu", '#include "06_x/shapes/tiles.cuh"\n')
        self.write("06_x/shapes/tiles.cuh", "// an estimate\n")
        self.expect("06_x/gemm.cu includes 06_x/shapes/tiles.cuh")
        self.write("06_x/gemm.cu", "// not of fp8\n")
        self.expect("06_x/gemm.cu:1 mentions 'fp8'")

    def test_a_folder_of_many_files(self):
        for file in range(57):
            self.write(f"06_x/faults/{file}.patch", "\n")
        self.assertEqual(cost.over_budget(self.root), [])
        self.write("06_x/tests/types_test.cc", "\n")
        self.expect("06_x has 61 files, at most 60")

    def test_a_folder_of_many_lines(self):
        self.write("06_x/practice/1_long.md", "\n" * 6000)
        self.assertEqual(cost.over_budget(self.root), [])
        for rung in "08_x", "09_x":
            for name in "gemm.cu", "fused_norm.cu", "CMakeLists.txt":
                self.write(f"{rung}/{name}", "\n")
            self.write(f"{rung}/practice/1_long.md", "\n" * 5497)
            self.assertEqual(cost.over_budget(self.root), [])
            self.write(f"{rung}/practice/1_long.md", "\n" * 5498)
            self.expect(f"the files of {rung} have 5501 lines, at most 5500")
            self.write(f"{rung}/practice/1_long.md", "\n")

    def test_a_long_list_of_what_is_built(self):
        self.write("06_x/CMakeLists.txt", "\n" * 40)
        self.assertEqual(cost.over_budget(self.root), [])
        self.write("06_x/CMakeLists.txt", "\n" * 41)
        self.expect("06_x/CMakeLists.txt has 41 lines, at most 40")

    def test_a_long_listing(self):
        program = self.root / "06_x_sim"
        for lines, faults in (45, []), (46, ["06_x_sim --list prints 46 lines, at most 45"]):
            program.write_text(f'#!/bin/sh\ntest "$*" = --list && seq {lines}\n')
            program.chmod(0o755)
            self.assertEqual(cost.listing_faults(program), faults)

    def test_the_table_has_the_folders(self):
        self.write("06_x/gemm.cu", "int one() {\n}\n")
        self.write("06_x/fused_norm.cu", "int two() {\n}\n")
        header, gemm, norm = (line.split() for line in cost.table(self.root).splitlines())
        self.assertEqual(header[-5:], ["all", "files", "all", "lines", "CMakeLists.txt"])
        self.assertEqual(gemm, ["06_x", "gemm", "1", "2", "2", "(one)", "0", "3", "5", "1"])
        self.assertEqual(norm, ["06_x", "fused_norm", "1", "2", "2", "(two)", "0"])

    def test_a_word(self):
        self.write("06_x/shapes/tiles.cuh", "\n// Widened once.\n")
        self.expect("06_x/shapes/tiles.cuh:2 says 'Widened'")

    def test_the_longest_function(self):
        text = (
            "template <class C>\n__global__ void __launch_bounds__(C::threads, 1)\n    gemm_kernel(Gemm p) {\n"
            "#pragma unroll\n  int i;\n}\n\nstruct S {\n  int a;\n};\n\nint launch(int x) {\n  return x;\n}\n"
        )
        self.assertEqual(cost.longest_function(text), (6, "gemm_kernel"))


if __name__ == "__main__":
    unittest.main()
