"""What it costs to bring data in: records, tables and figures of the program `memory`."""

import unittest

from common.plots.pages import memory_tables
from common.plots.pages.tables import table
from common.plots.pages.values import evaluate
from common.plots.records.error import ResultError
from common.plots.tests.fixture import InFolder, gemm, roof


def way(name, ms, mib=256, **more):
    size = mib * 2**20
    figures = {"bytes": size, "gbps": size / ms / 1e6, "median_us": ms * 1e3}
    return {"record": "memory", "way": name, "what": f"as {name} does", "device": "Test GPU", **figures, **more}


class MemoryWays(InFolder):
    def test_a_line_for_each_way_in_the_programs_order(self):
        results = self.load([way("pin", 40.0), way("to_host_pinned", 5.0), way("to_device_pinned", 5.5), way("to_device_pinned", 5.0)])
        lines = [line for line in table(results, "memory steps").split("\n") if line.startswith("| `")]
        self.assertEqual(lines[0], "| `to_device_pinned` | as to_device_pinned does | 5.00 | 53.7 |", "the last counts")
        self.assertEqual([line.split("`")[1] for line in lines], ["to_device_pinned", "to_host_pinned", "pin"])

    def test_the_whole_stands_beside_pinned_copies(self):
        results = self.load([way("whole_pinned", 10.0, link="32.0 GT/s PCIe x16"), way("whole_mapped", 7.5)])
        text = table(results, "memory whole")
        self.assertIn("| `whole_mapped` | as whole_mapped does | 7.50 | 35.8 | ×0.750 |", text)
        self.assertIn("256 MiB; 32.0 GT/s PCIe x16", text)
        self.assertIn("|  |", table(self.load([way("whole_mapped", 7.5)]), "memory whole"), "nothing to stand beside")

    def test_without_records_the_page_says_so(self):
        results = self.load([gemm("00_naive", 5.0)])
        for part in memory_tables.PARTS:
            self.assertIn("Not recorded yet", table(results, f"memory {part}"))
        self.assertEqual(evaluate(results, 'if_recorded(memory("pin", "ms"))'), "not recorded yet")
        self.assertEqual(evaluate(results, 'if_recorded(quotient(memory("pin", "ms"), memory("to_host_pinned", "ms")))'), "not recorded yet")
        with self.assertRaisesRegex(ResultError, "unknown part 'half'"):
            table(results, "memory half")

    def test_figures(self):
        results = self.load([way("pin", 40.0), way("to_host_pinned", 5.0, p90_us=6000.0)])
        self.assertEqual(evaluate(results, 'memory("pin", "ms")'), "40.0")
        self.assertEqual(evaluate(results, 'memory("to_host_pinned", "gbps")'), "53.7")
        self.assertEqual(evaluate(results, 'memory("to_host_pinned", "p90_us")'), "6000")
        self.assertEqual(evaluate(results, 'if_recorded(quotient(memory("pin", "ms"), memory("to_host_pinned", "ms")))'), "8.00")
        with self.assertRaisesRegex(ResultError, "no field 'colour'"):
            evaluate(results, 'memory("pin", "colour")')

    def test_a_record_that_contradicts_itself_is_refused(self):
        for change in ({"gbps": 99.0}, {"bytes": 0}, {"way": 5}, {"median_us": None}):
            with self.assertRaises(ResultError, msg=str(change)):
                self.load([{**way("pin", 40.0), **change}])

    def test_other_records_are_as_before(self):
        results = self.load([way("pin", 40.0), roof("copy", 4000.0, "GB/s"), gemm("00_naive", 5.0)])
        self.assertEqual((len(results.runs), len(results.roofs), len(results.ways)), (1, 1, 1))


if __name__ == "__main__":
    unittest.main()
