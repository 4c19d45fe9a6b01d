"""What it takes to read a rung: `reading_cost.py [--check | --listing PROGRAM] [ROOT]`.

Prints a table of the files that a reader of each rung's gemm.cu and fused_norm.cu opens, without common/: their lines,
the longest function, and how often it says `if constexpr`; and of all that is in the rung's folder. With --check it only
prints what is over the course's budgets, or what a rung's own files may not include or mention, and exits with 1 if there is
any. With --listing it does so of what a rung's program prints with --list.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

# At most: of a rung's folder,
FILES = 60
LINES = {8: 5500, 9: 5500}  # of all its files, in these rungs
CMAKE = 40  # of CMakeLists.txt
LISTING = 45  # that its program prints with --list
# and of what is read first,
CONTRACT = 120  # lines of common/rung.h
GEMM = {0: 130, 3: 200, 6: 280}  # of gemm.cu, from that rung on
NORM = 200  # of fused_norm.cu
FURTHER = 150  # of the one further file that a rung may have beside each
# Rungs with limits of their own for what a reader of gemm.cu opens: the lines of all its files, the lines of a function,
# and the flags of its kernel, which are the fields of the struct that its ablations vary.
LIMITS = {6: {"lines": 300, "function": 60, "flags": 4}}
DESIGN = re.compile(r"^struct (?:Design|Tricks) {\n(.*?)^};", re.MULTILINE | re.DOTALL)
FLAG = re.compile(r"^  (?!using|static)[\w:]+ (\w+)(?: = [^;,]+)?;", re.MULTILINE)
# What belongs to excursions, and words that the course writes otherwise.
ELSEWHERE = re.compile(r"precision|fp8|e4m3|split.?k|norm_gemm|estimate", re.IGNORECASE)
WORDS = re.compile(r"\b(widen\w*|reckon\w*|nobody|somebody|everyone|so-manieth|drain\w*|alibi)\b", re.IGNORECASE)
INCLUDE = re.compile(r'^#include "(\d\d_[^"]+)"', re.MULTILINE)


def opened(root: Path, file: Path) -> list:
    """The file and what it includes of its rung, each once, in the order of reading."""
    found = [file]
    for at in found:
        found += [root / name for name in INCLUDE.findall(at.read_text()) if root / name not in found]
    return found


def longest_function(text: str) -> tuple:
    """Lines and name of the longest function at namespace level: clang-format ends it with a brace in the first column."""
    best, start = (0, ""), None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line == "}" and start is not None:
            head = " ".join(lines[start : number + 1])
            name = re.search(r"(\w+)\s*\(", re.sub(r"__launch_bounds__\((?:[^()]|\([^()]*\))*\)", "", head))
            best = max(best, (number - start + 1, name[1] if name else ""))
        if re.match(r"}|namespace|struct|class|enum|using", line):
            start = None
        elif start is None and not re.match(r"\s|#|//|$|.*;$", line):
            start = number
    return best


def rungs(root: Path) -> list:
    return sorted(path for path in root.glob("[0-9][0-9]_*") if path.is_dir())


def table(root: Path) -> str:
    rows = [("rung", "problem", "files", "lines", "longest function", "if constexpr", "all files", "all lines", "CMakeLists.txt")]
    for rung in rungs(root):
        for problem in "gemm", "fused_norm":
            files = opened(root, rung / f"{problem}.cu")
            texts = [file.read_text() for file in files]
            lines, name = max(longest_function(text) for text in texts)
            counts = len(files), sum(len(text.splitlines()) for text in texts)
            branches = sum(text.count("if constexpr") for text in texts)
            folder = map(str, folder_counts(rung)) if problem == "gemm" else [""] * 3
            rows.append((rung.name, problem, *map(str, counts), f"{lines} ({name})", str(branches), *folder))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def flags(text: str) -> list:
    """The fields of the struct that says what ablations of the kernel leave out."""
    return [name for fields in DESIGN.findall(text) for name in FLAG.findall(fields)]


def over_limits(root: Path, rung: Path) -> list:
    """What is over the rung's own limits, of its gemm.cu and of the further file together."""
    limits = LIMITS.get(int(rung.name[:2]))
    if not limits:
        return []
    files = opened(root, rung / "gemm.cu")
    texts = [file.read_text() for file in files]
    found, names = [], " and ".join(str(file.relative_to(root)) for file in files)
    if (lines := sum(len(text.splitlines()) for text in texts)) > limits["lines"]:
        found.append(f"{names} have {lines} lines together, at most {limits['lines']}")
    lines, name = max(longest_function(text) for text in texts)
    if lines > limits["function"]:
        found.append(f"{name} of {names} has {lines} lines, at most {limits['function']}")
    if len(of_kernel := [flag for text in texts for flag in flags(text)]) > limits["flags"]:
        found.append(f"{names} have {len(of_kernel)} flags, at most {limits['flags']}: {', '.join(of_kernel)}")
    return found


def budget_of_gemm(rung: Path) -> int:
    return GEMM[max(first for first in GEMM if first <= int(rung.name[:2]))]


def faults_of(root: Path, file: Path, budget: int) -> list:
    """What is wrong with a rung's gemm.cu or fused_norm.cu, and with the files of the rung that it includes."""
    found = []
    for at in opened(root, file):
        name, text = at.relative_to(root), at.read_text()
        most, lines = budget if at == file else FURTHER, len(text.splitlines())
        if lines > most:
            found.append(f"{name} has {lines} lines, at most {most} are to be read at once")
        if at.parent != file.parent:
            found.append(f"{file.relative_to(root)} includes {name}: a rung's own files include none of its excursions")
        for number, line in enumerate(text.splitlines(), 1):
            if (word := ELSEWHERE.search(line)) and at.parent == file.parent:
                found.append(f"{name}:{number} mentions '{word[0]}', which is an excursion's")
    if len(further := opened(root, file)[1:]) > 1:
        names = ", ".join(str(at.relative_to(root)) for at in further)
        found.append(f"{file.relative_to(root)} takes {len(further)} further files to read, at most one: {names}")
    return found


def folder_counts(rung: Path) -> tuple:
    """How many files are in the rung's folder, the lines of all, and those of CMakeLists.txt."""
    files = [path for path in rung.rglob("*") if path.is_file()]
    return len(files), sum(map(lines_of, files)), sum(map(lines_of, rung.glob("CMakeLists.txt")))


def lines_of(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def folder_faults(rung: Path) -> list:
    """What of the rung's folder is over budget."""
    files, lines, cmake = folder_counts(rung)
    found = []
    if files > FILES:
        found.append(f"{rung.name} has {files} files, at most {FILES}")
    if lines > (most := LINES.get(int(rung.name[:2]), lines)):
        found.append(f"the files of {rung.name} have {lines} lines, at most {most}")
    if cmake > CMAKE:
        found.append(f"{rung.name}/CMakeLists.txt has {cmake} lines, at most {CMAKE}")
    return found


def listing_faults(program: Path) -> list:
    """Whether what the program prints with --list is over budget."""
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [f"{program.name} --list prints {len(listed)} lines, at most {LISTING}"] if len(listed) > LISTING else []


def over_budget(root: Path) -> list:
    """A line for each thing that is over budget or in the wrong place."""
    found = []
    if (lines := len((root / "common/rung.h").read_text().splitlines())) > CONTRACT:
        found.append(f"common/rung.h has {lines} lines, at most {CONTRACT} are for a first reading")
    for rung in rungs(root):
        found += folder_faults(rung)
        found += faults_of(root, rung / "gemm.cu", budget_of_gemm(rung))
        found += faults_of(root, rung / "fused_norm.cu", NORM)
        found += over_limits(root, rung)
    for file in sorted([*root.glob("[0-9][0-9]_*/**/*.*"), *root.glob("common/ptx/*")]):
        if file.suffix not in {".cu", ".cuh", ".h", ".cc"}:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if word := WORDS.search(line):
                found.append(f"{file.relative_to(root)}:{number} says '{word[0]}': the course has another word for it")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--listing", type=Path, metavar="PROGRAM")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    if not arguments.check and not arguments.listing:
        print(table(arguments.root))
        return 0
    found = listing_faults(arguments.listing) if arguments.listing else over_budget(arguments.root)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
