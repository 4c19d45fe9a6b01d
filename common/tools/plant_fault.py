"""Plants a deliberate mistake in a rung: writes the file that a patch names, patched, to the same place below a folder.

    python3 -m common.tools.plant_fault FAULT --root REPOSITORY --out FOLDER [--compile NN_name/gemm.cu] [--variant NAME]

--compile: so it does with the source that includes the file. Of that source's variants only NAME is left, or the last one:
others would take most of the compilation and never run. In their place are empty lines, so that line numbers stay."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HEAD = re.compile(r"\n--- ([^\n]+)\n(?=@@\n)")
TABLE = re.compile(r"\nVariants<\w+> \w+\(\) {\n(?:  [^{}\n]*\n|  static constexpr [^\n]*\n)*  (?:return|Variants<\w+> variants =) {")
PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}


class NotPlanted(Exception):
    """Why, in a line or two."""


def planted(patch: str, text: str, path: str) -> str:
    """The text with the hunks' changes. The lines that a hunk begins with ' ' or '-' occur in it exactly once; it says nothing
    of line numbers."""
    for hunk in HEAD.split(patch, 1)[-1].removeprefix("@@\n").split("\n@@\n"):
        rows = hunk.rstrip("\n").split("\n")
        if any(row[:1] not in (" ", "-", "+") for row in rows):
            raise NotPlanted("a line of a hunk begins with ' ', '-' or '+'")
        before = "".join(f"{row[1:]}\n" for row in rows if row[:1] in " -")
        after = "".join(f"{row[1:]}\n" for row in rows if row[:1] in " +")
        if text.count(before) != 1 or not before:
            raise NotPlanted(f"these lines must occur in {path} exactly once:\n{before}")
        text = text.replace(before, after)
    return text


def entries(text: str, first: int) -> list:
    """Where the entries of a C++ list in braces begin and end, the first at `first`, each with its comma."""
    found, begin, at, inside = [], first, first, []
    while True:
        char = text[at]
        if skipped := re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|//[^\n]*|->|[<>]=').match(text, at):
            at = skipped.end()
            continue
        if char in PAIRS:
            while char != ">" and inside[-1:] == ["<"]:
                inside.pop()  # it was "less than"
            if not inside and char == "}":
                return [*found, (begin, at)] if text[begin:at].strip() else found
            if inside[-1:] == [PAIRS[char]]:
                inside.pop()
        elif char in PAIRS.values():
            inside.append(char)
        elif char == "," and not inside:
            found.append((begin, at + 1))
            begin = at + 1
        at += 1


def only_variant(text: str, name: str) -> str:
    """Of the table with the variant that is called so, or of the last table, one entry: that one, or the last. A source
    without is left as it is."""
    named = text.find(f'"{name}"') if name else len(text)
    table = [match for match in TABLE.finditer(text) if match.start() < named]
    if named < 0 or not table or name and "\nVariants<" in text[table[-1].end() : named]:
        return text
    spans = entries(text, table[-1].end())
    kept = [span for span in spans if name and f'"{name}"' in text[slice(*span)]] or spans[-1:]
    for begin, end in reversed(spans):
        if (begin, end) not in kept:
            text = text[:begin] + re.sub(r"[^\n]", "", text[begin:end]) + text[end:]
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--compile", default="")
    parser.add_argument("--variant", default="")
    options = parser.parse_args()
    patch = options.fault.read_text(encoding="utf-8")
    head = HEAD.search(patch)
    try:
        if not head or not (options.root / head[1]).is_file():
            raise NotPlanted("there must be a line '--- file', with a file of the repository, and below it one '@@'")
        files = {head[1]: planted(patch, (options.root / head[1]).read_text(encoding="utf-8"), head[1])}
    except NotPlanted as why:
        print(f"{options.fault.relative_to(options.root)}: {why}", file=sys.stderr)
        return 1
    source = options.compile or head[1]
    text = files.get(source) or (options.root / source).read_text(encoding="utf-8")
    files[source] = only_variant(text, options.variant)
    for path, text in files.items():
        (options.out / path).parent.mkdir(parents=True, exist_ok=True)
        (options.out / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
