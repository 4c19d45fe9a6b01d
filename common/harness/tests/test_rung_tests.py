"""Tests of what rungs are tested with: `test_rung_tests.py CMAKE`."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from common.tools.plant_fault import only_variant

CMAKE = sys.argv.pop(1)
FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]

PTX = b".version 8.8\n.target sm_80\n.address_size 64\n\0"
SPILL = "ptxas warning : Registers are spilled to local memory in function 'k'"


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()


FAULT = "Nothing waits for the copies.\n\nrun: gemm --size 64\nexpect: (race|deadlock) in .*k\n"
PATCH = "\n--- 42_x/gemm.cu\n@@\n   a[0];\n-  wait<1>();\n+  wait<2>();\n@@\n-  b;  // \"two\"\n"
SOURCE = 'void k() {\n  a[0];\n  wait<1>();\n  a[0];\n  b;  // "two"\n  c;\n}\n'


class Faults(Case):
    def configure(self, text):
        """What is printed where the fault is not accepted; empty where it gets as far as asking for the rung."""
        rung = self.folder / "42_x"
        (rung / "faults").mkdir(parents=True, exist_ok=True)
        (rung / "faults/name.patch").write_text(text)
        (rung / "CMakeLists.txt").write_text("ladder_faults(42_x)\n")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES NONE)\nset(LADDER_TESTS ON)\nset(Python3_Interpreter_FOUND TRUE)\n"
            f"set(Python3_EXECUTABLE {sys.executable})\n"
            f"include({FOLDER.parent}/rung_tests.cmake)\nadd_subdirectory(42_x)\n"
        )
        command = [CMAKE, "-S", self.folder, "-B", self.folder / "build", f"-DCMAKE_MAKE_PROGRAM={sys.executable}"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0, "there is no rung")
        text = " ".join(done.stderr.split())
        return text if "name.patch" in text else ""

    def plant(self, patch, source=SOURCE):
        """The planted file; or what is printed where the patch does not apply."""
        (self.folder / "42_x/faults").mkdir(parents=True, exist_ok=True)
        (self.folder / "42_x/gemm.cu").write_text(source)
        fault = self.folder / "42_x/faults/name.patch"
        fault.write_text(FAULT + patch)
        command = [sys.executable, "-B", "-m", "common.tools.plant_fault", fault, "--root", self.folder, "--out", self.folder / "out"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        return (self.folder / "out/42_x/gemm.cu").read_text() if done.returncode == 0 else done.stderr

    def test_a_fault(self):
        self.assertEqual(self.configure(FAULT + PATCH), "")
        self.assertEqual(self.configure(FAULT + "unchecked: elements wrong\ncompile: sub/other.cu\n" + PATCH), "")

    def test_what_is_no_fault(self):
        for text in PATCH, "run: a\nexpect: b\n" + PATCH, FAULT, FAULT + "and this\n" + PATCH:
            self.assertIn("is no fault", self.configure(text))

    def test_fields(self):
        for more in "expekt: z\n", "run: gemm\n", "run: gemm --size 64\n":
            self.assertIn("needs run and expect", self.configure(FAULT + more + PATCH), more)
        self.assertIn("needs run and expect", self.configure(FAULT.replace("expect", "unchecked") + PATCH))

    def test_planting(self):
        self.assertEqual(self.plant(PATCH), "void k() {\n  a[0];\n  wait<2>();\n  a[0];\n  c;\n}\n")

    def test_only_the_variant_that_is_run(self):
        first = 'a<D{.x = 1}, 2>("one, {",  // the first,\n               "1"),'
        second = '\n          {.name = "two", .launch = [](int m) { return m < 1 || m >= 2; }}'
        head, end = "\nVariants<Gemm> gemm() {\n  return {", "};\n}\n"

        code = "void k() {\n  a[0];\n}\n"

        def kept(*entries):
            return code + head + "".join(entries) + end

        source = code + head + first + second + end
        self.assertEqual(only_variant(source, ""), kept("\n", second))
        self.assertEqual(only_variant(source, "two"), kept("\n", second))
        self.assertEqual(only_variant(source, "one, {"), kept(first, "\n"))
        self.assertEqual(only_variant(source, "none"), kept(first, second))
        after = "\nVariants<Gemm> others() {\n  return all;\n}\n"
        self.assertEqual(only_variant(source + after, "one, {"), kept(first, "\n") + after)

    def test_lines_that_are_gone(self):
        for source in SOURCE.replace("wait<1>", "wait<3>"), SOURCE.replace("b;", "d;"), SOURCE + SOURCE, "":
            text = " ".join(self.plant(PATCH, source).split())
            self.assertIn("42_x/faults/name.patch: these lines must occur in 42_x/gemm.cu exactly once", text)

    def test_a_patch_without_a_hunk(self):
        self.assertIn("42_x/faults/name.patch is no fault", self.plant("\n--- 42_x/gemm.cu\n-  c;\n"))
        for patch in "\n--- 42_x/gone.cu\n@@\n-  c;\n", "\n--- 42_x/gemm.cu\n@@\n":
            self.assertIn("42_x/faults/name.patch: ", " ".join(self.plant(patch).split()))


class Assembles(Case):
    def assembles(self, ptxas, *arguments):
        script = self.folder / "ptxas"
        script.write_text(f"#!/bin/sh\n{ptxas}\n")
        script.chmod(0o755)
        (self.folder / "gemm.cu.o").write_bytes(b"\x7fELF\0" + PTX)
        command = [sys.executable, "-B", FOLDER / "assembles.py", "--ptxas", script, "--target", "sm_80"]
        command += ["--gpus", "sm_80,sm_90", *arguments, self.folder / "gemm.cu.o"]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode == 0, done.stdout + done.stderr

    def test_sound(self):
        self.assertEqual(self.assembles("exit 0"), (True, ""))

    def test_a_spill_fails(self):
        ok, text = self.assembles(f'echo "{SPILL}"')
        self.assertFalse(ok)
        self.assertIn(f"gemm.cu.o for sm_90: {SPILL}", text)

    def test_a_spill_is_noted(self):
        ok, text = self.assembles(f'echo "{SPILL}"', "--spills", "note")
        self.assertTrue(ok)
        self.assertIn(f"note: gemm.cu.o for sm_80: {SPILL}", text)

    def test_an_error_fails_always(self):
        for how in "fail", "note":
            ok, text = self.assembles("echo 'ptxas fatal : no'; exit 255", "--spills", how)
            self.assertFalse(ok)
            self.assertIn("gemm.cu.o for sm_80: ptxas fatal : no", text)
            ok, text = self.assembles("exit 3", "--spills", how)
            self.assertFalse(ok)
            self.assertIn("exit code 3", text)


if __name__ == "__main__":
    unittest.main()
