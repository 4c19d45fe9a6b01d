"""Code in the docs, copied from the sources, so that no page shows code that is not there any more.

An excerpt, rewritten between its two markers, each alone on its line:

    <!-- code: 05_mma_sync/gemm.cu load_fragments -->
    <!-- /code -->

    code: FILE NAME                    the definition of a function, type or constant, with its template line
    code: FILE "text" … "text"         from the line that has the first text to the next one that has the second
    code: FILE "text"                  the one line that has it

A text that stands on several lines of the file is refused, and so is a name that is defined more than once. The excerpt
loses the indentation that its lines share; below it comes a link to the lines.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from common.plots.records.error import ResultError

LANGUAGES = {".py": "python", ".cmake": "cmake", ".txt": "cmake", ".patch": "diff"}
STEP = "…"


def line_with(lines: list, text: str, what: str, after: int = -1) -> int:
    """The index of the line that has the text: the only one, or the first one after a line."""
    found = [i for i in range(after + 1, len(lines)) if text in lines[i]]
    if not found or (len(found) > 1 and after < 0):
        raise ResultError(f"'{what}': {len(found) or 'no'} line{'s' * (len(found) != 1)} with {text!r}")
    return found[0]


def closing(lines: list, first: int) -> int:
    """The index of the line that ends the definition which begins there: a ';' outside of braces, or the last brace."""
    depth, opened = 0, False
    for i in range(first, len(lines)):
        text = re.sub(r"//.*|'(\\.|[^'])'|\"(\\.|[^\"])*\"", "", lines[i])
        for character in text:
            depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(character, 0)
            opened |= character == "{"
        if depth == 0 and (text.rstrip().endswith(";") or (opened and text.rstrip().endswith("}"))):
            return i
    return len(lines) - 1


def definition(lines: list, name: str, what: str) -> tuple:
    """First and last index of a name's definition."""
    word = re.escape(name)
    forms = (
        rf"^\s*(?:enum (?:class )?|struct |class |union |using |namespace ){word}\b(?!.*;\s*(?://.*)?$)",
        rf"^\s*using {word} = ",
        rf"^\s*(?:static |inline |__shared__ |__device__ )*constexpr [\w:<>\s]*\b{word}(?:\[\w*\])? ?[={{]",
        rf"^\s*(?:[\w:<>*&,\s]|__launch_bounds__\([^)]*\))+[\s*&]{word}\((?!.*\);\s*(?://.*)?$)",
        rf"^\s+{word}\([^;]*$",
        rf"^\s*(?:const )?auto {word} = ",
        rf"^def {word}\(",
    )
    no_calls = [i for i, line in enumerate(lines) if not re.match(r"\s*(return|if|for|while|else|case)\b|\s*//", line)]
    for form in forms:
        found = [i for i in no_calls if re.search(form, lines[i])]
        if len(found) > 1:
            raise ResultError(f"'{what}': {name} is defined on lines {', '.join(str(i + 1) for i in found)}")
        if found:
            first = last = found[0]
            while first > 0 and re.match(r"\s*(template <|__global__|__device__|requires )", lines[first - 1]) and not lines[
                first - 1
            ].rstrip().endswith((";", "}")):
                first -= 1
            return first, closing(lines, last)
    raise ResultError(f"'{what}': no definition of {name}")


def find(root: Path, what: str) -> tuple:
    """The file that an excerpt is of, its lines, the first index and the last."""
    try:
        name, *place = shlex.split(what)
    except ValueError as error:
        raise ResultError(f"'{what}': {error}") from None
    file = root / name
    if not file.is_file():
        raise ResultError(f"'{what}': no such file")
    lines = [line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()]
    if len(place) == 1:
        quoted = '"' in what
        first = line_with(lines, place[0], what) if quoted else None
        return (file, lines, first, first) if quoted else (file, lines, *definition(lines, place[0], what))
    if len(place) == 3 and place[1] == STEP:
        first = line_with(lines, place[0], what)
        return file, lines, first, line_with(lines, place[2], what, first)
    raise ResultError(f"'{what}' is neither FILE NAME, nor FILE \"text\", nor FILE \"text\" {STEP} \"text\"")


def excerpt(root: Path, page: Path, what: str) -> str:
    file, lines, first, last = find(root, what)
    shown = lines[first : last + 1]
    indent = min((len(line) - len(line.lstrip()) for line in shown if line), default=0)
    language = LANGUAGES.get(file.suffix, "cuda")
    anchor = f"#L{first + 1}" + (f"-L{last + 1}" if last > first else "")
    name, path = file.relative_to(root), os.path.relpath(file, page.parent)
    link = f"[{name}, line{'s' * (last > first)} {first + 1}{f'–{last + 1}' * (last > first)}]({path}{anchor})"
    return "\n".join([f"```{language}", *(line[indent:] for line in shown), "```", "", f"*{link}*"])
