"""One exercise: the untouched skeleton fails as its page says, the solution passes, each wrong attempt fails for the reason
written beside it; every hint can be shown.

python3 -m common.practice.tests.exercise_test --build build NN_name/practice/N_name.md

--quick: without the wrong attempts, in one order of execution, and the solution is the rung as it was built: what is
compiled is the skeleton.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from common.practice import exercise as exercises
from common.practice import budget, compiling, grade, hints, picture, runs


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    exercise = exercises.read(options.page.resolve())
    tools = runs.Tools.of(options.build)
    failures = []
    if options.quick:
        grade.SEEDS = grade.SEEDS[:1]
        exercise.wrong.clear()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / exercise.file_name

        def write(lines):
            source.write_text("\n".join([*exercise.header(), *lines]) + "\n", encoding="utf-8")

        def verdict_of(lines):
            write(lines)
            return grade.graded(tools, exercise, source)

        def must_fail(what, lines, expect):
            verdict = verdict_of(lines)
            print(f"--- {what}: {'passed' if verdict.passed else verdict.stage}\n{verdict.text}\n", flush=True)
            if verdict.passed:
                failures.append(f"{what} passes")
            elif verdict.stage == "compile":
                failures.append(f"{what} does not compile")
            elif not re.search(expect, verdict.text) and not re.search(expect, " ".join(verdict.text.split())):  # it is wrapped
                failures.append(f"{what} fails, but not as '{expect}'")

        answers = [
            f"{q.name} = {float(budget.value_of(q.answer, budget.counters(tools, exercise, q.run, None))):.6g}"
            for q in exercise.questions
        ]
        if options.quick and exercise.kind != "predict":
            write(exercise.solution())
            (ptx,) = runs.rungs_ptx(tools, exercise, f'{exercise.fields.get("compile", exercise.fields["file"])}"')
            compiling.ptx_file(exercise, source).write_text(ptx, encoding="utf-8")
        verdict = verdict_of(answers or exercise.solution())
        print(f"--- the solution: {verdict.stage or 'passed'}\n{verdict.text}\n", flush=True)
        if not verdict.passed:
            failures.append("the solution does not pass")
        for wrong in exercise.wrong:
            lines = wrong.changes[0] if exercise.kind == "predict" else exercises.changed(exercise.solution(), wrong.changes)
            must_fail(wrong.name, lines, wrong.expect)
        must_fail("the skeleton", exercise.skeleton(), exercise.fields.get("fails", "no answer yet"))
        for what, make in hints.steps(tools, exercise, source):
            text = make()
            print(f"--- hint, {what}:\n{text}\n", flush=True)
            if not text.strip():
                failures.append(f"the hint '{what}' is empty")
        write(answers or exercise.solution())
        for hint in exercise.hints:
            if hint.picture:
                drawn = picture.draw(tools, exercise, source, hint.picture)
                print(f"--- the solution's picture:\n{drawn}\n", flush=True)
                if "Nothing to draw" in drawn:
                    failures.append(f"of the solution there is no picture of {hint.picture}")
    for failure in failures:
        print(f"{exercise.id}: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
