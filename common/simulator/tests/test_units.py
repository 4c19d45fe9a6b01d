"""The simulator's layers beside what common/tools/layers.py holds, the order of layers.txt: no file includes one of the
course; no two units (a header and its source) include each other, by whatever
detour; no folder has more than 25 files, no file more than 450 lines; every place of units/places.h has one state; the README
shows every layer, in this order."""
import re
import unittest
from pathlib import Path

SIMULATOR = Path(__file__).resolve().parent.parent
MOST_FILES, MOST_LINES = 25, 450
INCLUDE = re.compile(r'^#include "common/([^"]+)"', re.MULTILINE)


def folders():
    lines = (SIMULATOR / "layers.txt").read_text().splitlines()
    return [line.split()[0] for line in lines if line and line[0] not in "#!" and "." not in line.split()[0]]


def sources():
    """Path in the simulator → its text."""
    found = sorted(path for pattern in ("**/*.h", "**/*.cc") for path in SIMULATOR.glob(pattern))
    names = {path.relative_to(SIMULATOR).as_posix(): path.read_text() for path in found}
    return {name: text for name, text in names.items() if not name.startswith("tests/")}


def folder(name):
    return name.rpartition("/")[0]


def strangers(texts):
    return [f"{name} includes common/{other}: the simulator knows nothing of the course"
            for name, text in texts.items() for other in INCLUDE.findall(text) if not other.startswith("simulator/")]


def cycles(texts):
    """The groups of units that include each other (Tarjan's strongly connected components)."""
    unit = lambda name: name.rsplit(".", 1)[0]
    graph = {}
    for name, text in texts.items():
        others = {unit(other.removeprefix("simulator/")) for other in INCLUDE.findall(text)}
        graph.setdefault(unit(name), set()).update(others - {unit(name)})
    index, low, stack, groups = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                groups.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return groups


def too_big(texts):
    wrong = [f"{name}: {text.count(chr(10))} lines, {MOST_LINES} are allowed"
             for name, text in texts.items() if text.count("\n") > MOST_LINES]
    folders = [folder(name) for name in texts]
    return wrong + [f"{each}/: {folders.count(each)} files, {MOST_FILES} are allowed"
                    for each in sorted(set(folders)) if folders.count(each) > MOST_FILES]


def wrong_places(texts):
    """Two units that shared a place would take each other's state for their own."""
    places = [f"{holder}::{name}" for holder, names in
              re.findall(r"enum class (\w+)[^{]*{([^}]*)}", texts["units/places.h"]) for name in re.findall(r"\w+", names)]
    states = [place for text in texts.values() for place in re.findall(r"static constexpr auto place = ([\w:]+);", text)]
    return [f"{place} has {states.count(place)} states" for place in sorted({*places, *states}) if states.count(place) != 1]


class Layers(unittest.TestCase):
    def setUp(self):
        self.texts = sources()
        self.assertGreater(len(self.texts), 100)

    def none(self, wrong):
        if wrong:
            self.fail("\n".join(wrong))

    def test_no_file_includes_one_of_the_course(self):
        self.none(strangers(self.texts))

    def test_no_two_units_include_each_other(self):
        self.none(["these units include each other: " + " ".join(group) for group in cycles(self.texts)])

    def test_files_and_folders_are_small(self):
        self.none(too_big(self.texts))

    def test_every_place_has_one_state(self):
        self.none(wrong_places(self.texts))

    def test_the_readme_shows_every_layer_in_this_order(self):
        section = (SIMULATOR / "README.md").read_text().split("## The layers")[1].split("\n## ")[0]
        shown = [line.split()[0] for line in re.findall(r"^    ([a-z].*)$", section, re.MULTILINE)]
        self.assertEqual(shown, folders(), "README.md's picture and layers.txt differ")


class TheTestItself(unittest.TestCase):
    def test_a_stranger_is_found(self):
        self.assertEqual(len(strangers({"below/a.h": '#include "common/rung.h"\n'})), 1)
        self.assertEqual(strangers({"below/a.h": '#include "common/simulator/below/b.h"\n'}), [])

    def test_a_cycle_is_found(self):
        texts = {"below/a.h": '#include "common/simulator/below/b.h"\n', "below/b.h": "",
                 "below/b.cc": '#include "common/simulator/below/a.h"\n'}
        self.assertEqual(cycles(texts), [["below/a", "below/b"]])

    def test_a_place_with_two_states_and_one_with_none_are_found(self):
        texts = {"units/places.h": "enum class InCta : uint8_t { a, b, c };",
                 "units/a.h": "static constexpr auto place = InCta::a;\nstatic constexpr auto place = InCta::b;",
                 "units/b.h": "static constexpr auto place = InCta::a;"}
        self.assertEqual(wrong_places(texts), ["InCta::a has 2 states", "InCta::c has 0 states"])

    def test_what_is_too_big_is_found(self):
        self.assertEqual(len(too_big({"below/a.h": "\n" * 451})), 1)
        self.assertEqual(len(too_big({f"below/{i}.h": "" for i in range(26)})), 1)


if __name__ == "__main__":
    unittest.main()
