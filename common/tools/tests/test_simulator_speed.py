"""Tests of simulator_speed.py, with a shell script for a rung."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from fixture import InFolder

from common.plots.records.check import check_record
from common.tools import simulator_speed

SAYS = "12.5 million warp-instructions in 0.50 s: 25.0 million a second, 12.5 on each CPU thread; 0.010 s to load"


class Speed(InFolder):
    def speed(self, script):
        self.program("42_x_sim", 'echo "$SIMULATOR_CHECKS $SIMULATOR_THREADS $*" >&3\n' + script)
        self.json = self.root / "out/speed.jsonl"
        arguments = ["--bin", str(self.root), "--json", str(self.json), "42_x"]
        with mock.patch("os.cpu_count", return_value=4), redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
            return simulator_speed.main(arguments), said.getvalue()

    def test_records(self):
        code, said = self.speed(f'echo "{SAYS}" >&2')
        self.assertEqual(code, 0)
        lines = [json.loads(line) for line in self.json.read_text().splitlines()]
        for line in lines:
            check_record(line)
        kinds = [(line["checked_and_counted"], line["threads"]) for line in lines]
        self.assertEqual(kinds, [(False, 1), (False, 2), (False, 4), (True, 1), (True, 2), (True, 4)])
        names = ("rung", "million_per_second", "million_per_second_per_thread", "load_s")
        self.assertEqual([lines[0][name] for name in names], ["42_x", 25.0, 12.5, 0.01])
        self.assertEqual(self.log()[0], "off 1 gemm --size 768 --verify-only")
        self.assertEqual(self.log()[-1], "fail 4 gemm --size 768")
        self.assertIn("42_x, checks and counters on:  1 threads 25  2 threads 25  4 threads 25", said)

    def test_a_run_that_fails(self):
        for script in "exit 3", "echo nothing >&2":
            code, said = self.speed(script)
            self.assertEqual(code, 1)
            self.assertIn("simulator_speed: 42_x_sim: exit code", said)
