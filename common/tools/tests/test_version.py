"""The version stands in three places, and is the same in each."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PLACES = {
    "CMakeLists.txt": r"^project\(kernel_ladder VERSION (\S+) ",
    "CHANGELOG.md": r"^## (\d\S*)",  # the newest stands first
    "CITATION.cff": r"^version: (\S+)$",
}


class Version(unittest.TestCase):
    def test_the_same_everywhere(self):
        found = {}
        for name, pattern in PLACES.items():
            stands = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
            self.assertTrue(stands, name)
            found[name] = stands[1]
        self.assertEqual(len(set(found.values())), 1, found)
