"""Tests of layers.py."""

import tempfile
import unittest
from pathlib import Path

from common.tools import layers

LAYERS = "base  # the lowest\nleft right\nparts/first\nparts/*\nparts\ntop parts/all.h\n"


class Layers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name) / "house"
        for name in ("base/a.h", "base/b.h", "left/a.h", "right/a.h", "parts/first/a.h", "parts/second/a.h", "parts/third/a.h", "top/a.h"):
            self.write(name, "")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def faults(self):
        return layers.faults(self.root, layers.read_layers(LAYERS))

    def including(self, name, *others):
        self.write(name, "".join(f'#include "some/house/{other}"\n' for other in others))
        found = self.faults()
        self.write(name, "")
        return found

    def test_lower_layers_and_the_own_may_be_included(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.including("top/a.h", "base/a.h", "left/a.h", "parts/second/a.h"), [])
        self.assertEqual(self.including("base/a.h", "base/b.h"), [])
        self.assertEqual(self.including("left/a.cc", "base/a.h"), [])

    def test_an_upper_one_may_not(self):
        self.assertEqual(
            self.including("base/a.h", "left/a.h"), ["base/a.h includes left/a.h: left stands above base"]
        )
        self.write("base/c.cc", '#include <vector>\n  #  include "../top/a.h"\n')
        self.assertEqual(self.faults(), ["base/c.cc includes top/a.h: top stands above base"])

    def test_nor_one_beside(self):
        self.assertEqual(
            self.including("left/a.h", "right/a.h"), ["left/a.h includes right/a.h: right stands beside left"]
        )

    def test_python_imports(self):
        self.write("base/a.py", "")
        self.write("left/b.py", "from course.house.base.a import x\nfrom course.house.base import a\nfrom other.right import y\n")
        self.assertEqual(self.faults(), [])
        self.write("base/a.py", "def f():\n    from course.house import (\n        left,\n    )\n")
        self.assertEqual(self.faults(), ["base/a.py includes left: left stands above base"])
        self.write("base/a.py", "from course.house.left.b import x\n")
        self.assertEqual(self.faults(), ["base/a.py includes left/b.py: left stands above base"])

    def test_folders_that_a_star_stands_for_are_apart(self):
        self.assertEqual(self.including("parts/second/a.h", "parts/first/a.h"), [])
        self.assertEqual(len(self.including("parts/second/a.h", "parts/third/a.h")), 1)
        self.assertEqual(len(self.including("parts/first/a.h", "parts/second/a.h")), 1)

    def test_a_file_may_be_in_another_layer_than_its_folder(self):
        self.write("parts/all.h", '#include "house/parts/second/a.h"\n')
        self.write("parts/shared.h", "")
        self.assertEqual(self.faults(), [])
        self.assertEqual(len(self.including("parts/shared.h", "parts/all.h")), 1)

    def test_what_is_in_no_layer_is_named(self):
        self.write("attic/a.h", "")
        self.assertEqual(self.faults(), ["attic/a.h is in no layer"])

    def test_words_that_lower_layers_do_not_know(self):
        text = LAYERS.replace("parts/first", "! tma cp.async  # two words\nparts/first")
        self.assertEqual(layers.read_layers(text), layers.read_layers(LAYERS))

        def named_in(name, content):
            self.write(name, content)
            found = layers.faults(self.root, layers.read_layers(text), layers.read_unknown(text))
            self.write(name, "")
            return found

        for content in ("struct TmaMap;", "int tma_map;", "// of TMA,", "void useTma();"):
            self.assertEqual(named_in("left/a.h", content), ["left/a.h names tma, which left does not know"])
        self.assertEqual(named_in("base/a.h", "cp_async_wait();  // cp.async"), ["base/a.h names cp.async, which base does not know"])
        self.assertEqual(named_in("base/a.h", "bitmap tmaps async cp"), [])
        self.assertEqual(named_in("parts/first/a.h", "struct TmaMap;"), [])

    def test_tests_may_include_anything(self):
        self.write("tests/a.cc", '#include "house/top/a.h"\n')
        self.write("base/tests/a.cc", '#include "house/top/a.h"\n')
        self.assertEqual(self.faults(), [])


if __name__ == "__main__":
    unittest.main()
