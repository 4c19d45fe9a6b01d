"""Tests of what is read of a planted fault, and of what CMake gets of it."""

from __future__ import annotations

import unittest

from fixture import InFolder

from common.tools import faults

HEAD = "Nothing waits for the copies.\n\nrun: gemm --variant two --size 64\nexpect: (race|deadlock) in .*k\n"
PATCH = "\n--- common/a.cuh\n@@\n   a[0];\n-  wait<1>();\n@@\n-  b;\n"


class Faults(InFolder):
    def read(self, text, name="name.patch"):
        return faults.read(self.write(f"42_x/faults/{name}", text))

    def test_a_fault(self):
        fault = self.read(HEAD + "unchecked: elements wrong\ncompile: sub/gemm.cu\n" + PATCH)
        self.assertEqual((fault.program, fault.name, fault.what), ("42_x", "name", "Nothing waits for the copies."))
        self.assertEqual((fault.run, fault.expect), ("gemm --variant two --size 64", "(race|deadlock) in .*k"))
        self.assertEqual((fault.unchecked, fault.variant), ("elements wrong", "two"))
        self.assertEqual((fault.patched, fault.compiled), ("common/a.cuh", "42_x/sub/gemm.cu"))
        self.assertEqual(fault.hunks, ("   a[0];\n-  wait<1>();", "-  b;"))
        self.assertEqual(fault.patch, PATCH.strip("\n"))

    def test_what_need_not_be_there(self):
        fault = self.read(HEAD.replace("--variant two ", "") + PATCH)
        self.assertEqual((fault.unchecked, fault.compiled, fault.variant), ("", "common/a.cuh", ""))
        self.assertEqual(self.read(HEAD.replace("--variant", "--type") + PATCH).variant, "two")

    def test_what_is_no_fault(self):
        for text in PATCH, "run: a\nexpect: b\n" + PATCH, HEAD, HEAD + "and this\n" + PATCH, HEAD + PATCH.replace("@@\n", ""):
            with self.assertRaisesRegex(faults.NotAFault, "42_x/faults/name.patch is no fault"):
                self.read(text)
        with self.assertRaisesRegex(faults.NotAFault, "42_x/faults/name.txt is no fault"):
            self.read(HEAD + PATCH, "name.txt")

    def test_fields(self):
        for more in "expekt: z\n", "run: gemm\n":
            with self.assertRaisesRegex(faults.NotAFault, "nothing twice"):
                self.read(HEAD + more + PATCH)
        with self.assertRaisesRegex(faults.NotAFault, "needs run and expect"):
            self.read(HEAD.replace("expect", "unchecked") + PATCH)

    def test_what_cmake_is_told(self):
        self.read(HEAD + PATCH, "b.patch")
        self.read(HEAD + "compile: gemm.cu\n" + PATCH, "a.patch")
        faults.write_cmake(self.root, self.root / "out")
        run = "[==[gemm --variant two --size 64]==] [==[(race|deadlock) in .*k]==] [==[]==]"
        self.assertEqual(
            (self.root / "out/42_x.cmake").read_text(),
            f"ladder_fault([==[42_x]==] [==[a]==] [==[common/a.cuh]==] [==[42_x/gemm.cu]==] {run})\n"
            f"ladder_fault([==[42_x]==] [==[b]==] [==[common/a.cuh]==] [==[common/a.cuh]==] {run})\n",
        )


if __name__ == "__main__":
    unittest.main()
