#!/usr/bin/env python3
"""The kernel of ablations/tricks.cu with all its tricks is the rung's: `tricks_test.py PROGRAM`.

What an ablation is compared with is the kernel of gemm.cu, so both must stay the same. Where no CTA has a second tile,
tile_per_cta leaves out nothing, and the simulator counts for both the same accesses and operations.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


def counted(variant: str, device: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "counts.jsonl"
        sizes = ["--m", "200", "--n", "520", "--k", "200"]
        subprocess.run(
            [PROGRAM, "gemm", "--variant", variant, *sizes, "--json", to],
            env={**os.environ, "SIMULATOR_DEVICE": device},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        counters = json.loads(to.read_text())["counters"]
    del counters["ptx_instructions"]  # the compiler's: it may compute an address otherwise
    # Of the fragments that a CTA loads ahead at its end, only a persistent one uses those of a further tile.
    return {name: value for name, value in counters.items() if "_use" not in name and "_before_" not in name}


class Tricks(unittest.TestCase):
    def test_all_of_them_are_the_rung(self):
        for device in "h200", "l40s":  # three stages, and two
            with self.subTest(device):
                self.assertEqual(counted("tile_per_cta", device), counted("swizzle_ldmatrix", device))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
