"""Tests of sanitize.py, with shell scripts for compute-sanitizer and the rungs."""

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from fixture import InFolder, listing

from common.tools import sanitize

# Without a GPU for it: exit code 77.
RUNG = """
[ -e "$0.missing" ] && { echo "42_x: needs sm_90a: this GPU is an A100" >&2; exit 77; }
[ "$1" = --list ] && { LISTING; }
[ "$1" = --list ] || printf "42_x: a title\\nTest GPU, driver 1.2\\n"
""".replace("LISTING", listing(gemm=["a"], fused_norm=["a"], linear=["b", "a"]))
CLEAN = "echo '========= ERROR SUMMARY: 0 errors'"
RUNS = [" --ablate --verify-only --reference cpu", " linear --ablate --verify-only --reference cpu"]


class Sanitized(InFolder):
    def sanitize(self, script, *arguments):
        self.program("path/compute-sanitizer", 'echo "$*" >&3\n' + script)
        self.program("42_x", RUNG)
        path = f"{self.root}/path:{os.environ['PATH']}"
        with mock.patch.dict(os.environ, PATH=path), redirect_stdout(io.StringIO()) as said:
            with redirect_stderr(said):
                try:
                    code = sanitize.main(["--bin", str(self.root), *arguments, "42_x"])
                except SystemExit as stopped:
                    code = stopped.code
        return code, said.getvalue()

    def test_every_tool_and_problem(self):
        code, said = self.sanitize(CLEAN)
        self.assertEqual(code, 0)
        options, runs = zip(*(line.split(str(self.root / "42_x")) for line in self.log()))
        self.assertEqual([*runs], RUNS * 3)
        self.assertEqual(options[2], "--tool racecheck --error-exitcode 99 --print-limit 3 ")
        self.assertIn("42_x linear racecheck: exit code 0 in 0 s, ERROR SUMMARY: 0 errors", said)

    def test_what_is_found(self):
        code, said = self.sanitize(
            f'case "$*" in *racecheck*linear*) echo "a race"; exit 99; esac; {CLEAN}', "--tools", "memcheck,racecheck")
        self.assertEqual((code, len(self.log())), (1, 4))
        self.assertIn("42_x linear --ablate --verify-only --reference cpu\na race", said)
        self.assertIn("not clean: 42_x linear racecheck", said)

    def test_what_checks_nothing_is_not_clean(self):
        code, said = self.sanitize("echo '========= Error: No attachable process found'", "--tools", "memcheck")
        self.assertEqual(code, 1)
        self.assertIn("42_x memcheck: exit code 0 in 0 s, no summary", said)
        self.assertIn("No attachable process", said)

    def test_a_kernel_that_hangs(self):
        script = f"case $* in *linear*) {CLEAN}; exit;; esac; sleep 60"
        code, said = self.sanitize(script, "--tools", "memcheck", "--limit", "2")
        self.assertEqual((code, len(self.log())), (1, 2))
        self.assertIn("42_x memcheck: not done after 2 s: ", said)
        self.assertIn("not clean: 42_x memcheck\n", said)

    def test_no_gpu(self):
        """The sanitizer is not run: it has no exit code for a program that finds no GPU."""
        self.write("42_x.missing", "")
        code, said = self.sanitize(CLEAN)
        self.assertEqual((code, self.log()), (1, []))
        self.assertIn("42_x: not run: 42_x: needs sm_90a", said)
        self.assertIn("no rung can run here", said)

    def test_a_rung_that_cannot_run(self):
        self.program("43_y", RUNG)
        self.write("43_y.missing", "")
        code, said = self.sanitize(CLEAN, "43_y")
        self.assertEqual((code, len(self.log())), (0, 6))
        self.assertIn("43_y: not run", said)

    def test_a_program_that_is_missing(self):
        code, said = self.sanitize(CLEAN, "44_z")
        self.assertEqual((code, self.log()), (1, []))
        self.assertIn("44_z", said)

    def test_no_sanitizer(self):
        with mock.patch("common.tools.sanitize.nvidia_tool", lambda name: None), redirect_stderr(io.StringIO()) as said:
            self.assertEqual(sanitize.main(["--bin", str(self.root)]), 1)
        self.assertIn("compute-sanitizer is missing", said.getvalue())
