"""Grading: the learner's kernels, compiled to PTX, in the place of the rung's own in a program of one of its problems on the
simulator (SIMULATOR_PTX). Host code, inputs and reference are the rung's and the harness's; nothing of the learner's runs
there. First every shape of the rung's list and the exercise's own must come out right under several schedules without a
finding; then the budget must hold.

A budget is a comparison of counters of the exercise's first run, by the names that the simulator gives them in a record
(docs/deeper/records.md), and of m, n, k, rows and cols; count("ld.global") is how many instructions of warps begin so;
registers, spills: what ptxas makes of the kernel that takes the most; ptx("wgmma.wait_group.sync.aligned 1;"): how often the
PTX has this text.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from common.plots.pages import transcripts
from common.plots.records.error import ResultError
from common.practice.exercise import ROOT, Exercise, PracticeError

SEEDS = (0, 1, 2)
LONGEST = 120  # seconds that a run may take
NOT_THESE = re.compile(r"no module of the program has these kernels|it has not the kernel")


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
        return self.bin / "practice_hosts" / f"{rung}_{problem}"


@dataclass
class Verdict:
    passed: bool
    stage: str  # compile, check, budget, answer
    text: str  # for the learner


def environment(**more) -> dict:
    kept = {name: value for name, value in os.environ.items() if name == "SIMULATOR_THREADS" or not name.startswith("SIMULATOR_")}
    return {**kept, "CUDA_VISIBLE_DEVICES": "", **{f"SIMULATOR_{name.upper()}": str(value) for name, value in more.items()}}


@functools.cache
def scratch() -> Path:
    """A folder of this process's own."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def ptx_file(exercise: Exercise, source: Path) -> Path:
    """Where the PTX of the source as it stands now is kept."""
    key = hashlib.sha256(f"{source}\n{exercise.path}\n{source.read_text(encoding='utf-8')}".encode()).hexdigest()
    return scratch() / f"{key[:16]}.ptx"


def compile_ptx(tools: Tools, exercise: Exercise, source: Path) -> tuple:
    """The kernels' PTX, and the compiler's errors, with the learner's file by its own name. The same text is compiled once."""
    ptx = ptx_file(exercise, source)
    if ptx.exists():
        return ptx, ""
    errors = compiled(tools, exercise, source, ptx)
    if errors:
        ptx.unlink(missing_ok=True)
    return ptx, errors


def compiled(tools: Tools, exercise: Exercise, source: Path, ptx: Path) -> str:
    arch = tools.archs[exercise.rung]
    command = [tools.nvcc, "-std=c++20", "-ptx", f"-arch=compute_{arch}", "-lineinfo", "-o", str(ptx)]
    with tempfile.TemporaryDirectory() as overlay:
        unit = source
        if "compile" in exercise.fields:  # a header: found before the rung's own
            place = Path(overlay) / exercise.fields["file"]
            place.parent.mkdir(parents=True)
            place.symlink_to(source.resolve())
            unit = ROOT / exercise.fields["compile"]
            command += ["-I", overlay]
        done = subprocess.run([*command, "-I", str(ROOT), str(unit)], capture_output=True, text=True)
        if done.returncode == 0:
            ptx.write_text(ptx.read_text().replace(f"{overlay}/{exercise.fields['file']}", str(source)))
            return ""
        said = (done.stderr + done.stdout).replace(f"{overlay}/{exercise.fields['file']}", str(source))
        lines = said.replace(f"{ROOT}/", "").splitlines()
    return "\n".join(lines[:20])


def simulate(
    tools: Tools, exercise: Exercise, run: str, ptx: Path | None, seed: int, *more: str, checks: str = "fail", **settings
) -> subprocess.CompletedProcess:
    """A run of the program; without PTX, of the rung's own kernels. settings: of the simulator, trace for SIMULATOR_TRACE."""
    host = tools.host(exercise.rung, run.split()[0])
    if not host.is_file():
        raise PracticeError(f"{host.name} is not built: cmake --build {tools.build} --target practice_{exercise.rung[:2]}")
    variables = environment(seed=seed, checks=checks, **settings, **({"ptx": ptx} if ptx else {}))
    command = [str(host), *run.split(), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, env=variables)


def check(tools: Tools, exercise: Exercise, ptx: Path | None, source: Path) -> str:
    """Empty, or what is wrong first, and how to see it again."""
    variant = re.search(r" --variant \S+|$", exercise.runs[0])[0]
    runs = [f"{exercise.problem}{variant} --verify-only", *(f"{run} --verify-only" for run in exercise.runs)]
    for run in runs:
        for seed in SEEDS:
            try:
                done = simulate(tools, exercise, run, ptx, seed)
            except subprocess.TimeoutExpired:
                return f"{run}: it did not end in {LONGEST} s"
            output = done.stderr + done.stdout
            if NOT_THESE.search(output):
                return "its kernels are not the rung's: their names, template parameters and parameters must stay"
            if done.returncode != 0:
                try:
                    said = transcripts.finding(output)
                except ResultError:
                    said = output.strip().splitlines()[-1] if output.strip() else f"exit code {done.returncode}"
                shape = re.search(r" at ([1-9]\d*(?:x\d+)+)\b", output)
                where = f" at {shape[1]}" if shape and "--" not in run.removesuffix(" --verify-only") else ""
                said = with_names(said.replace(f"{ROOT}/", ""), shape[1] if shape else "")
                return f"{run.removesuffix(' --verify-only')}{where}, schedule {seed}:\n{said}"
    return ""


def with_names(said: str, shape: str) -> str:
    """A buffer by its name, where no other of this shape has its size."""
    sizes = [int(size) for size in shape.split("x") if size]
    if len(sizes) == 3:
        m, n, k = sizes
        buffers = {"A": m * k, "B": k * n, "C": m * n}
    else:
        buffers = {"gamma": sizes[1]} if len(sizes) == 2 and sizes[0] > 1 else {}

    def name(match):
        same = [name for name, elements in buffers.items() if 2 * elements == int(match[2])]
        return same[0] + match[0][len(match[1]) :] if len(same) == 1 else match[0]

    return re.sub(r"(allocation #\d+) \((\d+) bytes", name, said)


def counters(tools: Tools, exercise: Exercise, run: str, ptx: Path | None) -> dict:
    """Those of a run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.jsonl"
        done = simulate(tools, exercise, run, ptx, 0, "--json", str(file))
        if done.returncode != 0:
            raise PracticeError(f"{run}: {(done.stderr + done.stdout).strip().splitlines()[-1]}")
        return counters_of(json.loads(file.read_text().splitlines()[-1]))


def counters_of(record: dict) -> dict:
    """The names that a budget may use, and their values."""
    mix = record["instruction_mix"]
    sizes = {name: record[name] for name in ("m", "n", "k", "rows", "cols") if name in record}
    return {
        **record["counters"],
        **sizes,
        "count": lambda prefix: sum(times for name, times in mix.items() if name.startswith(prefix)),
    }


# A record leaves out what a kernel does not do at all.
COUNTED = ("global_", "shared_", "async_copy_", "bulk_copy_", "wgmma_", "tcgen05_", "ldmatrix_", "stmatrix_", "tensor_", "local_")


class Lazy(dict):
    """Registers and spills only where an expression has them: ptxas takes seconds. A kind of access that is not there is 0."""

    def __init__(self, values: dict, assemble):
        super().__init__(values)
        self.assemble = assemble

    def __missing__(self, name):
        if name.startswith(COUNTED):
            return 0
        if name not in ("registers", "spills"):
            raise KeyError(name)
        self.update(self.assemble())
        return self[name]


def assembled(tools: Tools, exercise: Exercise, ptx: Path) -> dict:
    command = [tools.ptxas, f"-arch=sm_{tools.archs[exercise.rung]}", "-v", "-o", os.devnull, str(ptx)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise PracticeError(f"ptxas: {done.stderr.strip().splitlines()[-1]}")
    registers = [int(number) for number in re.findall(r"Used (\d+) registers", done.stderr)]
    spills = [int(number) for number in re.findall(r"(\d+) bytes spill stores", done.stderr)]
    return {"registers": max(registers), "spills": max(spills, default=0)}


def value_of(expression: str, values: dict):
    try:
        return eval(expression, {"__builtins__": {}}, values)
    except (KeyError, NameError) as error:
        raise PracticeError(f"'{expression}': there is no counter {error}") from None


def number_text(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) and value != int(value) else f"{int(value)}"


def over_budget(tools: Tools, exercise: Exercise, ptx: Path) -> str:
    """Empty, or a line for each budget that does not hold, with what was counted."""
    budgets = exercise.fields.get("budget", [])
    if not budgets:
        return ""
    values = Lazy(counters(tools, exercise, exercise.runs[0], ptx), lambda: assembled(tools, exercise, ptx))
    values["ptx"] = ptx.read_text().count
    lines = []
    for budget in budgets:
        expression, _, meaning = budget.partition(" -- ")
        if value_of(expression, values):
            continue
        parts = re.fullmatch(r"(.*?)\s*(<=|>=|==|<|>)\s*(.*)", expression)
        if not parts:
            lines.append(f"{expression} does not hold")
            continue
        left, right = (number_text(value_of(part, values)) for part in (parts[1], parts[3]))
        limit = {"<=": "at most", ">=": "at least", "==": "exactly", "<": "less than", ">": "more than"}[parts[2]]
        why = f" ({meaning})" if meaning else ""
        lines.append(f"{expression} does not hold: {parts[1]} is {left}, and the budget is {limit} {right}{why}.")
    return "\n".join(lines)


def own_includes(lines: list) -> set:
    """The files of the course that a source includes: the solution among them would solve everything."""
    return {match[1] for line in lines if (match := re.match(r'\s*#\s*include\s*"([^"]+)"', line))}


def graded(tools: Tools, exercise: Exercise, source: Path) -> Verdict:
    if exercise.kind == "predict":
        return answered(tools, exercise, source)
    known = own_includes(exercise.solution())
    if new := own_includes(source.read_text(encoding="utf-8").splitlines()) - known:
        return Verdict(False, "check", f"it includes {', '.join(sorted(new))}: of the course's files only {', '.join(sorted(known))}")
    ptx, errors = compile_ptx(tools, exercise, source)
    if errors:
        return Verdict(False, "compile", errors)
    if wrong := check(tools, exercise, ptx, source):
        return Verdict(False, "check", wrong)
    if over := over_budget(tools, exercise, ptx):
        return Verdict(False, "budget", "It computes the right thing, and costs too much:\n" + over)
    return Verdict(True, "", "")


def answered(tools: Tools, exercise: Exercise, source: Path) -> Verdict:
    given = dict(re.findall(r"^(\w+) *= *(.+?) *$", source.read_text(encoding="utf-8"), re.MULTILINE))
    lines, counted = [], {}
    for question in exercise.questions:
        text = given.get(question.name, "?")
        if text == "?":
            lines.append(f"{question.name} has no answer yet")
            continue
        try:
            guess = float(value_of(text, {}))
        except (PracticeError, SyntaxError, TypeError, ValueError, ZeroDivisionError):
            lines.append(f"{question.name}: '{text}' is no number")
            continue
        if question.run not in counted:
            counted[question.run] = counters(tools, exercise, question.run, None)
        right = float(value_of(question.answer, counted[question.run]))
        if abs(guess - right) > 0.005 * abs(right):
            lines.append(f"{question.name} is {'more' if right > guess else 'less'} than {text}")
    return Verdict(not lines, "answer", "\n".join(lines))
