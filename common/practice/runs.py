"""Running an exercise: the program of the rung's problem, built by CMake, on the simulator, with the learner's kernels in the
place of its own (SIMULATOR_PTX); and what it says.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from common.plots.pages import transcripts
from common.plots.records.error import ResultError
from common.practice.exercise import ROOT, Exercise, PracticeError

LONGEST = 120  # seconds that a run may take
LIMIT = 150  # million instructions of warps that a launch may take: the largest of the rungs' own takes 7
SHAPES = [re.compile(rf"^\w+: \S+ \S+ {at}([1-9]\d*(?:x\d+)+): ", re.MULTILINE) for at in ("at ", "")]
SIZES = ("--m", "--n", "--k", "--rows", "--cols", "--size")
MOST_PRINTED = 40
PTX_IMAGE = re.compile(rb"\.version \d+\.\d+\s+\.target [^\0]*")  # embedded as plain text, ended by a 0


@dataclass
class Tools:
    """What CMake knows of this build: build/practice/settings.json."""

    bin: Path
    nvcc: str
    ptxas: str
    archs: dict  # rung → 80, 90a, …
    build: Path
    cmake: str = "cmake"
    gpu_programs: bool = False  # configured: cuBLAS is there
    sanitize: str = ""  # "address,undefined": what the libraries of this build are compiled with

    @staticmethod
    def of(build: Path) -> Tools:
        file = build / "practice" / "settings.json"
        if not file.is_file():
            raise PracticeError(f"{file} is missing: configure first (cmake --preset default)")
        return Tools(**{**json.loads(file.read_text()), "bin": build / "bin", "build": build})

    def host(self, rung: str, problem: str) -> Path:
        """The program that runs the rung's exercises of this problem."""
        host = self.bin / "practice_hosts" / f"{rung}_{problem}"
        if not host.is_file():
            raise PracticeError(f"{host.name} is not built: cmake --build {self.build} --target practice_{rung[:2]}")
        return host


def rungs_ptx(tools: Tools, exercise: Exercise, file: str) -> list:
    """Of the program that runs the exercise, the PTX that names this file of the course, or folder, as its source."""
    program = tools.host(exercise.rung, exercise.problem).read_bytes()
    return [image[0].decode() for image in PTX_IMAGE.finditer(program) if f"/{file}".encode() in image[0]]


def environment(**more) -> dict:
    kept = {name: value for name, value in os.environ.items() if name == "SIMULATOR_THREADS" or not name.startswith("SIMULATOR_")}
    quiet = {"CUDA_VISIBLE_DEVICES": "", "SIMULATOR_HEARTBEAT": "0"}  # on a slow machine a launch says how far it is
    return {**kept, **quiet, **{f"SIMULATOR_{name.upper()}": str(value) for name, value in more.items()}}


@functools.cache
def scratch() -> Path:
    """A folder of this process's own."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def ended(command: list, variables: dict) -> subprocess.CompletedProcess:
    """What the command has printed. One that runs too long is interrupted first: the simulator says where its warps stand."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, errors="replace", env=variables) as process:
        try:
            output = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # it says where its warps stand
            try:
                output = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                output = process.communicate()
            raise subprocess.TimeoutExpired(command, LONGEST, *output) from None
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, *output)


def simulate(
    tools: Tools, exercise: Exercise, run: str, ptx: Path | None, seed: int, *more: str, checks: str = "fail", **settings
) -> subprocess.CompletedProcess:
    """A run of the program; without PTX, of the rung's own kernels. settings: of the simulator, trace for SIMULATOR_TRACE."""
    host = tools.host(exercise.rung, run.split()[0])
    settings |= exercise.settings(run) | ({"ptx": ptx} if ptx else {})
    variables = environment(seed=seed, checks=checks, limit=LIMIT, **settings)
    command = [str(host), *run.split(), "--table-rows", *more]
    return ended(command, variables)


def finding(said: str, fallback: str) -> str:
    """Of what a run wrote to stderr: the simulator's first finding, else the line of the checker, else the last line."""
    try:
        text = transcripts.finding(said)
    except ResultError:
        lines = said.strip().splitlines()
        text = lines[-1] if lines else fallback
    return text.replace(f"{ROOT}/", "")


def shape_in(said: str) -> str:
    """33x65x129: where a run ended, else where elements were wrong first."""
    return next((match[1] for pattern in SHAPES if (match := pattern.search(said))), "")


def rows(exercise: Exercise, output: str) -> list:
    """Of the table: (shape, what the kernels printed before that row), and last ("", what they printed after it)."""
    parts = re.split(rf"{exercise.rung} +(\d+(?:x\d+)+) [^\n]*\n", output)
    return [*zip(parts[1::2], parts[0::2]), ("", parts[-1])]


def printed(text: str) -> str:
    lines = text.splitlines()
    half = len(lines) // 2
    if lines[:half] == lines[half:]:  # by both launches of a run, which has two sets of inputs
        lines = lines[:half]
    left = len(lines) - MOST_PRINTED
    return "\n".join(lines if left <= 0 else [*lines[:MOST_PRINTED], f"… and {left} lines more"])


def sizes_of(problem: str, shape: str) -> str:
    """33x65x129 as options."""
    names = ("m", "n", "k") if problem == "gemm" else ("rows", "cols")
    return " ".join(f"--{name} {size}" for name, size in zip(names, shape.split("x")))
