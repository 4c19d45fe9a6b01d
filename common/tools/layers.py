"""Holds who includes whom, of the files of a folder and of the whole course.

    python3 -m common.tools.layers common/harness
    python3 -m common.tools.layers . --includes common/includes.txt

The first reads a folder's layers: a file includes files of its own layer and of lower ones, never of an upper one. The
folder's layers.txt has a line for each layer, the lowest first: folders and files, that stand beside each other and
do not include each other, or, in Python, import. `problems/*` is each folder of problems that no other line names. What is in no layer is an
error, but for folders called tests. `#` begins a comment. A line that begins with `!` has words that no file of the layers
before it contains, be it in a comment or as a part of a name: with tma and cp.async neither TmaMap nor cp_async_wait is there.

The second reads pairs that need no order. A line `PLACE: ...` has what the files of that folder, or that file, may include of
the course beside their own: folders, files, and globs of files. A line `NAME = ...` before it gives several of these a name.
Every C++ file below the named folders has a place, but for those of folders called tests.
"""

import argparse
import fnmatch
import re
import sys
from pathlib import Path

SOURCES = (".h", ".cuh", ".cc", ".cu", ".inc", ".py")
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")  # of TmaMap, tma_map, TMA
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def read_layers(text):
    """[(level, name)] of all lines."""
    layers = []
    for names in lines_of(text):
        if not names[0].startswith("!"):
            level = layers[-1][0] + 1 if layers else 0
            layers += [(level, name.rstrip("/")) for name in names]
    return layers


def lines_of(text):
    return [names for line in text.splitlines() if (names := line.split("#")[0].split())]


def read_unknown(text):
    """[(levels below which they are unknown, word)] of all lines of `!`."""
    unknown, level = [], 0
    for names in lines_of(text):
        if names[0].startswith("!"):
            unknown += [(level, word) for word in " ".join(names)[1:].split()]
        else:
            level += 1
    return unknown


def spaced(text):
    """Its words and parts of names, each between spaces."""
    return f" {' '.join(WORD.findall(text)).lower()} "


def place_of(path, layers):
    """(level, folder or file) of a path below the root: the longest name that it begins with. None: in no layer."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        prefix = "/".join(parts[:length])
        named = [level for level, name in layers if name == prefix]
        if length < len(parts):  # a star stands for part of a folder's name
            named += [level for level, name in layers if name.count("/") == length - 1 and fnmatch.fnmatch(prefix, name)]
        if named:
            return named[0], prefix
    return None


def includes(root, file):
    """What a file includes, or imports, of the root, as paths below it."""
    if file.suffix == ".py":
        yield from imports(root, file)
        return
    named = re.compile(rf"(?:.*/)?{re.escape(root.name)}/(.+)")
    for include in INCLUDE.findall(file.read_text(encoding="utf-8")):
        below = named.fullmatch(include)
        candidates = [file.parent / include, root / include, *([root / below.group(1)] if below else [])]
        for path in candidates:
            if path.is_file() and path.resolve().is_relative_to(root):
                yield path.resolve().relative_to(root).as_posix()
                break


def imports(root, file):
    """What a Python file imports of the root, as paths below it."""
    named = re.compile(rf"^\s*from (?:\w+\.)*{re.escape(root.name)}(?:\.([\w.]+))? import (\([^)]*\)|.*)", re.MULTILINE)
    for package, names in named.findall(file.read_text(encoding="utf-8")):
        for path in [package.replace(".", "/")] if package else re.findall(r"\w+", names):
            yield f"{path}.py" if (root / f"{path}.py").exists() else path


def faults(root, layers, unknown=()):
    root = root.resolve()
    found = []
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root)
        if file.suffix not in SOURCES or "tests" in path.parts:
            continue
        path = path.as_posix()
        place = place_of(path, layers)
        if place is None:
            found.append(f"{path} is in no layer")
            continue
        words = [word for level, word in unknown if place[0] < level]
        if words:
            text = spaced(file.read_text(encoding="utf-8"))
            found += [f"{path} names {word}, which {place[1]} does not know" for word in words if spaced(word) in text]
        for include in includes(root, file):
            other = place_of(include, layers)
            if other is None or other == place or other[0] < place[0]:
                continue
            how = "above" if other[0] > place[0] else "beside"
            found.append(f"{path} includes {include}: {other[1]} stands {how} {place[1]}")
    return found


def read_includes(text):
    """{place: what its files may include} of all lines `place: ...`."""
    groups, allowed = {}, {}
    for first, *others in lines_of(text):
        if others[:1] == ["="]:
            groups[first] = others[1:]
        else:
            allowed[first.removesuffix(":")] = [name for other in others for name in groups.get(other, [other])]
    return allowed


def forbidden(root, allowed):
    """A line for each include that is none of those allowed, and for each file without a place."""
    root = root.resolve()
    places = list(enumerate(allowed))
    folders = {folder for place in allowed for folder in root.glob(place.split("/")[0])}
    found = []
    for file in sorted(file for folder in folders for file in folder.rglob("*")):
        path = file.relative_to(root)
        if file.suffix not in SOURCES or file.suffix == ".py" or "tests" in path.parts:
            continue
        path = path.as_posix()
        place = place_of(path, places)
        if place is None:
            found.append(f"{path} has no place")
            continue
        names = allowed[places[place[0]][1]]
        for include in includes(root, file):
            own = place_of(include, places) == place
            if not own and not any(include.startswith(f"{name}/") or fnmatch.fnmatch(include, name) for name in names):
                found.append(f"{path} includes {include}: {place[1]} may not")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="the folder whose files are read")
    parser.add_argument("--layers", type=Path, help="its layers; without it layers.txt in the folder")
    parser.add_argument("--includes", type=Path, help="who may include whom, instead of layers")
    arguments = parser.parse_args()
    if arguments.includes:
        allowed = read_includes(arguments.includes.read_text(encoding="utf-8"))
        found = forbidden(arguments.root, allowed)
        print("\n".join(found) or f"{arguments.root}: {len(allowed)} places, no include that is not allowed")
        return 1 if found else 0
    list_file = arguments.layers or arguments.root / "layers.txt"
    text = list_file.read_text(encoding="utf-8")
    layers = read_layers(text)
    found = faults(arguments.root, layers, read_unknown(text))
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        return 1
    print(f"{arguments.root}: {layers[-1][0] + 1} layers, no include of an upper one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
