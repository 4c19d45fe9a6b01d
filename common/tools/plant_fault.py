"""Plants a deliberate mistake in a rung: writes the file that a fault's patch names, patched, to the same place below a folder.

    python3 -m common.tools.plant_fault NN_name/faults/FAULT.patch --root REPOSITORY --out FOLDER

So it does with the source that includes the file, where that is a header. Of the source's variants only the one that the fault
runs is left, or the last: others would take most of the compilation and never run. In their place are empty lines, so that
line numbers stay."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from common.tools import faults

TABLE = re.compile(r"\nVariants<\w+> \w+\(\) {\n(?:  [^{}\n]*\n|  static constexpr [^\n]*\n)*  (?:return|Variants<\w+> variants =) {")
PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}


class NotPlanted(Exception):
    """Why, in a line or two."""


def planted(fault: faults.Fault, text: str) -> str:
    """The patched file's text with the hunks' changes. The lines that a hunk begins with ' ' or '-' occur in it exactly once;
    it says nothing of line numbers."""
    for hunk in fault.hunks:
        rows = hunk.split("\n")
        if any(row[:1] not in (" ", "-", "+") for row in rows):
            raise NotPlanted("a line of a hunk begins with ' ', '-' or '+'")
        before = "".join(f"{row[1:]}\n" for row in rows if row[:1] in " -")
        after = "".join(f"{row[1:]}\n" for row in rows if row[:1] in " +")
        if text.count(before) != 1 or not before:
            raise NotPlanted(f"these lines must occur in {fault.patched} exactly once:\n{before}")
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
    options = parser.parse_args()
    try:
        fault = faults.read(options.fault)
        if not (options.root / fault.patched).is_file():
            raise NotPlanted(f"there is no {fault.patched}")
        files = {fault.patched: planted(fault, (options.root / fault.patched).read_text(encoding="utf-8"))}
    except (faults.NotAFault, NotPlanted) as why:
        print(why if isinstance(why, faults.NotAFault) else f"{options.fault.relative_to(options.root)}: {why}", file=sys.stderr)
        return 1
    text = files.get(fault.compiled) or (options.root / fault.compiled).read_text(encoding="utf-8")
    files[fault.compiled] = only_variant(text, fault.variant)
    for path, text in files.items():
        (options.out / path).parent.mkdir(parents=True, exist_ok=True)
        (options.out / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
