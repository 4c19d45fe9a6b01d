"""Tests of golden.py, with shell scripts for programs."""

import io
from contextlib import redirect_stdout

from fixture import InFolder

from common.tools import golden


class Golden(InFolder):
    def main(self, *arguments):
        with redirect_stdout(io.StringIO()) as said:
            code = golden.main([*map(str, arguments)])
        return code, said.getvalue()

    def compare(self, script, text=None, *more):
        if text is not None:
            self.write("golden/p.txt", text)
        program = self.program("p", script)
        return self.main("compare", program, "--runtime", "/there", "--golden", self.root / "golden/p.txt", *more)

    def test_the_same(self):
        self.assertEqual(self.compare('printf "a\\nb\\n$LD_LIBRARY_PATH\\n"', "a\nb\n/there\n"), (0, ""))

    def test_bytes_that_are_no_text(self):
        (self.root / "golden").mkdir()
        (self.root / "golden/p.txt").write_bytes(b"\xff[;\n")
        self.assertEqual(self.compare("printf '\\377[;\\n'")[0], 0)
        self.assertEqual(self.compare("printf '\\376[;\\n'")[0], 1)

    def test_what_differs_is_shown(self):
        code, said = self.compare("echo a; echo c; echo why >&2; exit 1", "a\nb\n")
        self.assertEqual(code, 1)
        for text in "line 2\n  GPU:       b\n  simulator: c\n", "exit code 1", "why":
            self.assertIn(text, said)
        self.assertNotIn("line 1\n", said)
        code, said = self.compare("true", "a\nb\n")
        self.assertIn("simulator: (nothing)", said)
        self.assertIn("1 lines, 3 expected", said)
        code, said = self.compare("seq 10", "\n" * 10)
        self.assertEqual(said.count("GPU:"), golden.MOST_LINES)

    def test_the_same_and_an_exit_code(self):
        self.assertEqual(self.compare("echo a; exit 2", "a\n")[0], 1)

    def test_not_recorded(self):
        code, said = self.compare("echo a")
        self.assertEqual(code, 1)
        self.assertIn("is missing: record it on a GPU", said)
        self.assertEqual(self.compare('echo "$SIMULATOR_SEED" >&3', None, "--unrecorded"), (0, ""))
        self.assertEqual(self.log(), ["1"])
        self.assertEqual(self.compare('echo "$SIMULATOR_SEED" >&3', None, "--unrecorded", "--every"), (0, ""))
        self.assertEqual(self.log(), ["1", "0", "1", "2"])
        code, said = self.compare('[ "$SIMULATOR_SEED" != 1 ]', None, "--unrecorded")
        self.assertEqual(code, 1)
        self.assertIn("seed 1: exit code 1", said)

    def record(self, *names):
        return self.main("record", *names, "--bin", self.root, "--runtime", "/there", "--golden", self.root)

    def test_recording(self):
        self.program("good", 'echo "<$LD_LIBRARY_PATH>"')
        self.program("other", "echo >&3; wc -l < '" + str(self.root / "log") + "'")
        self.program("bad", "echo wrong; exit 1")
        code, said = self.record("good", "other", "bad")
        self.assertEqual(code, 1)
        self.assertIn("good: recorded", said)
        self.assertIn("other: run 2 prints something else", said)
        self.assertIn("bad: wrong\nexit code 1", said)
        self.assertEqual((self.root / "good.txt").read_text(), "</there>\n")
        self.assertFalse((self.root / "other.txt").exists() or (self.root / "bad.txt").exists())
        self.assertEqual(self.record("good")[0], 0)
