"""An exercise: a page NN_name/practice/NUMBER_NAME.md that names the region of the rung's source that it blanks, the text
that the learner sees there instead, hints, and attempts that must fail. The solution is the rung itself.

    # Title
    kind: write                          write, speed up, hunt or predict
    core: 20                             of the twelve of the short course: minutes that it takes, an estimate
    part: docs/03_vectorized.md#4-the-kernel
    file: 03_vectorized/gemm.cu          what the learner edits; not of a prediction
    compile: 03_vectorized/gemm.cu       the source that includes it, where it is a header
    run: gemm --size 256                 shapes beside the rung's own list of awkward ones; the first is what budgets count
    sms: 4                               of the simulated GPU, so that a CTA has several tiles of a small problem
    budget: EXPRESSION -- what it means  counters of that run (budget.py), in a comparison that must hold
    fails: REGULAR EXPRESSION            what the grader says of the untouched skeleton
    fault: wait_one_too_few              of a hunt: the rung's planted fault, in place of blanks
    question: NAME -- TEXT               of a prediction, and below it
    answer: EXPRESSION                   counters of the run before it (`run:` may stand before each question)

    Why: about three lines. The contract: shapes, layouts, budget.

    ## blank "text" … "text"             a region of the file, as excerpts.py names it; then the text in its place
    ## hint                              what to look at; `picture: ld.global A` draws that access of the learner's kernel
    ## structure                         the last hint before the solution's text: how it is built, in words or pseudocode
    ## passed                            shown after a pass: of a prediction the derivation, of a hunt what the fault looks
                                         like on a GPU
    ## wrong NAME                        an attempt that must fail; `expect: REGULAR EXPRESSION` of what the grader says

Of a wrong attempt each block of code takes the place of a blank, in their order, or, below a line `at: "text" … "text"`,
of that region of the solution (so one of a hunt plants the fault again, beside its own repair); of a prediction it is the
file of answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from common.plots.pages.excerpts import find
from common.plots.records.error import ResultError
from common.tools import faults
from common.tools.plant_fault import NotPlanted, planted

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("write", "speed up", "hunt", "predict")
FIELDS = ("kind", "core", "part", "file", "compile", "run", "sms", "budget", "fails", "fault", "question", "answer")
REPEATED = ("run", "budget")
FENCE = re.compile(r"^```")


class PracticeError(Exception):
    """One line for the reader: what is wrong and where."""


def read_text(path: Path) -> str:
    """Of a learner's file."""
    try:
        data = path.read_bytes()
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PracticeError(f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8") from None
    except OSError as error:
        raise PracticeError(f"{path} cannot be read: {error.strerror}") from None


@dataclass
class Blank:
    first: int  # indices of lines of the solution
    last: int
    text: list


@dataclass
class Hint:
    text: str
    picture: str = ""


@dataclass
class Wrong:
    name: str
    why: str
    expect: str
    changes: list  # Blanks, or one list of lines: the answers of a prediction


@dataclass
class Question:
    name: str
    text: str
    run: str
    answer: str


@dataclass
class Exercise:
    path: Path
    title: str = ""
    about: str = ""
    fields: dict = field(default_factory=dict)
    blanks: list = field(default_factory=list)
    hints: list = field(default_factory=list)
    structure: str = ""
    passed: str = ""
    wrong: list = field(default_factory=list)
    questions: list = field(default_factory=list)

    @property
    def rung(self) -> str:
        return self.path.parents[1].name

    @property
    def id(self) -> str:  # 03.2
        return f"{self.rung[:2]}.{self.path.stem.partition('_')[0]}"

    @property
    def kind(self) -> str:
        return self.fields["kind"]

    @property
    def runs(self) -> list:
        return self.fields.get("run", [])

    @property
    def problem(self) -> str:
        return self.runs[0].split()[0]

    @property
    def core(self) -> int:  # minutes; 0: not of the short course
        return int(self.fields.get("core", 0))

    def settings(self, run: str) -> dict:
        """Of the simulator: `sms` is of the exercise's own runs."""
        own = run in self.runs or any(run == question.run for question in self.questions)
        return {"sms": self.fields["sms"]} if own and "sms" in self.fields else {}

    @property
    def folder(self) -> str:  # of the learner's file: 03.2_vector_loads
        return f"{self.id}_{self.path.stem.partition('_')[2]}"

    @property
    def file_name(self) -> str:
        return "answers.txt" if self.kind == "predict" else Path(self.fields["file"]).name

    def solution(self) -> list:
        return (ROOT / self.fields["file"]).read_text(encoding="utf-8").splitlines()

    def skeleton(self) -> list:
        """What the learner begins with, below the header."""
        if self.kind == "predict":
            return [line for question in self.questions for line in (f"# {question.text}", f"{question.name} = ?", "")]
        if "fault" in self.fields:
            return with_fault(ROOT / self.rung / "faults" / f"{self.fields['fault']}.patch", self.solution())
        return changed(self.solution(), self.blanks)

    def header(self) -> list:
        """What stands above it, as comments: the exercise and how to go on."""
        sign = "#" if self.kind == "predict" else "//"
        text = [f"{self.id} ({self.kind}): {self.title}", "", *self.about.splitlines(), "", f"Chapter: {self.fields['part']}"]
        for budget in self.fields.get("budget", []):
            expression, _, meaning = budget.partition(" -- ")
            text.append(f"Budget:  {expression}" + (f"  ({meaning})" if meaning else ""))
        if self.fields.get("budget"):
            sms = f" on {self.fields['sms']} SMs" if "sms" in self.fields else ""
            text.append(f"         counted of {self.runs[0]}{sms}")
        text += ["", f"Grade it: build/bin/practice {self.id}      A hint: build/bin/practice {self.id} --hint"]
        return [f"{sign} {line}".rstrip() for line in text] + [""]


def changed(lines: list, blanks: list) -> list:
    for blank in sorted(blanks, key=lambda blank: -blank.first):
        lines = [*lines[: blank.first], *blank.text, *lines[blank.last + 1 :]]
    return lines


def with_fault(file: Path, lines: list) -> list:
    """The lines of the file that the rung's fault is in, with its mistake."""
    try:
        return planted(faults.read(file), "\n".join(lines) + "\n").splitlines()
    except (faults.NotAFault, NotPlanted) as why:
        raise PracticeError(f"{file.relative_to(ROOT)}: {why}") from None


def sections(lines: list) -> list:
    """(heading, its lines), the first without a heading."""
    parts, fenced = [("", [])], False
    for line in lines:
        fenced ^= bool(FENCE.match(line))
        if line.startswith("## ") and not fenced:
            parts.append((line[3:].strip(), []))
        else:
            parts[-1][1].append(line)
    return parts


def blocks(lines: list) -> tuple:
    """The text outside of fences, and the fenced blocks, each with the line `at: …` above it."""
    text, found, at, inside = [], [], "", None
    for line in lines:
        if FENCE.match(line):
            if inside is None:
                inside = []
            else:
                found.append((at, inside))
                at, inside = "", None
        elif inside is not None:
            inside.append(line)
        elif line.startswith("at: "):
            at = line[4:]
        else:
            text.append(line)
    return "\n".join(text).strip(), found


def take(text: str, name: str) -> tuple:
    """The value of a line `name: …`, and the text without it."""
    match = re.search(rf"^{name}: (.*)\n?", text, re.MULTILINE)
    return (match[1], (text[: match.start()] + text[match.end() :]).strip()) if match else ("", text)


def read(path: Path) -> Exercise:
    exercise = Exercise(path)

    def fail(what):
        raise PracticeError(f"{'/'.join(path.parts[-3:])}: {what}")

    (_, head), *rest = sections(path.read_text(encoding="utf-8").splitlines())
    if not head or not head[0].startswith("# "):
        fail("its first line is no title")
    exercise.title = head[0][2:]
    run = ""
    fields, _, exercise.about = "\n".join(head[1:]).strip().partition("\n\n")
    for line in fields.splitlines():
        match = re.match(r"([a-z ]+): (.*)", line)
        if not match:
            fail(f"'{line}' is no field")
        name, value = match[1], match[2].strip()
        if name not in FIELDS:
            fail(f"there is no field '{name}'; there are: {', '.join(FIELDS)}")
        if name in REPEATED:
            exercise.fields.setdefault(name, []).append(value)
        elif name == "question":
            exercise.questions.append(Question(*value.split(" -- ", 1), run, ""))
        elif name == "answer":
            exercise.questions[-1].answer = value
        elif name in exercise.fields:
            fail(f"'{name}' stands twice")
        else:
            exercise.fields[name] = value
        run = value if name == "run" else run
    kind = exercise.fields.get("kind")
    if kind not in KINDS:
        fail(f"kind is '{kind}'; there are: {', '.join(KINDS)}")
    for name in ("part", "run") + (() if kind == "predict" else ("file", "fails")):
        if name not in exercise.fields:
            fail(f"no field '{name}'")
    for name in ("core", "sms"):
        if not re.fullmatch(r"[1-9]\d*", exercise.fields.get(name, "1")):
            fail(f"'{name}: {exercise.fields[name]}' is no number")
    part, _, anchor = exercise.fields["part"].partition("#")
    if not (ROOT / part).is_file() or not anchor:
        fail(f"'{exercise.fields['part']}' is no part of a chapter")

    def region(spec) -> tuple:
        try:
            return find(ROOT, f"{exercise.fields['file']} {spec}")[2:]
        except ResultError as error:
            fail(f"the rung's source has changed: {error}")

    for heading, lines in rest:
        what, _, name = heading.partition(" ")
        text, code = blocks(lines)
        if what == "blank":
            if len(code) != 1:
                fail(f"'{heading}' needs one block of code")
            exercise.blanks.append(Blank(*region(name), code[0][1]))
        elif what == "hint":
            picture, text = take(text, "picture")
            exercise.hints.append(Hint(text, picture))
        elif what in ("structure", "passed"):
            if getattr(exercise, what) or not "\n".join(lines).strip():
                fail(f"'## {what}' stands twice, or has no text")
            setattr(exercise, what, "\n".join(lines).strip())
        elif what == "wrong":
            expect, text = take(text, "expect")
            if not (name and expect and text and code):
                fail(f"'{heading}' needs a name, why it is wrong, `expect: …` and code")
            if kind == "predict":
                changes = [code[0][1]]
            else:
                unplaced = iter(exercise.blanks)
                changes = []
                for at, replacement in code:
                    blank = None if at else next(unplaced, None)
                    if not at and blank is None:
                        fail(f"'{heading}' has more code than there are blanks: name its place, `at: …`")
                    changes.append(Blank(*(region(at) if at else (blank.first, blank.last)), replacement))
            exercise.wrong.append(Wrong(name, text, expect, changes))
        else:
            fail(f"'## {heading}' is none of blank, hint, structure, passed, wrong")
    if kind == "predict":
        if not exercise.questions or not all(question.run and question.answer for question in exercise.questions):
            fail("a prediction needs questions, each with a run and an answer")
    elif bool(exercise.blanks) == ("fault" in exercise.fields):
        fail("it needs a blank, or a fault, and not both")
    if len(exercise.wrong) < 2 or not exercise.hints:
        fail("it needs two wrong attempts and a hint")
    return exercise


def every() -> list:
    """All exercises, in order."""
    pages = [page for page in ROOT.glob("[0-9][0-9]_*/practice/[0-9]*_*.md")]
    return [read(page) for page in sorted(pages, key=lambda page: (page.parts[-3], int(page.stem.partition("_")[0])))]


def named(name: str, every: list) -> Exercise:
    for exercise in every:
        if name in (exercise.id, exercise.folder):
            return exercise
    rung = [exercise.id for exercise in every if exercise.rung[:2] == name[:2]]
    there = f"rung {name[:2]} has {rung[0]} to {rung[-1]}" if rung else "build/bin/practice lists them"
    raise PracticeError(f"there is no exercise '{name}': {there}")
