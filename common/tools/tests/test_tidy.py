"""Tests of tidy.py, with a shell script for clang-tidy."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from fixture import InFolder

from common.tools import tidy


class Tidy(InFolder):
    def tidy(self, script, *parts, more=()):
        build = self.root / "build"
        files = ("a/one.cc", "a/two.cc", "a/one.cc", "b/kernel.cu", "a/tests/other.cc", "build/made.cc", "/elsewhere/x.cc")
        commands = [{"directory": str(self.root), "file": name} for name in (*files, *more)]
        self.write("build/compile_commands.json", json.dumps(commands))
        program = self.program("clang-tidy", 'for last; do :; done; echo "$last" >&3\n' + script)
        arguments = [str(build), "--jobs", "1", "--clang-tidy", str(program), *parts]
        with mock.patch("common.tools.tidy.ROOT", self.root.resolve()), redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
            try:
                code = tidy.main(arguments)
            except SystemExit as stopped:
                code = stopped.code
        return code, said.getvalue() or code, [line.rpartition("/")[2] for line in self.log()]

    def test_every_source_once(self):
        code, said, files = self.tidy("exit 0")
        self.assertEqual((code, files), (0, ["one.cc", "two.cc"]))
        self.assertIn("tidy: 2 files, 0 with something to mend", said)

    def test_some(self):
        self.assertEqual(self.tidy("exit 0", "a/t")[2], ["two.cc"])
        code, said, _ = self.tidy("exit 0", "nowhere")
        self.assertEqual(code, 1)
        self.assertIn("no such source", said)

    def test_a_build_that_compiles_several_files_as_one(self):
        code, said, files = self.tidy("exit 0", more=["build/CMakeFiles/a.dir/Unity/unity_0_cxx.cxx"])
        self.assertIn("cmake --preset contributor", said)
        self.assertEqual((bool(code), files), (True, []))

    def test_what_it_says(self):
        code, said, _ = self.tidy('case "$*" in *two.cc) echo "two.cc:3: error: worse"; exit 1; esac')
        self.assertEqual(code, 1)
        self.assertIn("a/two.cc:\ntwo.cc:3: error: worse", said)
        self.assertIn("1 with something to mend", said)

    def test_a_tool_that_does_not_run(self):
        code, said, _ = self.tidy("echo broken >&2; exit 3")
        self.assertEqual(code, 1)
        self.assertIn("broken", said)
