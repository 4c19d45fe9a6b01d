"""Tests of sanitize.py, with shell scripts for compute-sanitizer and the rungs."""

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from fixture import InFolder

import sanitize

LISTS = 'echo "gemm  a  words"; echo "fused_norm  a  words"; echo "linear  a  (the rung)"; echo "linear  b  words"'


class Sanitized(InFolder):
    def sanitize(self, script, *arguments):
        self.program("path/compute-sanitizer", 'echo "$*" >&3\n' + script)
        self.program("42_x", LISTS)
        path = f"{self.root}/path:{os.environ['PATH']}"
        with mock.patch.dict(os.environ, PATH=path), redirect_stdout(io.StringIO()) as said:
            with redirect_stderr(said):
                code = sanitize.main(["--bin", str(self.root), *arguments, "42_x"])
        return code, said.getvalue()

    def test_every_tool_and_problem(self):
        code, said = self.sanitize("echo '= ERROR SUMMARY: 0 errors'")
        self.assertEqual(code, 0)
        runs = [line.split(str(self.root / "42_x"))[1] for line in self.log()]
        self.assertEqual(runs, [" --ablate --verify-only --reference cpu", " linear --ablate --verify-only --reference cpu"] * 3)
        self.assertIn("42_x linear racecheck: exit code 0 in 0 s = ERROR SUMMARY: 0 errors", said)

    def test_what_is_found(self):
        code, said = self.sanitize('case "$*" in *racecheck*linear*) echo "a race"; exit 99; esac', "--tools", "memcheck,racecheck")
        self.assertEqual((code, len(self.log())), (1, 4))
        self.assertIn("a race", said)
        self.assertIn("not clean: 42_x linear racecheck", said)

    def test_no_gpu(self):
        code, said = self.sanitize("exit 77")
        self.assertEqual(code, 0)
        self.assertIn("42_x: not run, no usable GPU", said)

    def test_no_sanitizer(self):
        with mock.patch.dict(os.environ, PATH=str(self.root)), redirect_stderr(io.StringIO()) as said:
            self.assertEqual(sanitize.main(["--bin", str(self.root)]), 1)
        self.assertIn("compute-sanitizer is missing", said.getvalue())
