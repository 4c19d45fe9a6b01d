"""Tests of word_count.py."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "word_count.py"
CODE = "<!-- code: a.cu kernel -->\n```cuda\nnot counted at all\n```\n<!-- /code -->\n"
PAGE = "# Two words\n\n![not counted](x.svg)\n\n<!-- nor this -->[three more words](not/counted.md) – `one`\n"


class Lengths(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        (self.root / "docs" / "deeper").mkdir(parents=True)
        self.write("README.md", "short\n")

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def count(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_prose_is_counted(self):
        self.write("docs/00_naive.md", PAGE + 3 * CODE)
        code, text = self.count()
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"docs/00_naive\.md +6 words of 2100 +\d+ in all +3 excerpts")

    def test_a_page_over_its_budget_is_named(self):
        for name, most in (("README.md", 400), ("docs/00_naive.md", 2100), ("docs/setup.md", 2500), ("docs/deeper/00_why.md", 3000)):
            before = self.root / name
            self.write(name, 3 * CODE + "word " * most)
            self.assertEqual(self.count()[0], 0, name)
            self.write(name, 3 * CODE + "word " * (most + 1))
            code, text = self.count()
            self.assertEqual(code, 1, name)
            self.assertIn("1 words too many", text)
            before.unlink()
            self.write("README.md", "short\n")

    def test_all_that_a_chapter_holds_is_counted(self):
        for name, most in (("docs/00_naive.md", 3000), ("docs/setup.md", None)):
            self.write(name, 3 * CODE)
            rest = (most or 3000) - len((self.root / name).read_text(encoding="utf-8").split()) - 2
            self.write(name, 3 * CODE + "```\n" + "word " * rest + "\n```\n")
            self.assertEqual(self.count()[0], 0, name)
            self.write(name, 3 * CODE + "```\n" + "word " * (rest + 1) + "\n```\n")
            code, text = self.count()
            self.assertEqual(code, 1 if most else 0, name)
            self.assertEqual("1 words too many in the whole file" in text, bool(most), name)
            (self.root / name).unlink()

    def test_a_chapter_without_code_is_named(self):
        self.write("docs/00_naive.md", PAGE + 2 * CODE)
        code, text = self.count()
        self.assertEqual(code, 1)
        self.assertIn("2 excerpts of code, 3 at least", text)


if __name__ == "__main__":
    unittest.main()
