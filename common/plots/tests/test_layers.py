"""What the folders of common/plots may know of each other, and of the course."""

import re
import unittest

from common.plots.tests.fixture import PLOTS
from common.tools import layers


class Layers(unittest.TestCase):
    def test_none_imports_an_upper_one(self):
        text = (PLOTS / "layers.txt").read_text(encoding="utf-8")
        self.assertEqual(layers.faults(PLOTS, layers.read_layers(text)), [])

    def test_none_imports_the_rest_of_the_course(self):
        for folder in ("records", "pages", "pictures", "charts"):
            for file in (PLOTS / folder).glob("*.py"):
                of = set(re.findall(r"\bfrom common\.(\w+)([\w.]*) import (.*)", file.read_text(encoding="utf-8")))
                other = {each for each in of if each[0] != "plots"}
                self.assertLessEqual(other, {("tools", "", "faults")}, file.name)  # the one reader of planted faults
