"""Tests of toolkit.cmake and wheels.py: `test_toolkit.py CMAKE`. They need no network: the wheels are made here."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

CMAKE = sys.argv.pop(1)
FOLDER = Path(__file__).resolve().parent.parent
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(x LANGUAGES NONE)
set(ladder_usual_toolkits {usual})
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH FALSE) # none but those and the PATH
include({folder}/toolkit.cmake)
ladder_choose_toolkit()
message(STATUS "compiler <${{CMAKE_CUDA_COMPILER}}> root <${{CUDAToolkit_ROOT}}> private <${{LADDER_PRIVATE_TOOLKIT}}>")
"""


def make_wheel(folder, requirement, files):
    """A wheel for a line such as nvidia-nvvm==13.0.88."""
    name, _, version = requirement.partition("==")
    name, version = name.replace("-", "_"), version or "13.9"
    info = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


def requirements(*names):
    lines = [line for name in names for line in (FOLDER / name).read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


class Toolkit(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name).resolve()
        (self.folder / "bin").mkdir()  # all that is on the PATH
        (self.folder / "bin/python3").symlink_to(sys.executable)
        self.index = self.folder / "index"
        self.index.mkdir()

    def tearDown(self):
        self.temporary.cleanup()

    def script(self, path, text="exit 1"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def make_wheels(self, *names):
        for requirement in requirements(*names):
            files = {"nvidia/__init__.py": ""}
            if requirement.startswith("nvidia-cuda-nvcc"):
                files["nvidia/cu13/bin/nvcc"] = ""
            if requirement.startswith("nvidia-cuda-runtime"):
                files["nvidia/cu13/lib/libcudart.so.13"] = ""
            if requirement.startswith("nvidia-cublas"):
                files["nvidia/cu13/include/cublas_v2.h"] = ""
            make_wheel(self.index, requirement, files)

    def configure(self, *arguments, build="build"):
        """Whether the tiny project configures, and what is printed."""
        source = self.folder / "source"
        source.mkdir(exist_ok=True)
        (source / "CMakeLists.txt").write_text(
            PROJECT.format(folder=FOLDER, usual=self.folder / "usual/cuda")
        )
        environment = {"PATH": str(self.folder / "bin"), "HOME": str(self.folder), "PIP_NO_INDEX": "1"}
        environment["PIP_FIND_LINKS"] = str(self.index)
        command = [CMAKE, "-S", source, "-B", self.folder / build, f"-DPython3_EXECUTABLE={sys.executable}"]
        command += [f"-DCMAKE_MAKE_PROGRAM={sys.executable}", *arguments]  # never run
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        return done.returncode == 0, " ".join((done.stdout + done.stderr).split())

    def private(self, build="build"):
        found = list((self.folder / build / "toolkit/lib").glob("python*/site-packages/nvidia/cu13"))
        self.assertEqual(len(found), 1)
        return found[0]

    def test_nvcc_of_the_path(self):
        nvcc = self.script(self.folder / "bin/nvcc")
        ok, text = self.configure()
        self.assertTrue(ok, text)
        self.assertIn(f"compiler <{nvcc}> root <> private <>", text)

    def test_nvcc_of_a_usual_folder(self):
        nvcc = self.script(self.folder / "usual/cuda/bin/nvcc")
        for choice in "auto", "system":
            ok, text = self.configure(f"-DLADDER_TOOLKIT={choice}", build=choice)
            self.assertTrue(ok, text)
            self.assertIn(f"compiler <{nvcc}>", text)

    def test_a_folder(self):
        nvcc = self.script(self.folder / "mine/bin/nvcc")
        self.script(self.folder / "bin/nvcc")
        ok, text = self.configure(f"-DLADDER_TOOLKIT={self.folder}/mine")
        self.assertTrue(ok, text)
        self.assertIn(f"compiler <{nvcc}> root <{self.folder}/mine> private <>", text)

    def test_a_folder_without_nvcc(self):
        ok, text = self.configure("-DLADDER_TOOLKIT=/nowhere")
        self.assertFalse(ok)
        self.assertIn("LADDER_TOOLKIT is '/nowhere': give auto, system, download or the folder", text)

    def test_the_compiler_that_was_asked_for(self):
        self.script(self.folder / "bin/nvcc")
        other = self.script(self.folder / "other/nvcc")
        ok, text = self.configure(f"-DCMAKE_CUDA_COMPILER={other}")
        self.assertTrue(ok, text)
        self.assertIn(f"compiler <{other}>", text)

    def test_no_toolkit_gets_one(self):
        self.make_wheels("13.0.txt")
        ok, text = self.configure()
        self.assertTrue(ok, text)
        root = self.private()
        self.assertIn("No nvcc here: the build gets a CUDA Toolkit of its own", text)
        self.assertIn("once: the CUDA Toolkit 13.0 as far as the course needs it without a GPU, 105 MB", text)
        self.assertIn(f"compiler <{root}/bin/nvcc> root <{root}> private <{root}>", text)
        self.assertEqual(os.readlink(root / "lib64"), "lib")
        self.assertEqual(os.readlink(root / "lib/libcudart.so"), "libcudart.so.13")
        # It is made once.
        for wheel in self.index.iterdir():
            wheel.unlink()
        ok, text = self.configure()
        self.assertTrue(ok, text)
        self.assertNotIn("Downloading", text)

    def test_download_although_there_is_one_and_a_gpu(self):
        self.script(self.folder / "bin/nvcc")
        self.script(self.folder / "bin/nvidia-smi", "echo 9.0")
        self.make_wheels("13.0.txt", "cublas-13.0.txt")
        ok, text = self.configure("-DLADDER_TOOLKIT=download")
        self.assertTrue(ok, text)
        self.assertIn("cuBLAS, beside which a GPU is timed", text)
        self.assertIn(f"private <{self.private()}>", text)
        self.assertTrue((self.private() / "include/cublas_v2.h").exists())

    def test_no_toolkit_and_no_network(self):
        for choice in "auto", "system":
            ok, text = self.configure(f"-DLADDER_TOOLKIT={choice}", build=choice)
            self.assertFalse(ok)
            self.assertIn("nvcc is missing: install the CUDA Toolkit 13.0 or newer and put it on the PATH", text)
        # What a later try would take for complete is not left behind.
        self.assertFalse((self.folder / "auto/toolkit").exists())

    def test_another_choice_in_the_same_folder(self):
        self.script(self.folder / "bin/nvcc")
        self.assertTrue(self.configure()[0])
        ok, text = self.configure("-DLADDER_TOOLKIT=download")
        self.assertFalse(ok)
        self.assertIn("This build folder was made with LADDER_TOOLKIT=auto", text)


if __name__ == "__main__":
    unittest.main()
