"""Programs of a reader's own (own.py, own.cmake). The programs test_02 and test_page, which CMake makes in
build/practice/programs, are built with the tests: nothing is configured here.

python3 -m common.practice.tests.own_test --build build --cmake cmake
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from common.practice import exercise as exercises
from common.practice import own, practice
from common.practice.exercise import ROOT

parser = argparse.ArgumentParser()
parser.add_argument("--build", type=Path, required=True)
parser.add_argument("--cmake", required=True)
SETTINGS = parser.parse_args()
SOURCE = ROOT / "02_smem_tiling" / "gemm.cu"


def call(folder: Path, *arguments) -> tuple:
    """Exit code, and what it printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = practice.main(["--build", str(SETTINGS.build), "--folder", str(folder), *arguments])
    return code, said.getvalue()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "practice"

    def refuses(self, arguments: tuple, *words) -> None:
        code, text = call(self.folder, *arguments)
        self.assertEqual(code, 2, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        for word in ("practice: ", *words):
            self.assertIn(word, text)


class New(InFolder):
    def test_it_copies_the_rung(self):
        for problem in own.PROBLEMS:
            code, text = call(self.folder, "new", f"my_{problem}", "--from", "05", "--problem", problem)
            self.assertEqual(code, 0, text)
            self.assertIn(f"practice/my_{problem}/{problem}.cu", text)
            made = (self.folder / f"my_{problem}" / f"{problem}.cu").read_text()
            rung = (ROOT / "05_mma_sync" / f"{problem}.cu").read_text()
            self.assertTrue(made.endswith(rung.replace("rung_05", "mine")))
            self.assertIn(f"build/bin/practice my_{problem}", made)
            self.assertEqual((self.folder / f"my_{problem}" / "from.txt").read_text(), f"05_mma_sync {problem}\n")

    def test_the_rungs_header_can_be_copied(self):
        call(self.folder, "new", "mine", "--from", "06_swizzle_ldmatrix")
        self.assertIn("practice/mine/06_swizzle_ldmatrix/tiles.cuh", (self.folder / "mine" / "gemm.cu").read_text())

    def test_bad_names_are_refused(self):
        for name in ("5x", "a-b", "a b", "../x", "a/b", "", "ä", "new", "start", "x_sim", "x_objects"):
            self.refuses(("new", name, "--from", "02"), f"'{name}'")
        self.refuses(("new",), "required")
        self.refuses(("new", "x"), "--from")
        self.assertFalse(self.folder.exists())

    def test_an_unknown_rung_is_refused(self):
        self.refuses(("new", "x", "--from", "42"), "'42'", "00, 01, 02")
        self.refuses(("new", "x", "--from", "02", "--problem", "conv"), "conv")
        self.assertFalse(self.folder.exists())

    def test_nothing_is_overwritten(self):
        place = self.folder / "mine"
        for there in (lambda: place.mkdir(parents=True), lambda: place.write_text("a file"), lambda: place.symlink_to("/nowhere")):
            there()
            self.refuses(("new", "mine", "--from", "02"), "there already")
            place.rmdir() if place.is_dir() else place.unlink()
        call(self.folder, "new", "mine", "--from", "02")
        (place / "gemm.cu").write_text("// hours of work\n")
        self.refuses(("new", "mine", "--from", "02"), "there already")
        self.assertEqual((place / "gemm.cu").read_text(), "// hours of work\n")


class Run(InFolder):
    def test_what_is_no_program_is_refused(self):
        self.refuses(("nothing",), "there is no exercise and no program 'nothing'", "new nothing --from 05")
        self.refuses(("no-name",), "'no-name'")
        for text in ("", "junk\n", "05_mma_sync\n", "05_mma_sync conv\n", "42_no gemm\n"):
            (self.folder / "bad").mkdir(parents=True, exist_ok=True)
            (self.folder / "bad" / "from.txt").write_text(text)
            self.refuses(("bad",), "from.txt")

    def test_a_source_that_is_gone_or_empty_is_said_to_be(self):
        call(self.folder, "new", "mine", "--from", "02")
        (self.folder / "mine" / "gemm.cu").write_text(" \n")
        self.refuses(("mine",), "practice/mine/gemm.cu", "is empty")
        (self.folder / "mine" / "gemm.cu").unlink()
        self.refuses(("mine", "--counters"), "practice/mine/gemm.cu", "is missing")

    def test_without_a_gpu_nothing_is_plotted(self):
        self.refuses_of_test_02(("test_02", "--plot"), "needs a GPU")

    def refuses_of_test_02(self, arguments, *words):
        self.folder = SETTINGS.build / "practice" / "programs"
        self.refuses(arguments, *words)

    def test_the_kernel_that_the_page_shows(self):
        code, text = call(SETTINGS.build / "practice" / "programs", "test_page")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"Right at \d+ awkward shapes")
        self.assertRegex(text, r"00_naive +test_page nt\n")

    def test_right_edited_and_broken(self):
        folder = SETTINGS.build / "practice" / "programs"
        file = folder / "test_02" / "gemm.cu"
        original = SOURCE.read_text()
        self.addCleanup(file.write_text, original)
        if file.read_text() != original:  # a test was interrupted
            file.write_text(original)
        code, text = call(folder, "test_02")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"Right at \d+ awkward shapes, each under the schedules 0, 1, 2")
        self.assertRegex(text, r"02_smem_tiling +test_02 register_tile")
        self.assertRegex(text, r"global_load_sectors +16384 +16384\n")

        file.write_text(original.replace("// every thread has read the tiles: the", "// @@").replace("__syncthreads();  // @@", "//"))
        code, text = call(folder, "test_02")
        self.assertEqual(code, 1, text)
        for words in ("Not right yet, at 33x65x129.", "race in mine::gemm_kernel", "gemm.cu:", "SIMULATOR_SEED=0"):
            self.assertIn(words, text)

        file.write_text(original.replace("return cudaGetLastError()", "return cudaGetLastErro()"))
        code, text = call(folder, "test_02")
        self.assertEqual(code, 2, text)
        self.assertIn("it does not build", text)
        self.assertIn('identifier "cudaGetLastErro" is undefined', text)


class Configure(InFolder):
    def fault(self, name="mine", text="02_smem_tiling gemm\n", source="gemm.cu") -> str:
        """What ladder_own_read() says of such a folder."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        if text is not None:
            (folder / "from.txt").write_text(text)
        if source:
            (folder / source).write_text("")
        script = self.folder / "read.cmake"
        script.write_text(
            "cmake_minimum_required(VERSION 3.25)\n"
            f'include("{ROOT}/common/practice/own.cmake")\nladder_own_read("{folder}")\nmessage("fault: ${{fault}}")\n'
        )
        done = subprocess.run([SETTINGS.cmake, "-P", script], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.partition("fault: ")[2].strip()

    def test_a_program_has_no_fault(self):
        self.assertEqual(self.fault(), "")

    def test_a_bad_folder_is_left_out(self):
        self.assertIn("cannot be read", self.fault("one", None))
        self.assertIn("is not a rung", self.fault("two", 'junk; [ ${x} "'))
        self.assertIn("is not a rung", self.fault("three", ""))
        self.assertIn("no rung 42_no", self.fault("four", "42_no gemm"))
        self.assertIn("name", self.fault("five six"))
        self.assertIn("name", self.fault("seven_sim"))
        self.assertIn("no gemm.cu", self.fault("eight", source=None))


# What is printed of times; the records are made up.
def timed(variant, us, index, **more):
    return {
        "record": "run", "rung": "mine", "problem": "gemm", "variant": variant, "variant_index": index, "m": 4096, "n": 4096,
        "k": 4096, "median_us": us, "tflops": 2 * 4096**3 / us / 1e6, "verified": True, "device": "Test GPU", "is_rung": False, **more,
    }  # fmt: skip


class Times(InFolder):
    def test_in_turns(self):
        rows = [timed("02_smem_tiling", 200.0, 0, rung_us=250.0), timed("yours", 251.0, 1, is_rung=True, rung_us=250.5)]
        text = own.in_turns(rows)
        for words in ("gemm 4096x4096x4096", "yours 250 us", "02_smem_tiling 200 us", "0.8 of the rung's speed"):
            self.assertIn(words, text)
        self.assertIn("Not timed", own.in_turns([]))

    def test_share_of_the_roof(self):
        self.folder.mkdir()
        file = self.folder / "roofs.jsonl"
        roofs = [("copy", 4000.0, "GB/s"), ("bf16_mma_sync", 600.0, "TFLOPS"), ("fp32_fma", 50.0, "TFLOPS")]
        lines = [{"record": "roof", "roof": n, "value": v, "unit": u, "device": "Test GPU"} for n, v, u in roofs]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        us = 2 * 4096**3 / 300e6  # at 300 TFLOPS
        self.assertIn("300 TFLOPS, 50 % of the measured roof, 600 TFLOPS (bf16_mma_sync)", own.share_of_roof(timed("x", us, 1), file))
        small = {**timed("x", 1.0, 1), "n": 1, "tflops": 2 * 4096**2 / 1e6}
        self.assertIn("(copy)", own.share_of_roof(small, file))

    def test_the_rung_is_plotted_as_the_rung(self):
        rung, mine = timed("02_smem_tiling", 2.0, 0), timed("register_tile", 1.0, 1, is_rung=True)
        self.assertEqual(own.as_rung(rung, "02_smem_tiling")["rung"], "02_smem_tiling")
        self.assertTrue(own.as_rung(rung, "02_smem_tiling")["is_rung"])
        self.assertEqual(own.as_rung(mine, "02_smem_tiling"), mine)

    def test_an_exercise_becomes_a_program_of_links(self):
        exercise = next(each for each in exercises.every() if each.kind != "predict" and each.fields["file"].endswith("/gemm.cu"))
        source = self.folder / "mine" / "gemm.cu"
        source.parent.mkdir(parents=True)
        source.write_text("// the learner's\n")
        tools = own.Tools(bin=self.folder, nvcc="", ptxas="", archs={}, build=self.folder)
        program = own.timed_program(tools, exercise, source)
        self.assertEqual((program.rung, program.problem), (exercise.rung, "gemm"))
        self.assertEqual((program.folder / "gemm.cu").read_text(), "// the learner's\n")

        exercise.fields["compile"], exercise.fields["file"] = exercise.fields["file"], f"{exercise.rung}/tiles.cuh"
        program = own.timed_program(tools, exercise, source)
        self.assertEqual((program.folder / "gemm.cu").read_text(), (ROOT / exercise.rung / "gemm.cu").read_text())
        self.assertEqual((program.folder / exercise.rung / "tiles.cuh").read_text(), "// the learner's\n")
        self.assertEqual(source.read_text(), "// the learner's\n")

        exercise.fields["compile"] = f"{exercise.rung}/ablations/other.cu"
        with self.assertRaises(own.PracticeError):
            own.timed_program(tools, exercise, source)


# Stands for a program on a GPU: what it is called with is noted, and what it records is made up.
FAKE = """#!{python}
import json, sys
arguments = sys.argv[1:]
open({calls!r}, "a").write(" ".join(arguments[: arguments.index("--json")]) + "\\n")
sizes = (512, 4096) if "--sweep" in arguments else (4096,)
variants = ["02_smem_tiling"] if "--variant" in arguments else ["mine"] if "--sweep" in arguments else ["02_smem_tiling", "mine"]
with open(arguments[-1], "a") as file:
    for size in sizes:
        for variant in variants:
            record = {{**{record!r}, "m": size, "n": size, "k": size, "variant": variant, "is_rung": variant == "mine"}}
            record["tflops"] = 2 * size**3 / record["median_us"] / 1e6
            file.write(json.dumps(record) + "\\n")
"""


class OnAGpu(InFolder):
    def setUp(self):
        super().setUp()
        place = self.folder / "mine"
        call(self.folder, "new", "mine", "--from", "02")
        build = self.folder.parent / "build"
        (build / "practice").mkdir(parents=True)
        roofs = [("copy", 4000.0, "GB/s"), ("bf16_mma_sync", 600.0, "TFLOPS")]
        lines = [{"record": "roof", "roof": n, "value": v, "unit": u, "device": "Test GPU"} for n, v, u in roofs]
        (build / "practice" / "roofs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.calls, self.executable = self.folder.parent / "calls", self.folder.parent / "fake"
        record = timed("", 500.0, 0, rung_us=400.0)
        self.executable.write_text(FAKE.format(python=sys.executable, calls=str(self.calls), record=record))
        self.executable.chmod(0o755)
        self.tools = own.Tools(bin=build, nvcc="", ptxas="", archs={}, build=build, gpu_programs=True)
        self.program = own.Program.of(self.tools, place)

    def output_of(self, function, *arguments) -> str:
        said = io.StringIO()
        with mock.patch.object(own.Program, "built", return_value=self.executable), contextlib.redirect_stdout(said):
            result = function(*arguments)
        self.assertIn(result, (0, *([result] if isinstance(result, str) else [])), said.getvalue())
        return said.getvalue() + (result if isinstance(result, str) else "")

    def test_it_is_verified_timed_and_compared_with_the_roof(self):
        text = self.output_of(own.on_gpu, self.program)
        self.assertIn("Right at 2 awkward shapes", text)
        self.assertIn("274.9 TFLOPS, 45.8 % of the measured roof, 600 TFLOPS (bf16_mma_sync)", text)
        self.assertEqual(self.calls.read_text(), "gemm --verify-only\ngemm --ablate\n")

    def test_it_is_plotted_beside_the_rung(self):
        with mock.patch.object(own, "draw", return_value=0) as draw:
            self.output_of(own.plot, self.program)
        file, out = draw.call_args.args[1:]
        self.assertEqual(out, self.folder / "mine" / "plots")
        results = own.Results([file])
        self.assertEqual(results.rungs("gemm"), ["02_smem_tiling", "mine"])
        self.assertEqual(len(results.ladder("gemm", "4096x4096x4096")), 2)
        self.assertEqual(set(results.roofs), {"copy", "bf16_mma_sync"})

    def test_a_passed_exercise_is_timed_beside_its_rung(self):
        exercise = next(each for each in exercises.every() if each.fields.get("file", "").endswith("/gemm.cu"))
        with mock.patch.object(own, "has_gpu", return_value=True):
            text = self.output_of(own.beside_rung, self.tools, exercise, self.folder / "mine" / "gemm.cu")
        self.assertIn("yours 400 us, 02_smem_tiling 500 us: 1.25 of the rung's speed", text)
        with mock.patch.object(own, "has_gpu", return_value=False):
            self.assertEqual(own.beside_rung(self.tools, exercise, self.folder / "mine" / "gemm.cu"), "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
