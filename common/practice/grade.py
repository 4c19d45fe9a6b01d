"""Grading: the learner's kernels, compiled to PTX, in the place of the rung's own (runs.py). Host code, inputs and reference
are the rung's and the harness's; nothing of the learner's runs there. First every shape of the rung's list and the exercise's
own must come out right under several schedules without a finding; then the budget must hold (budget.py).
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from common.plots.pages import transcripts
from common.practice import arithmetic, budget, runs
from common.practice.compiling import compile_ptx, foreign_files
from common.practice.exercise import Exercise, read_text
from common.practice.runs import LONGEST, Tools, simulate

SEEDS = (0, 1, 2)
NO_KERNELS = re.compile(r"no module of the program has these kernels: (.*?)(?:; it has: (.*))?$", re.MULTILINE)
NOT_THE_KERNEL = re.compile(r"it has not the kernel (.*): it has (.*)$", re.MULTILINE)


@dataclass
class Verdict:
    passed: bool
    stage: str  # compile, check, budget, answer
    text: str  # for the learner
    printed: str = ""  # by the kernels, and in which run
    values: dict = field(default_factory=dict)  # what a budget may name, where there is one


def said_by_kernels(where: str, text: str) -> str:
    return f"Your kernel printed, in {where}:\n{runs.printed(text)}" if text.strip() else ""


def wrong_kernels(said: str) -> str:
    """Empty, or which of the rung's kernels are not in the learner's file."""
    if match := NO_KERNELS.search(said):
        found, wanted = match[1], match[2]
    elif match := NOT_THE_KERNEL.search(said):
        found, wanted = match[2], match[1]
    else:
        return ""
    wanted, found = (short(names).split("; ") if names else [] for names in (wanted, found))
    bases = {name.partition("<")[0].partition("(")[0] for name in wanted}
    # Template arguments only of those that may have been meant.
    found = [name if re.split(r"[<(]", name)[0] in bases else re.sub(r"<.*>(?=\()", "<…>", name) for name in found]
    missing = f"missing: {'; '.join(wanted)}; " if wanted else ""
    there = "; ".join(dict.fromkeys(found))
    return f"its kernels are not the rung's, whose names, template parameters and parameters must stay.\n{missing}there is: {there}"


def short(names: str) -> str:
    """Kernels without namespaces."""
    return re.sub(r"^void |(?<=; )void |ladder::(rung_\d\d::)?|\(anonymous namespace\)::", "", names)


def again(exercise: Exercise, run: str, shape: str, seed: int) -> str:
    """The command that shows a failure again."""
    options = run.partition(" ")[2]
    settings = [f"SIMULATOR_SEED={seed}"] if seed else []
    if run not in exercise.runs:
        options = f"{options} {runs.sizes_of(exercise.problem, shape)}".strip() if shape else options
        settings += ["SIMULATOR_SMS="] if "sms" in exercise.fields else []
    else:
        settings += [f"SIMULATOR_{name.upper()}={value}" for name, value in exercise.settings(run).items()]
    words = [*settings, "build/bin/practice", exercise.id, *options.split(), "--verify-only"]
    return f"See it again: {' '.join(words)}"


def place(run: str, shape: str, seed: int) -> str:
    at = f" at {shape}" if shape else ""
    return f"{run}, schedule {seed}{at and f',{at}'}" if {*runs.SIZES} & {*run.split()} else f"{run}{at}, schedule {seed}"


def shape_under_way(tools: Tools, exercise: Exercise, run: str, output: str) -> str:
    """Of a run that was ended: the row after those that it printed, in the table that the rung prints."""
    done = len(runs.rows(exercise, output)) - 1
    shapes = [shape for shape, _ in runs.rows(exercise, simulate(tools, exercise, run, None, 0, "--verify-only").stdout)]
    return shapes[done]


def check(tools: Tools, exercise: Exercise, ptx: Path | None, source: Path) -> tuple:
    """Empty, or what is wrong first and how to see it again; and what the kernels printed there."""
    variant = re.search(r" --variant \S+|$", exercise.runs[0])[0]
    for run in (f"{exercise.problem}{variant}", *exercise.runs):  # first the rung's own list of shapes
        for seed in SEEDS:
            if wrong := check_run(tools, exercise, ptx, source, run, seed):
                return wrong
    return "", ""


def check_run(tools: Tools, exercise: Exercise, ptx: Path | None, source: Path, run: str, seed: int) -> tuple | None:
    try:
        done = simulate(tools, exercise, run, ptx, seed, "--verify-only")
    except subprocess.TimeoutExpired as error:
        shape = shape_under_way(tools, exercise, run, error.stdout or "")
        stood = runs.finding(error.stderr, "") if error.stderr else ""
        where = f"it did not end in {LONGEST} s{': ' * bool(stood)}{stood}"
        return f"{place(run, shape, seed)}:\n{where}\n\n{again(exercise, run, shape, seed)}", ""
    if wrong := wrong_kernels(done.stderr):  # the rung's own run on
        return wrong, ""
    if done.returncode == 0:
        return None
    said = learners_lines_first(done.stderr, source) if "compile" in exercise.fields else done.stderr
    said = runs.finding(said, f"exit code {done.returncode}")
    shape = runs.shape_in(done.stderr)
    where = place(run, shape, seed)
    text = next(text for of, text in runs.rows(exercise, done.stdout) if of in (shape, ""))
    return f"{where}:\n{said}\n\n{again(exercise, run, shape, seed)}", said_by_kernels(where, text)


def learners_lines_first(said: str, source: Path) -> str:
    """gemm.cu:139 (in ptx/wgmma.cuh:145), where the learner writes wgmma.cuh, as that line, called at the other."""
    name = f"{source.parent.name}/{source.name}:"

    def turned(match):
        lines = [match[1], *match[2].split(", ")]  # the caller first
        mine = next((i for i in range(len(lines) - 1, 0, -1) if lines[i].startswith(name)), 0)
        below = f" (in {', '.join(lines[mine + 1 :])})" if lines[mine + 1 :] else ""
        return f"{lines[mine]}{below} (called at {', '.join(lines[:mine])})" if mine else match[0]

    return re.sub(r"(\S+:\d+) \(in ([^()]*)\)", turned, "\n".join(transcripts.joined(said.splitlines())))


def graded(tools: Tools, exercise: Exercise, source: Path) -> Verdict:
    if exercise.kind == "predict":
        return answered(tools, exercise, source)
    ptx, errors = compile_ptx(tools, exercise, source)
    if foreign := foreign_files(tools, exercise, source, ptx):
        return Verdict(False, "check", f"it includes {', '.join(foreign)}: of the course's files only what the rung's own includes")
    if errors:
        return Verdict(False, "compile", errors)
    wrong, printed = check(tools, exercise, ptx, source)
    if wrong:
        return Verdict(False, "check", wrong, printed)
    return within_budget(tools, exercise, ptx)


def within_budget(tools: Tools, exercise: Exercise, ptx: Path) -> Verdict:
    """Of a kernel that is right. What it prints is shown of the run that budgets count."""
    run = exercise.runs[0]
    values, lines = {}, []
    if "budget" in exercise.fields:
        values, mix, output = budget.measured(tools, exercise, ptx)
        lines = budget.exceeded(exercise, values) + budget.byways(tools, exercise, mix)
    elif b"vprintf" in ptx.read_bytes():
        output = simulate(tools, exercise, run, ptx, 0, "--verify-only").stdout
    else:
        output = ""
    printed = said_by_kernels(place(run, "", 0), "".join(text for _, text in runs.rows(exercise, output)))
    if lines:
        return Verdict(False, "budget", "It computes the right thing, and costs too much:\n" + "\n".join(lines), printed, values)
    return Verdict(True, "", "", printed, values)


def answered(tools: Tools, exercise: Exercise, source: Path) -> Verdict:
    given, lines, counted, right_ones = {}, [], {}, []
    for line in read_text(source).splitlines():
        name, equals, text = line.partition("=")
        if equals:
            given[name.strip()] = text.strip()
    for question in exercise.questions:
        text = given.get(question.name) or "?"
        if text == "?":
            lines.append(f"{question.name} has no answer yet")
            continue
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        try:
            guess = arithmetic.number_of(text)
        except ValueError:
            lines.append(f"{question.name}: '{shown}' is no number")
            continue
        if question.run not in counted:
            counted[question.run] = budget.counters(tools, exercise, question.run, None)
        right = float(budget.value_of(question.answer, counted[question.run]))
        if abs(guess - right) > 0.005 * abs(right):
            lines.append(f"{question.name} is {'more' if right > guess else 'less'} than {shown}")
        else:
            right_ones.append(question.name)
    if lines and right_ones:
        lines.append(f"right: {', '.join(right_ones)}")
    return Verdict(not lines, "answer", "\n".join(lines))
