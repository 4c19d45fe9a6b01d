"""Tests of programs.py: how programs are run."""

import subprocess
import time

from fixture import InFolder, listing

from common.tools import programs


class RunFor(InFolder):
    def test_what_comes_back(self):
        done = programs.run_for(60, ["sh", "-c", "echo out; echo err >&2; exit 3"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((done.returncode, done.stdout), (3, "out\nerr\n"))

    def test_what_it_started_ends_with_it(self):
        profiler = self.program("profiler", "sh -c 'sleep 3; echo still there >&3'; exit 0")
        begun = time.monotonic()
        with self.assertRaises(subprocess.TimeoutExpired):
            programs.run_for(0.5, [str(profiler)], stdout=subprocess.PIPE)
        self.assertLess(time.monotonic() - begun, 3)
        time.sleep(max(0, 3.5 - (time.monotonic() - begun)))
        self.assertEqual(self.log(), [])


class Listed(InFolder):
    def test_what_is_listed(self):
        rung = self.program("42_x", f'echo "$*" >&3; {listing(gemm=["plain", "fast"], linear=["bias"])}')
        listed = programs.listed(rung)
        self.assertEqual(self.log(), ["--list --json -"])
        self.assertEqual(programs.problems(rung), ["gemm", "linear"])
        self.assertEqual([(each["name"], each["is_rung"]) for each in listed["gemm"]["variants"]], [("plain", False), ("fast", True)])

    def test_what_fails(self):
        with self.assertRaisesRegex(OSError, "exit code 2: why"):
            programs.listed(self.program("42_x", "echo why; exit 2"))
        with self.assertRaisesRegex(OSError, "of an older revision"):
            programs.listed(self.program("42_x", "echo 'gemm  fast  (the rung) words'"))


class DeviceOf(InFolder):
    def test_it(self):
        rung = self.program("42_x", 'echo "$*" >&3; printf "42_x: a title\\nTest GPU, driver 1.2, CUDA 13\\n"')
        self.assertEqual(programs.device_of(rung), "Test GPU")
        self.assertEqual(self.log(), ["gemm --size 8 --verify-only --reference cpu"])

    def test_none(self):
        rung = self.program("42_x", "echo line >&2; echo why >&2; exit 77")
        with self.assertRaisesRegex(programs.CannotRun, "^why$"):
            programs.device_of(rung)

    def test_what_fails(self):
        rung = self.program("42_x", "echo why; exit 1")
        with self.assertRaisesRegex(OSError, "exit code 1: why"):
            programs.device_of(rung)
