"""Write the kernels yourself (docs/practice.md):

build/bin/practice                    the exercises, and what is done
build/bin/practice start 03           copies the exercises of a rung into practice/, where they are not there yet
build/bin/practice 03.2               grades practice/03.2_…
build/bin/practice 03.2 --hint        one hint more (--hint 2: the second one again)
build/bin/practice new NAME --from 05 a program of your own, that begins as rung 05's gemm
build/bin/practice NAME [options]     builds it and runs it, with the options of a rung's program
"""

from __future__ import annotations

import argparse
import datetime
import difflib
import json
import re
import sys
from pathlib import Path

from common.practice import exercise as exercises
from common.practice import grade, own, picture
from common.practice.exercise import ROOT, Exercise, PracticeError


class Progress:
    """practice/progress.json: what was passed when, and how many hints were shown."""

    def __init__(self, folder: Path):
        self.file = folder / "progress.json"
        self.done = json.loads(self.file.read_text(encoding="utf-8")) if self.file.is_file() else {}

    def of(self, exercise: Exercise) -> dict:
        return self.done.setdefault(exercise.id, {"attempts": 0, "hints": 0})

    def save(self) -> None:
        self.file.parent.mkdir(exist_ok=True)
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps(self.done, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        fresh.replace(self.file)


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
    rung = None
    for exercise in every:
        if exercise.rung != rung:
            rung = exercise.rung
            print(f"\n{rung}   (docs/{rung}.md)")
        state = progress.done.get(exercise.id, {})
        mark, note = "[ ]", ""
        if state.get("passed"):
            mark = "[x]"
            hints = state["hints"]
            note = f"passed {state['passed']}" + (f", {hints} hint{'s' * (hints > 1)}" if hints else "")
        elif state.get("attempts"):
            note = f"{state['attempts']} attempt{'s' * (state['attempts'] > 1)}"
        print(f"  {exercise.id}  {mark} {exercise.kind:9} {exercise.title}{f'   ({note})' if note else ''}")
    after = next((e for e in every if not progress.done.get(e.id, {}).get("passed")), None)
    if after:
        print(f"\nNext: cmake --build build --target practice_{after.rung[:2]}, then edit practice/{after.folder}/{after.file_name}")
        print(f"      and build/bin/practice {after.id}")
    else:
        print("\nAll done. Write your own: build/bin/practice new my_gemm --from 08")


def own_code(source: Path) -> list:
    """The learner's file without the header that it began with."""
    lines = source.read_text(encoding="utf-8").splitlines()
    end = next((i for i, line in enumerate(lines) if line.startswith("// Grade it:")), -1)
    return lines[end + 2 :] if end >= 0 else lines


def first_line(exercise: Exercise) -> str:
    """Of the solution's own lines, the first that is code."""
    for row in difflib.ndiff(exercise.skeleton(), exercise.solution()):
        text = row[2:].strip()
        if row.startswith("+ ") and text and not text.startswith(("//", "}", "#pragma")):
            return text
    return "a line less than you have"


def hints(tools: grade.Tools, exercise: Exercise, source: Path) -> list:
    """(what it is, a function that makes it), in the order in which they are shown."""

    def of(hint):
        drawn = f"\n\n{picture.draw(tools, exercise, source, hint.picture)}" if hint.picture else ""
        return hint.text + drawn

    steps = [("your accesses" if hint.picture else "what to look at", lambda hint=hint: of(hint)) for hint in exercise.hints]
    if exercise.kind == "predict":
        answers = lambda: "\n".join(  # noqa: E731
            f"{q.name} = {grade.number_text(grade.value_of(q.answer, grade.counters(tools, exercise, q.run, None)))}"
            for q in exercise.questions
        )
        return [*steps, ("the answers", answers)]
    diff = lambda: "\n".join(  # noqa: E731
        difflib.unified_diff(own_code(source), exercise.solution(), "yours", exercise.fields["file"], lineterm="", n=2)
    )
    return [*steps, ("the first line of the solution", lambda: first_line(exercise)), ("the solution", diff)]


def hint(tools: grade.Tools, exercise: Exercise, source: Path, progress: Progress, again: str) -> int:
    """The next hint, or again one that was shown."""
    steps, state = hints(tools, exercise, source), progress.of(exercise)
    number = min(state["hints"], len(steps) - 1)
    if again:
        if not again.isdigit() or not 1 <= int(again) <= min(state["hints"], len(steps)):
            raise PracticeError(f"--hint {again}: of {exercise.id} {state['hints']} hints were shown")
        number = int(again) - 1
    what, make = steps[number]
    print(f"Hint {number + 1} of {len(steps)}: {what}\n\n{make()}")
    state["hints"] = max(state["hints"], number + 1)
    progress.save()
    if number + 1 < len(steps):
        print(f"\nThe next one is {steps[number + 1][0]}: build/bin/practice {exercise.id} --hint")
    return 0


def grade_one(tools: grade.Tools, exercise: Exercise, source: Path, progress: Progress, every: list) -> int:
    verdict = grade.graded(tools, exercise, source)
    state = progress.of(exercise)
    state["attempts"] += 1
    if verdict.passed:
        state.setdefault("passed", datetime.date.today().isoformat())
    progress.save()
    if not verdict.passed:
        where = {"compile": "It does not compile", "check": "Not yet", "budget": "Not yet", "answer": "Not yet"}
        print(f"{exercise.id}  {where[verdict.stage]}.\n\n{verdict.text}\n")
        print(f"Chapter: {exercise.fields['part']}      A hint: build/bin/practice {exercise.id} --hint")
        return 1
    print(f"{exercise.id}  Passed: {exercise.title}.")
    for budget in exercise.fields.get("budget", []):
        print(f"  {budget.replace(' -- ', ': ')}")
    if timed := own.beside_rung(tools, exercise, source):
        print(f"  {timed}")
    here = every.index(exercise)  # of this rung first, then from here on
    order = sorted(every[here:] + every[:here], key=lambda e: e.rung != exercise.rung)
    after = next((e for e in order if not progress.done.get(e.id, {}).get("passed")), None)
    if after:
        print(f"Next: {after.id} ({after.kind}), {after.title}: build/bin/practice {after.id}")
    return 0


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False)
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=ROOT / "practice", help=argparse.SUPPRESS)
    parser.add_argument("what", nargs="?", default="")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    try:
        progress = Progress(options.folder)
        what, rest = options.what, options.rest
        if what in ("-h", "--help", "help"):
            print(__doc__.strip())
            return 0
        if what == "new":
            return own.new(options.build, options.folder, rest)
        every = exercises.every()
        if not what:
            listing(every, progress)
            return 0
        if what == "start":
            chosen = [e for e in every if rest and e.rung[:2] == rest[0]]
            if not chosen:
                raise PracticeError("start RUNG: one of " + ", ".join(sorted({e.rung[:2] for e in every})))
            start(options.folder, chosen)
            return 0
        if not re.fullmatch(r"\d\d\.\d+\w*", what):
            return own.run(options.build, options.folder, what, rest)
        if rest and (rest[0] != "--hint" or len(rest) > 2):
            raise PracticeError(f"'{' '.join(rest)}': after {what} only --hint, or --hint 2 for the second again")
        exercise = exercises.named(what)
        source = learners_file(options.folder, exercise)
        if not source.exists():
            start(options.folder, [exercise])
        tools = grade.Tools.of(options.build)
        if rest:
            return hint(tools, exercise, source, progress, "".join(rest[1:]))
        return grade_one(tools, exercise, source, progress, every)
    except PracticeError as error:
        print(f"practice: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # practice | head
        sys.stderr.close()
        sys.exit(1)
