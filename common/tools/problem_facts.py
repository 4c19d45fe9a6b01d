"""What the harness knows of each problem, for what has no program to ask: docs/results/problems.json, which the plots read.

    python3 -m common.tools.problem_facts PROGRAM            writes it, of the problems that PROGRAM lists (--list --json)
    python3 -m common.tools.problem_facts PROGRAM --check    exits with 1 where it says something else
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from common.tools.programs import ROOT, listed

FILE = ROOT / "docs/results/problems.json"
FACTS = ("dimensions", "score", "unit", "baseline", "default_shape")


def facts_of(program: Path) -> str:
    problems = {name: {fact: problem[fact] for fact in FACTS} for name, problem in listed(program).items()}
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in problems.items()) + "\n}\n"


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="one that has every problem: every_shape_sim")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--file", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    text = facts_of(options.program)
    if not options.check:
        options.file.write_text(text, encoding="utf-8")
    elif options.file.read_text(encoding="utf-8") != text:
        print(f"{options.file} is not what {options.program} lists: write it anew, without --check", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
