"""What the simulator counts of overlap agrees with what the kernels do by construction: a ring of S stages has S - 1 k-tiles
on their way while an MMA runs, in every schedule, whether a CTA has one tile or several.

python3 -m common.practice.tests.overlap_test --build build
"""

import sys
import unittest
from pathlib import Path

from common.practice import exercise as exercises
from common.practice import budget, runs


def counted(rung, run, **settings):
    exercise = exercises.Exercise(exercises.ROOT / rung / "practice" / "0_none.md")
    return budget.counters(tools, exercise, run, None, **settings)


class ByConstruction(unittest.TestCase):
    def expect(self, rung, run, **values):
        for settings in ({}, {"seed": 1, "sms": 2}):
            counters = counted(rung, run, **settings)
            for name, value in values.items():
                with self.subTest(rung=rung, run=run, settings=settings, counter=name):
                    self.assertEqual(counters.get(name), value)

    def test_loads_travel_while_the_fmas_of_a_k_tile_run(self):
        tiles, loads = 2 * 2, 2 * 8  # of a k-tile: two loads by each of 8 warps
        self.expect("03_vectorized", "gemm --size 256",
                    global_load_uses=tiles * loads * 16, global_load_uses_at_once=tiles * loads)
        self.expect("03_vectorized", "gemm --size 256 --variant single_buffer",
                    global_load_uses=tiles * loads * 16, global_load_uses_at_once=tiles * loads * 16)

    def test_a_wait_leaves_the_groups_that_it_names(self):
        for variant, stages in (("1_stage", 1), ("2_stages", 2), ("3_stages", 3), ("cp_async", 4)):
            self.expect("04_cp_async", f"gemm --size 256 --variant {variant}", async_copy_in_flight_least=stages - 1)
        self.expect("05_mma_sync", "gemm --size 256", async_copy_in_flight_least=2, mma_k_tiles_in_flight_least=3)
        self.expect("06_swizzle_ldmatrix", "gemm --size 512", async_copy_in_flight_least=1, mma_k_tiles_in_flight_least=1)

    def test_k_tiles_that_are_on_their_way_while_an_mma_runs(self):
        for rung, variant, stages in (("07_wgmma_tma", "2_stages", 2), ("07_wgmma_tma", "3_stages", 3),
                                      ("07_wgmma_tma", "wgmma_tma", 4), ("08_warp_specialized", "2_stages", 2),
                                      ("08_warp_specialized", "3_stages", 3), ("08_warp_specialized", "warp_specialized", 4)):  # fmt: skip
            self.expect(rung, f"gemm --size 512 --variant {variant}",
                        mma_k_tiles_in_flight_least=stages - 1, mma_k_tiles_in_flight_mean=stages - 1)
        self.expect("09_tcgen05", "gemm --size 512", mma_k_tiles_in_flight_least=5, mma_k_tiles_in_flight_mean=5)

    def test_only_a_tiles_first_group_of_mmas_begins_alone(self):
        tiles = 4 * 2
        for rung in ("07_wgmma_tma", "08_warp_specialized"):
            self.expect(rung, "gemm --size 512", mma_groups=tiles * 2 * 8, mma_groups_alone=tiles * 2)

    def test_fragments_are_loaded_ahead_of_the_mmas(self):
        warps, tiles, fragments = 8, 2, 8  # of 128 x 256; a step's fragments of a warp
        counters = counted("06_swizzle_ldmatrix", "gemm --size 256")
        self.assertLessEqual(counters["ldmatrix_uses_at_once"], warps * tiles * fragments)
        self.assertGreaterEqual(counters["ldmatrix_uses"], warps * tiles * fragments * 4 * 4)


if __name__ == "__main__":
    at = sys.argv.index("--build")
    tools = runs.Tools.of(Path(sys.argv[at + 1]))
    del sys.argv[at : at + 2]
    unittest.main()
