"""The command line: what it copies, what it never touches, what it remembers; and pages that are no exercises.

python3 -m common.practice.tests.practice_test --build build
"""

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from common.practice import exercise as exercises
from common.practice import grade, hints, picture, practice
from common.practice.progress import Progress


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
        self.assertIn("the rung's\n", text)
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
            if "Next hint (" not in shown[-1]:
                break
        self.assertEqual(len(shown), len(self.first.hints) + 2 + bool(self.first.structure))
        self.assertNotIn("+++", "".join(shown[:-1]))
        self.assertIn(f"+++ {self.first.fields['file']}", shown[-1])
        self.assertEqual(self.run_it(self.first.id, "--hint")[1], shown[-1])

    def test_what_does_not_exist_is_said_in_a_line(self):
        id = self.first.id
        self.run_it("start", id[:2])
        for arguments, words in (
            (("99.1",), "no exercise '99.1'"),
            (("02.99",), "rung 02 has 02.1 to 02."),
            (("2.1",), "did you mean 02.1?"),
            (("02",), "practice start 02, or one of its exercises, 02.1"),
            (("strat",), "did you mean start?"),
            (("start", "99"), "start RUNG"),
            (("start",), "start RUNG"),
            ((id, "--hnt"), "'--hnt'"),
            ((id, "run"), "'run'"),
            ((id, "--hint", "7"), "you can see"),
        ):
            code, text = self.run_it(*arguments)
            self.assertEqual((code, text.strip().count("\n")), (2, 0), text)
            self.assertIn(words, text)

    def test_help_is_given_wherever_it_is_looked_for(self):
        for arguments in (("-h",), ("--help",), ("help",), (self.first.id, "--help"), ("new", "--help"), ("start", "-h"), ("nothing", "-h")):
            code, text = self.run_it(*arguments)
            self.assertEqual((code, text), (0, practice.__doc__.strip() + "\n"), arguments)
        self.assertFalse(self.folder.exists())

    def test_a_pipe_that_is_closed_early_is_no_failure_to_be_told_of(self):
        command = [sys.executable, "-B", "-m", "common.practice.practice", "--build", str(build), "--folder", str(self.folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=exercises.ROOT) as running:
            running.stdout.close()  # before the first line
            self.assertEqual(running.stderr.read(), b"")

    def test_a_byte_that_is_no_utf_8_is_said_in_a_line(self):
        self.run_it("start", self.first.rung[:2])
        self.file.write_bytes(b"// one\n// caf\xe9\n")
        for more in ((), ("--counters",)):
            code, text = self.run_it(self.first.id, *more)
            self.assertEqual((code, text.count("\n")), (2, 1), text)
            self.assertIn(f"{self.file}:2: byte 0xe9 is not UTF-8", text)

    def test_a_prediction_is_never_worked_out_for_ever(self):
        prediction = next(e for e in exercises.every() if e.kind == "predict")
        self.run_it("start", prediction.rung[:2])
        file = self.folder / prediction.folder / "answers.txt"
        for answer in ("9**9**9", "1e999", "1" * 5_000_000):
            file.write_text(f"{prediction.questions[0].name} = {answer}\n")
            code, text = self.run_it(prediction.id)
            self.assertEqual(code, 1, text)
            self.assertIn("is no number", text)
            self.assertLess(len(text), 2000)

    def test_a_shape_of_the_learners_own_is_run(self):
        self.run_it("start", self.first.rung[:2])
        self.file.write_text("\n".join(self.first.solution()) + "\n")
        command = [sys.executable, "-B", "-m", "common.practice.practice", "--build", str(build), "--folder", str(self.folder)]
        command += [self.first.id, "--m", "40", "--n", "24", "--k", "16", "--counters", "--source"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=exercises.ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (" 40x24x16 ", "global load", f"{self.file.parent.name}/{self.file.name}"):
            self.assertIn(words, done.stdout)

    def test_ctrl_c_ends_everything(self):
        folder = self.folder.parent
        compiler = folder / "nvcc"
        compiler.write_text(f"#!/bin/sh\nsh -c 'echo $$ >{folder}/below; sleep 100; exit 0'\n")
        compiler.chmod(0o755)
        settings = json.loads((build / "practice" / "settings.json").read_text())
        (folder / "build" / "practice").mkdir(parents=True)
        (folder / "build" / "practice" / "settings.json").write_text(json.dumps({**settings, "nvcc": str(compiler)}))
        command = [sys.executable, "-B", "-m", "common.practice.practice", "--build", str(folder / "build"), "--folder", str(self.folder)]
        with subprocess.Popen([*command, self.first.id], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=exercises.ROOT) as running:
            below = folder / "below"
            while running.poll() is None and not (below.exists() and below.read_text().strip()):
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            _, said = running.communicate()
        self.assertEqual((running.returncode, said), (130, "practice: interrupted\n"))
        for _ in range(1000):
            try:
                os.kill(int(below.read_text()), 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)
        self.fail("a compiler runs on")


class ShortCourse(InFolder):
    def setUp(self):
        super().setUp()
        self.every = exercises.every()
        for exercise in self.every:
            exercise.fields.pop("core", None)
        self.core = [self.every[0], self.every[5], self.every[9]]
        for exercise in self.core:
            exercise.fields["core"] = "20"
        every = mock.patch.object(exercises, "every", return_value=self.every)
        every.start()
        self.addCleanup(every.stop)

    def passed(self, *done):
        for exercise in done:
            Progress(self.folder).change(exercise, lambda state: state.update(passed="2030-01-02"))

    def test_it_is_listed_first(self):
        code, text = self.run_it()
        short, _, others = text.partition("All others, by rung")
        self.assertEqual(code, 0)
        self.assertIn("The short course: 3 exercises, about 1 hour (the minutes are estimates)", short)
        for exercise in self.every:
            self.assertIn(f"  {exercise.id}  [ ]", short if exercise.core else others)
        self.assertIn(f"  {self.core[1].id}  [ ]  20 min  {self.core[1].kind}", short)

    def test_it_goes_on_with_itself(self):
        self.passed(self.core[0], self.every[1])
        self.assertIn(f"build/bin/practice {self.core[1].id}\n", self.run_it()[1])
        progress = Progress(self.folder)
        self.assertEqual(practice.next_after(self.every, progress, self.core[0]), self.core[1])
        self.assertEqual(practice.next_after(self.every, progress, self.every[1]), self.every[2])  # of the same rung
        self.passed(*self.core)
        self.assertEqual(practice.next_after(self.every, Progress(self.folder), self.core[2]), self.every[10])
        self.passed(*self.every)
        self.assertIn("All done", self.run_it()[1])

    def test_how_it_is_built_comes_before_the_solution_and_a_word_after_the_pass(self):
        self.first.structure, self.first.passed = "Three loops.", "On a GPU it is slow."
        self.every[self.every.index(next(e for e in self.every if e.id == self.first.id))] = self.first
        names = [what for what, _ in hints.steps(None, self.first, self.file)]
        self.assertEqual(names[-3:], ["how the solution is built", "the first line of the solution", "the solution"])
        with mock.patch.object(grade, "graded", return_value=grade.Verdict(True, "", "", "Your kernel printed, in gemm:\n7")):
            text = self.run_it(self.first.id)[1]
        self.assertLess(text.index("Passed"), text.index("Your kernel printed, in gemm:\n7\n"))
        self.assertLess(text.index("gemm:\n7\n"), text.index("On a GPU it is slow.\n"))
        self.assertLess(text.index("On a GPU"), text.index("Next: "))


class Remembered(InFolder):
    def test_a_damaged_file_is_kept_aside(self):
        self.folder.mkdir()
        file = self.folder / "progress.json"
        for number, damage in enumerate((b"{", b"[]", b'{"00.1": 7}', b"\xff", b'{"00.1": {"hints": "x"}}')):
            file.write_bytes(damage)
            code, text = self.run_it()
            aside = f"progress.json.damaged{f'-{number + 1}' if number else ''}"
            self.assertEqual(code, 0, text)
            self.assertIn(f"practice: {file} is damaged: kept as {aside}, and a new one begun\n", text)
            self.assertEqual((self.folder / aside).read_bytes(), damage)
            self.assertNotIn("damaged", self.run_it()[1])

    def test_graders_at_once_lose_nothing(self):
        code = (
            "import sys; from pathlib import Path; from common.practice import exercise; from common.practice.progress import Progress\n"
            "progress, every = Progress(Path(sys.argv[1])), exercise.every()\n"
            "for i in range(20):\n"
            "    for each in (every[0], every[int(sys.argv[2])]):\n"
            "        progress.change(each, lambda state: state.update(attempts=state['attempts'] + 1))\n"
        )
        command = [sys.executable, "-B", "-c", code, str(self.folder)]
        running = [subprocess.Popen([*command, str(number)], cwd=exercises.ROOT) for number in (1, 2, 3)]
        self.assertEqual([process.wait() for process in running], [0, 0, 0])
        every, done = exercises.every(), json.loads((self.folder / "progress.json").read_text())
        self.assertEqual([done[every[number].id]["attempts"] for number in range(4)], [60, 20, 20, 20])


class Hints(unittest.TestCase):
    def test_what_does_something(self):
        for line in ("Fields fields{};", "}", "{", "float sum = 0;", "__shared__ float tile[32][33];", "int row, col;", "constexpr int n = 4;",
                     "__device__ float f(float x) {", "// a = b + c", "#pragma unroll", "auto x = y;", "} else {", "template <int n>"):  # fmt: skip
            self.assertFalse(hints.does_something(line), line)
        for line in ("int row = a * b;", "for (;;) {", "x += y;", "ptx::cluster_wait();", 'asm volatile("x;");', "const int t = f(x);",
                     "x = y - 1;  // why", "return row * 2;", "buffer ^= 1;", "++k;", "if (lane == 0) f(x);", "a[i] = b[i] << 1;"):  # fmt: skip
            self.assertTrue(hints.does_something(line), line)

    def test_the_first_line_is_none_that_says_nothing(self):
        for exercise in exercises.every():
            if exercise.kind != "predict":
                shown = hints.first_line(exercise)
                self.assertTrue("\n" in shown or hints.does_something(shown), f"{exercise.id}: {shown}")


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
            ("run: gemm", "core: soon\nrun: gemm"),
            ("run: gemm", "sms: 0\nrun: gemm"),
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
