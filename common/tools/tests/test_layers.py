"""Tests of layers.py."""

import tempfile
import unittest
from pathlib import Path

from common.tools import layers

ROOT = Path(__file__).resolve().parents[3]
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
        self.write("parts/second/inner/a.h", '#include "house/parts/second/a.h"\n')
        self.assertEqual(self.faults(), [])

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


class Includes(unittest.TestCase):
    """The course's own list, of a course whose files include what a test says."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.allowed = layers.read_includes((ROOT / "common/includes.txt").read_text(encoding="utf-8"))
        for name in (
            *("common/rung.h", "common/extension.h", "common/precision.h", "common/text.h", "common/timeline.h"),
            *("common/rows/norm.cuh", "common/ptx/mma.cuh", "common/simulator/simulator.h"),
            *("common/harness/backend/device.h", "common/harness/tests/operands.h"),
            *("07_a/gemm.cu", "07_a/tiles.cuh", "07_a/shapes/any.cu", "08_warp_specialized/general/kernel.cuh"),
            *("08_warp_specialized/gemm.cu", "09_tcgen05/launch.h", "common/every_shape/estimate/estimate.h"),
            *("common/every_shape/hopper/by_shape.cuh", "common/every_shape/blackwell/launches.h", "common/every_shape/fit/fit.h"),
        ):
            self.write(name, "")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def forbidden(self):
        return layers.forbidden(self.root, self.allowed)

    def check(self, name, may=(), may_not=()):
        self.write(name, "".join(f'#include "{other}"\n' for other in may) + "#include <cstdint>\n")
        self.assertEqual(self.forbidden(), [])
        for other in may_not:
            self.write(name, f'#include "{other}"\n')
            found = self.forbidden()
            self.assertEqual(len(found), 1, (other, found))
            self.assertTrue(found[0].startswith(f"{name} includes {other}: "), found)
        self.write(name, "")

    def test_a_rung(self):
        contract = ("common/rung.h", "common/extension.h", "common/precision.h", "common/text.h", "common/timeline.h")
        for name in "07_a/gemm.cu", "07_a/shapes/any.cu":
            self.check(
                name,
                (*contract, "common/rows/norm.cuh", "common/ptx/mma.cuh", "07_a/tiles.cuh"),
                (
                    *("08_warp_specialized/general/kernel.cuh", "common/harness/backend/device.h", "common/harness/tests/operands.h"),
                    *("common/simulator/simulator.h", "common/every_shape/estimate/estimate.h"),
                ),
            )
        self.check("08_warp_specialized/gemm.cu", (), ["common/every_shape/hopper/by_shape.cuh", "07_a/tiles.cuh"])

    def test_a_header_of_common_that_is_not_listed(self):
        self.allowed["common/more.h"] = []
        self.write("common/more.h", "")
        self.check("07_a/gemm.cu", (), ["common/more.h"])
        del self.allowed["common/more.h"]
        self.assertEqual(self.forbidden(), ["common/more.h has no place"])

    def test_however_it_is_written(self):
        for text in '"../../common/harness/backend/device.h"', "<common/harness/backend/device.h>":
            self.write("07_a/shapes/any.cu", f"  #  include {text}\n")
            self.assertEqual(self.forbidden(), ["07_a/shapes/any.cu includes common/harness/backend/device.h: 07_a may not"])

    def test_every_shape(self):
        shapes, of_08, of_09 = "common/every_shape", "08_warp_specialized/general/kernel.cuh", "09_tcgen05/launch.h"
        harness = "common/harness/backend/device.h"
        estimate, hopper = f"{shapes}/estimate/estimate.h", f"{shapes}/hopper/by_shape.cuh"
        blackwell, fit = f"{shapes}/blackwell/launches.h", f"{shapes}/fit/fit.h"
        shared = ("common/extension.h", "common/rows/norm.cuh", "common/ptx/mma.cuh")
        self.check(estimate, shared[:1], (*shared[1:], hopper, blackwell, fit, harness, of_08, of_09, "07_a/tiles.cuh"))
        self.check(hopper, (*shared, estimate, of_08), (blackwell, fit, harness, of_09, "08_warp_specialized/gemm.cu"))
        self.check(blackwell, (*shared, estimate, of_09), (hopper, fit, harness, of_08))
        self.check(fit, (shared[0], estimate, hopper, blackwell, harness), (of_08, "common/simulator/simulator.h"))

    def test_the_harness_and_the_simulator(self):
        rung, shapes = "08_warp_specialized/general/kernel.cuh", "common/every_shape/estimate/estimate.h"
        self.check("common/harness/backend/device.h", ["common/timeline.h"], (rung, shapes, "common/ptx/mma.cuh", "common/simulator/simulator.h"))
        self.check("common/harness/backend/simulated.cc", ("common/harness/backend/device.h", "common/simulator/simulator.h"), [rung])
        self.check("common/simulator/simulator.h", (), ("common/rung.h", "common/harness/backend/device.h", rung))

    def test_instructions_and_rows(self):
        self.check("common/ptx/mma.cuh", ["common/timeline.h"], ("common/rung.h", "common/rows/norm.cuh"))
        self.check("common/rows/norm.cuh", ("common/extension.h", "common/ptx/mma.cuh"), ["07_a/tiles.cuh"])
        self.check("common/rung.h", ["common/text.h"], ("common/extension.h", "common/ptx/mma.cuh"))

    def test_tests_may_include_anything(self):
        self.write("07_a/tests/types_test.cc", '#include "common/harness/tests/operands.h"\n')
        self.assertEqual(self.forbidden(), [])
        self.write("07_a/types_test.cc", '#include "common/harness/tests/operands.h"\n')
        self.assertEqual(len(self.forbidden()), 1)

    def test_what_has_no_place_is_named(self):
        self.write("common/every_shape/attic.h", "")
        self.assertEqual(self.forbidden(), ["common/every_shape/attic.h has no place"])


if __name__ == "__main__":
    unittest.main()
