"""What `--hint` shows, one step more each time."""

from __future__ import annotations

import difflib
import re
import textwrap
from pathlib import Path

from common.practice import budget, picture
from common.practice.exercise import Exercise, PracticeError, read_text
from common.practice.progress import Progress
from common.practice.runs import Tools

MOST_LINES = 6  # of a statement
LOOP = re.compile(r"(for|while|do)\b")
CALL = re.compile(r"\basm\b|\w(<[^;{}]*>)?\(")
CHANGE = re.compile(r"(?<![=!<>])=(?!=)(.*)|(\+\+|--)|\breturn\b(.*)")
ARITHMETIC = re.compile(r"[\w)\]]\s*[-+*/%&|^<>?]+\s*[\w(]")
HEADER = re.compile(r"(__\w+__|static_assert|template|inline|static|struct|class|enum|namespace|using|typedef|union)\b")


def own_code(source: Path) -> list:
    """The learner's file without the header that it began with."""
    lines = read_text(source).splitlines()
    end = next((i for i, line in enumerate(lines) if line.startswith("// Grade it:")), -1)
    return lines[end + 2 :] if end >= 0 else lines


def is_code(text: str) -> bool:
    return bool(text) and not text.startswith(("//", "}", "#", "{", "/*", "*"))


def does_something(text: str) -> bool:
    """A loop, a call, or a value that is worked out: no declaration alone, and no constant."""
    text = text.partition("//")[0].strip()
    if not is_code(text) or HEADER.match(text):
        return False
    if LOOP.match(text):
        return True
    change = CHANGE.search(text)
    if change:
        worked_out = change[1] or change[3] or ""
        return bool(change[2] or CALL.search(worked_out) or ARITHMETIC.search(worked_out) or re.search(r"[-+*/%&|^]=|>>=|<<=", text))
    return bool(CALL.search(text)) and text.endswith((";", ",", "("))


def statement(lines: list) -> str:
    """The first one, to its end."""
    shown = []
    for line in lines[:MOST_LINES]:
        shown.append(line)
        text = line.partition("//")[0].rstrip()
        if text.endswith((";", "{", "}")):
            break
    return "\n".join(shown)


def first_line(exercise: Exercise) -> str:
    """Of what the solution has and the learner's file had not: the first statement that does something, else the first lines."""
    rows = [row for row in difflib.ndiff(exercise.skeleton(), exercise.solution()) if not row.startswith("?")]
    added = [[]]  # lines that stand together
    for row in rows:
        if row.startswith("+ "):
            added[-1].append(row[2:])
        elif row.startswith("  ") and added[-1]:
            added.append([])
    for lines in added:
        for i, line in enumerate(lines):
            if does_something(line.strip()):
                return statement(lines[i:]).strip()
    code = [line for lines in added for line in lines if is_code(line.strip())]
    if not code:
        return "a line less than you have"
    solution = exercise.solution()  # with the lines around it: one of them alone says little
    at = solution.index(code[0])
    return textwrap.dedent("\n".join(solution[max(at - 1, 0) : at + 2]))


def steps(tools: Tools, exercise: Exercise, source: Path) -> list:
    """(what it is, a function that makes it), in the order in which they are shown."""

    def of(hint):
        drawn = f"\n\n{picture.draw(tools, exercise, source, hint.picture)}" if hint.picture else ""
        return hint.text + drawn

    shown = [("your accesses" if hint.picture else "what to look at", lambda hint=hint: of(hint)) for hint in exercise.hints]
    if exercise.structure:
        shown.append(("how the solution is built", lambda: exercise.structure))
    if exercise.kind == "predict":
        return [*shown, ("the answers", lambda: answers(tools, exercise))]
    return [
        *shown,
        ("the first line of the solution", lambda: first_line(exercise)),
        ("the solution", lambda: difference(exercise, source)),
    ]


def answers(tools: Tools, exercise: Exercise) -> str:
    return "\n".join(
        f"{q.name} = {budget.number_text(budget.value_of(q.answer, budget.counters(tools, exercise, q.run, None)))}"
        for q in exercise.questions
    )


def difference(exercise: Exercise, source: Path) -> str:
    rows = difflib.unified_diff(own_code(source), exercise.solution(), "yours", exercise.fields["file"], lineterm="", n=2)
    return "\n".join(rows) or "Your file is the solution."


def show(tools: Tools, exercise: Exercise, source: Path, progress: Progress, again: str) -> None:
    """The next hint, or again one that was shown."""
    all_steps, shown = steps(tools, exercise, source), progress.of(exercise)["hints"]
    number = min(shown, len(all_steps) - 1)
    if again:
        if not again.isdecimal() or not 1 <= int(again) <= min(shown, len(all_steps)):
            seen = f"1 to {shown} again" if shown else "none yet: --hint alone shows the first"
            raise PracticeError(f"--hint {again}: {exercise.id} has {len(all_steps)} hints; you can see {seen}")
        number = int(again) - 1
    what, make = all_steps[number]
    print(f"Hint {number + 1} of {len(all_steps)}: {what}\n\n{make()}")
    progress.change(exercise, lambda state: state.update(hints=max(state["hints"], number + 1)))
    if number + 1 < len(all_steps):
        print(f"\nNext hint ({all_steps[number + 1][0]}): build/bin/practice {exercise.id} --hint")
