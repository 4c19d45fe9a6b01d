"""The command line: what it copies, what it never touches, what it remembers; and pages that are no exercises.

python3 -m common.practice.tests.practice_test --build build
"""

import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from common.practice import exercise as exercises
from common.practice import picture, practice


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "practice"
        self.first = next(e for e in exercises.every() if e.kind == "write")
        self.file = self.folder / self.first.folder / self.first.file_name

    def run_it(self, *arguments):
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            code = practice.main(["--build", str(build), "--folder", str(self.folder), *arguments])
        return code, out.getvalue()


class CommandLine(InFolder):
    def test_every_rung_has_three_exercises_or_more_and_every_kind_is_there(self):
        every = exercises.every()
        for rung in sorted(exercises.ROOT.glob("[0-9][0-9]_*")):
            self.assertGreaterEqual(sum(e.rung == rung.name for e in every), 3, rung.name)
        self.assertEqual({e.kind for e in every}, set(exercises.KINDS))
        self.assertGreaterEqual(len(every), 36)

    def test_what_is_there_is_never_overwritten(self):
        rung = self.first.rung[:2]
        code, text = self.run_it("start", rung)
        self.assertEqual(code, 0)
        self.assertIn(str(self.file.relative_to(self.folder.parent)), text)
        self.file.write_text("mine\n")
        self.assertEqual(self.run_it("start", rung)[0], 0)
        self.assertEqual(self.file.read_text(), "mine\n")
        code, text = self.run_it(self.first.id)
        self.assertEqual((code, self.file.read_text()), (1, "mine\n"))
        self.assertIn("does not compile", text)

    def test_an_untouched_exercise_is_not_passed_and_the_attempt_is_remembered(self):
        code, text = self.run_it(self.first.id)  # copies it first
        self.assertEqual(code, 1)
        self.assertIn("Not yet", text)
        self.assertIn(self.first.fields["part"], text)
        self.assertIn("1 attempt)", self.run_it()[1])

    def test_a_solved_exercise_is_passed_and_the_next_one_named(self):
        self.run_it("start", self.first.rung[:2])
        self.file.write_text("\n".join([*self.first.header(), *self.first.solution()]) + "\n")
        code, text = self.run_it(self.first.id)
        self.assertEqual(code, 0, text)
        self.assertIn("Passed", text)
        self.assertIn("Next: ", text)
        self.assertIn(f"{self.first.id}  [x]", self.run_it()[1])
        self.file.write_text("broken")  # a later failure does not take it back
        self.assertEqual(self.run_it(self.first.id)[0], 1)
        self.assertIn("passed", json.loads((self.folder / "progress.json").read_text())[self.first.id])

    def test_hints_come_one_at_a_time_and_the_solution_last(self):
        self.run_it("start", self.first.rung[:2])
        shown = []
        for _ in range(9):
            shown.append(self.run_it(self.first.id, "--hint")[1])
            if "The next one" not in shown[-1]:
                break
        self.assertEqual(len(shown), len(self.first.hints) + 2)
        self.assertNotIn("+++", "".join(shown[:-1]))
        self.assertIn(f"+++ {self.first.fields['file']}", shown[-1])
        self.assertEqual(self.run_it(self.first.id, "--hint")[1], shown[-1])

    def test_what_does_not_exist_is_said_in_a_line(self):
        for arguments in (("99.1",), ("start", "99"), ("start",), (self.first.id, "--hnt")):
            code, text = self.run_it(*arguments)
            self.assertEqual(code, 2, text)
            self.assertEqual(text.count("\n"), 1, text)


PAGE = """# Title

kind: write
part: docs/00_naive.md#4-the-kernel
file: 00_naive/gemm.cu
run: gemm --size 64
fails: elements wrong

Why.

## blank "float accumulator = 0;"

```cuda
  float accumulator = 1;
```

## hint

Look.

## wrong one
expect: elements
Because.
```cuda
  float accumulator = 2;
```

## wrong two
expect: elements
Because.
```cuda
  float accumulator = 3;
```
"""


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = Path(folder.name) / "00_naive" / "practice" / "1_test.md"
        self.page.parent.mkdir(parents=True)

    def read(self, *changes):
        text = PAGE
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after)
        self.page.write_text(text)
        return exercises.read(self.page)

    def test_a_page_is_read(self):
        exercise = self.read()
        self.assertIn("  float accumulator = 1;", exercise.skeleton())
        self.assertEqual(len(exercise.skeleton()), len(exercise.solution()))
        self.assertEqual([wrong.name for wrong in exercise.wrong], ["one", "two"])
        self.assertIn("// Why.", exercise.header())

    def test_a_page_that_is_none_is_refused_in_a_line(self):
        for change in (
            ("# Title", "Title"),
            ("kind: write", "kind: think"),
            ("run: gemm", "walk: gemm"),
            ("file: 00_naive/gemm.cu\n", ""),
            ("fails: elements wrong\n", ""),
            ("part: docs/00_naive.md#4-the-kernel", "part: docs/00_naive.md"),
            ("float accumulator = 0;", "float product = 0;"),  # the rung has changed
            ("## wrong two", "## wrng two"),
            ("## hint\n\nLook.\n", ""),
            ("expect: elements\n", ""),
        ):
            with self.assertRaises(exercises.PracticeError, msg=change[1]) as caught:
                self.read(change)
            self.assertNotIn("\n", str(caught.exception))


class Pictures(unittest.TestCase):
    def access(self, addresses, width, space, ptx="ld"):
        return {"addresses": addresses, "bytes": width, "space": space, "ptx": ptx}

    def test_sectors(self):
        rows = picture.of_sectors(self.access([2 * lane for lane in range(32)], 2, "global"))
        self.assertEqual(rows[0].split(), "sector 0: lanes 0-15".split())
        self.assertIn("2 sectors of 32 bytes for 64 bytes: 2 would hold them", rows[-1])
        rows = picture.of_sectors(self.access([64 * lane for lane in range(32)], 2, "global"))
        self.assertIn("more like these", rows[-2])
        self.assertIn("32 sectors of 32 bytes for 64 bytes: 2 would", rows[-1])

    def test_banks(self):
        rows = picture.of_banks(self.access([128 * lane for lane in range(32)], 4, "shared"))
        self.assertEqual(rows[1].split(), ["bank", "0:", "32", "words,", "of", "lanes", *" | ".join(map(str, range(32))).split()])
        self.assertIn("32 wavefronts: 1 would do", rows[-1])
        rows = picture.of_banks(self.access([4 * lane for lane in range(32)], 4, "shared"))
        self.assertIn("1 wavefront: no bank has two words", rows[-1])

    def test_lanes(self):
        self.assertEqual(picture.lanes_text([0, 1, 2, 5, 7, 8]), "0-2 5 7-8")


if __name__ == "__main__":
    at = sys.argv.index("--build")
    build = Path(sys.argv[at + 1])
    del sys.argv[at : at + 2]
    unittest.main()
