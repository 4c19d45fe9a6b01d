"""Write the kernels yourself (docs/practice.md):

build/bin/practice                    the exercises, and what is done
build/bin/practice start 03           copies the exercises of a rung into practice/, where they are not there yet
build/bin/practice 03.2               grades practice/03.2_…
build/bin/practice 03.2 --hint        one hint more (--hint 2: the second one again)
build/bin/practice 03.2 --counters    runs your kernel at the exercise's shape, or at one of yours: --m 40 --n 24 --k 72;
                                      --source counts line by line, --verify-only counts nothing;
                                      all options of a run: build/bin/03_vectorized_sim --help
build/bin/practice new NAME --from 05 a program of your own, that begins as rung 05's gemm
build/bin/practice NAME [options]     builds it and runs it, with the options of a rung's program (NAME --help)
"""

from __future__ import annotations

import argparse
import datetime
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

from common.practice import beside, grade, hints, interrupt, own, runs
from common.practice import exercise as exercises
from common.practice.compiling import compile_ptx, foreign_files
from common.practice.exercise import ROOT, Exercise, PracticeError
from common.practice.progress import Progress

HELP = ("-h", "--help", "help")


def learners_file(folder: Path, exercise: Exercise) -> Path:
    return folder / exercise.folder / exercise.file_name


def start(folder: Path, chosen: list) -> None:
    for exercise in chosen:
        file = learners_file(folder, exercise)
        shown = file.relative_to(folder.parent)
        if file.exists():
            print(f"{exercise.id}  {shown} is there already: left as it is")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([*exercise.header(), *exercise.skeleton()]) + "\n", encoding="utf-8")
        print(f"{exercise.id}  {shown}: {exercise.title}")


def listing(every: list, progress: Progress) -> None:
    core = [exercise for exercise in every if exercise.core]
    if core:
        hours = round(sum(exercise.core for exercise in core) / 30) / 2
        print(f"The short course: {len(core)} exercises, about {hours:g} hour{'s' * (hours != 1)} (the minutes are estimates)")
        for exercise in core:
            print(line_of(exercise, progress, f"{exercise.core:3} min  "))
        print("\nAll others, by rung")
    rung = None
    for exercise in every:
        if exercise.core:
            continue
        if exercise.rung != rung:
            rung = exercise.rung
            print(f"\n{rung}   (docs/{rung}.md)")
        print(line_of(exercise, progress))
    after = next_after(every, progress)
    if after:
        print(f"\nNext: cmake --build build --target practice_{after.rung[:2]}, then edit practice/{after.folder}/{after.file_name}")
        print(f"      and build/bin/practice {after.id}")
    else:
        print("\nAll done. Write your own: build/bin/practice new my_gemm --from 08")


def line_of(exercise: Exercise, progress: Progress, time: str = "") -> str:
    state, mark, note = progress.of(exercise), "[ ]", ""
    if state.get("passed"):
        mark = "[x]"
        given = state["hints"]
        note = f"passed {state['passed']}" + (f", {given} hint{'s' * (given > 1)}" if given else "")
    elif state["attempts"]:
        note = f"{state['attempts']} attempt{'s' * (state['attempts'] > 1)}"
    return f"  {exercise.id}  {mark} {time}{exercise.kind:9} {exercise.title}{f'   ({note})' if note else ''}"


def next_after(every: list, progress: Progress, passed: Exercise | None = None) -> Exercise | None:
    """What has not been passed, from here on: first of the short course; after one of the others the rest of its rung before that."""
    begin = every.index(passed) if passed else 0
    order = every[begin:] + every[:begin]

    def rank(exercise):
        same_rung = bool(passed) and not passed.core and exercise.rung == passed.rung
        return (not same_rung, not exercise.core)

    return next((exercise for exercise in sorted(order, key=rank) if not progress.has_passed(exercise)), None)


def grade_one(tools: runs.Tools, exercise: Exercise, source: Path, progress: Progress, every: list) -> int:
    verdict = grade.graded(tools, exercise, source)

    def count(state):
        state["attempts"] += 1
        if verdict.passed:
            state.setdefault("passed", datetime.date.today().isoformat())

    progress.change(exercise, count)
    printed = f"{verdict.printed}\n\n" if verdict.printed else ""
    if not verdict.passed:
        where = {"compile": "It does not compile", "check": "Not yet", "budget": "Not yet", "answer": "Not yet"}
        print(f"{exercise.id}  {where[verdict.stage]}.\n\n{verdict.text}\n\n{printed}", end="")
        print(f"Chapter: {exercise.fields['part']}      A hint: build/bin/practice {exercise.id} --hint")
        return 1
    print(f"{exercise.id}  Passed: {exercise.title}.")
    for budget in exercise.fields.get("budget", []):
        print(f"  {budget.replace(' -- ', ': ')}")
    if verdict.values:
        print(f"\n{beside.table(tools, exercise, verdict.values)}")
    if timed := own.beside_rung(tools, exercise, source):
        print(f"  {timed}")
    if printed or exercise.passed:
        print(f"\n{printed}{exercise.passed}".rstrip() + "\n")
    after = next_after(every, progress, exercise)
    if after:
        print(f"Next: {after.id} ({after.kind}), {after.title}: build/bin/practice {after.id}")
    return 0


def run_one(tools: runs.Tools, exercise: Exercise, source: Path, options: list) -> int:
    """The rung's program with the learner's kernels, as its options say; without sizes at the exercise's shape."""
    if exercise.kind == "predict":
        raise PracticeError(f"{exercise.id} is a prediction: there is no kernel of yours to run")
    ptx, errors = compile_ptx(tools, exercise, source)
    if foreign := foreign_files(tools, exercise, source, ptx):
        raise PracticeError(f"{source.name} includes {', '.join(foreign)}: of the course's files only what the rung's own includes")
    if errors:
        print(f"{exercise.id}  It does not compile.\n\n{errors}")
        return 1
    arguments = exercise.runs[0].split()
    if {"--verify-only", *runs.SIZES} & {*options}:  # --verify-only alone: the rung's list of shapes
        variant = [] if "--variant" not in arguments else arguments[arguments.index("--variant") :][:2]
        arguments = [arguments[0], *variant]
    settings = {"limit": runs.LIMIT, **exercise.settings(exercise.runs[0])}
    variables = {f"SIMULATOR_{name.upper()}": str(value) for name, value in settings.items()}
    return subprocess.run(
        [str(tools.host(exercise.rung, exercise.problem)), *arguments, *options],
        env={**variables, **os.environ, "SIMULATOR_PTX": str(ptx)},
    ).returncode


def refuse_unknown(tools: runs.Tools, exercise: Exercise, rest: list) -> None:
    if rest[:1] == ["--hint"]:
        unknown = rest[2:]
    elif rest and not rest[0].startswith("--"):
        unknown = rest
    elif rest:
        host = tools.host(exercise.rung, exercise.problem)
        if other := next((each for each in rest if each in ("--variant", "--ablate")), ""):
            raise PracticeError(f"'{other}': {exercise.id} runs the variant that it is about, with your kernels, and no other")
        known = re.findall(r"--[a-z][a-z-]*", subprocess.run([str(host), "--help"], capture_output=True, text=True).stdout)
        unknown = [each for each in rest if each.startswith("--") and each not in known]
    else:
        unknown = []
    if unknown:
        raise PracticeError(f"'{unknown[0]}': after {exercise.id} there is --hint, --hint 2, or what a run takes, as --m 40 --n 24 --k 72 --counters")


def no_such(what: str, every: list, folder: Path) -> PracticeError:
    """What may have been meant."""
    numbers = re.fullmatch(r"(\d)\.(\d+)", what)
    if numbers:
        return PracticeError(f"there is no exercise '{what}': did you mean 0{what}?")
    rung = [exercise.id for exercise in every if what.zfill(2) in (exercise.rung[:2], exercise.rung)]
    if rung:
        return PracticeError(f"'{what}' is a rung: practice start {rung[0][:2]}, or one of its exercises, {rung[0]} to {rung[-1]}")
    programs = [file.parent.name for file in folder.glob("*/from.txt")]
    known = ["new", "start", "help", *programs, *(name for exercise in every for name in (exercise.id, exercise.folder))]
    close = difflib.get_close_matches(what, known, 1)
    begin = f", and 'new {what} --from 05' begins a program" if own.NAME.fullmatch(what) else ""
    there = f"did you mean {close[0]}?" if close else f"build/bin/practice lists the exercises{begin}"
    return PracticeError(f"there is no exercise and no program '{what}': {there}")


def call(options: argparse.Namespace, what: str, rest: list) -> int:
    every, folder = exercises.every(), options.folder
    if what == "new":
        return own.new(options.build, folder, rest)
    progress = Progress(folder)
    if not what:
        listing(every, progress)
        return 0
    if what == "start":
        chosen = [e for e in every if rest and rest[0] in (e.rung[:2], e.rung)]
        if not chosen or len(rest) > 1:
            raise PracticeError("start RUNG: one of " + ", ".join(sorted({e.rung[:2] for e in every})))
        start(folder, chosen)
        return 0
    if not re.fullmatch(r"\d\d\.\d+\w*", what):
        if not (folder / what / "from.txt").is_file() and not (folder / what).is_dir():
            raise no_such(what, every, folder)
        return own.run(options.build, folder, what, ["--help" if word == "-h" else word for word in rest])
    exercise, tools = exercises.named(what, every), runs.Tools.of(options.build)
    refuse_unknown(tools, exercise, rest)
    source = learners_file(folder, exercise)
    if not source.exists():
        start(folder, [exercise])
    if not rest:
        return grade_one(tools, exercise, source, progress, every)
    if rest[0] != "--hint":
        return run_one(tools, exercise, source, rest)
    hints.show(tools, exercise, source, progress, "".join(rest[1:]))
    return 0


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=ROOT / "practice")
    options, words = parser.parse_known_args(arguments)
    what, rest = "".join(words[:1]), words[1:]
    own_program = (options.folder / what / "from.txt").is_file() if what else False  # it has a --help of its own
    try:
        if what in HELP or (not own_program and {*HELP[:2]} & {*rest}):
            print(__doc__.strip())
            return 0
        return call(options, what, rest)
    except BrokenPipeError:
        raise
    except (PracticeError, OSError) as error:
        print(f"practice: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("practice: interrupted", file=sys.stderr)
        return interrupt.EXIT_CODE


if __name__ == "__main__":
    interrupt.watch()
    try:
        sys.exit(main())
    except BrokenPipeError:  # practice | head
        sys.stderr.close()
        sys.exit(1)
