"""Tests of what rungs are tested with: `test_rung_tests.py CMAKE`."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE = sys.argv.pop(1)
FOLDER = Path(__file__).resolve().parent
PTX = b".version 8.8\n.target sm_80\n.address_size 64\n\0"
SPILL = "ptxas warning : Registers are spilled to local memory in function 'k'"


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()


class Faults(Case):
    def configure(self, arguments):
        """What is printed where the fault is not accepted; empty where it gets as far as asking for the rung."""
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES NONE)\nset(LADDER_TESTS ON)\n"
            f"include({FOLDER.parent}/rung_tests.cmake)\nladder_fault(rung gemm.cu name {arguments})\n"
        )
        command = [CMAKE, "-S", self.folder, "-B", self.folder / "build", f"-DCMAKE_MAKE_PROGRAM={sys.executable}"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0, "there is no rung")
        text = " ".join(done.stderr.split())
        return text if "ladder_fault" not in text or "the fault name of rung" in text else ""

    def test_a_keyword_twice_is_an_error(self):
        for twice in "HEADER a HEADER b REPLACE x BY y", 'REPLACE x BY "" RUN r BY y', "REPLACE x REPLACE x":
            self.assertRegex(self.configure(f"{twice} EXPECT e"), "the fault name of rung has [A-Z]+ twice")

    def test_what_is_no_keyword_is_an_error(self):
        self.assertIn("has what it should not", self.configure("REPLACE x BY y EXPEKT z"))

    def test_texts_may_hold_anything(self):
        self.assertEqual(self.configure('REPLACE "a;\\nb;\\n" BY "" RUN "x y" EXPECT "HEADER"'), "")


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
