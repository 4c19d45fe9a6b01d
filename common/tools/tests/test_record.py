"""Tests of record.py and its plan, with shell scripts for the rungs."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from fixture import InFolder, listing

from common.tools import programs, record, record_plan

RUNGS = ["03_a", "08_b"]
REVISION = "0123456789"
# Notes its command line, and appends a record to the file behind --json.
RUNG = """
name=$(basename "$0")
[ "$1" = --list ] && { LISTING; exit 0; }
file=; for word; do [ "$previous" = --json ] && file=$word; previous=$word; done
echo "$name $*" >&3
[ -z "$file" ] || echo '{"record": "run", "device": "Test GPU", "value": 1.50%s}' >> "$file"
""".replace("LISTING", listing(gemm=["v"], norm_gemm=["v"]))


class Plan(InFolder):
    def test_what_a_line_stands_for(self):
        self.assertEqual(record_plan.expand("a {b,c d} e{,f}"), ["a b e", "a b ef", "a c d e", "a c d ef"])
        self.assertEqual(record_plan.expand("a --variant x;y"), ["a --variant x,y"])
        self.assertEqual(record_plan.mnk("1x2x3", "4x5x6"), "{--m 1 --n 2 --k 3,--m 4 --n 5 --k 6}")

    def commands(self, *lines):
        return record_plan.commands(record_plan.Group("g", "", lines), RUNGS, ["08_b"])

    def test_rungs(self):
        self.assertEqual(self.commands("EVERY --x"), ["03_a --x", "08_b --x"])
        self.assertEqual(self.commands("FROM_04 --x", "FROM_09 --x"), ["08_b --x"])
        self.assertEqual(self.commands("NORM_GEMM norm_gemm"), ["08_b norm_gemm"])
        self.assertEqual(self.commands("05_c --x", "{08_b,05_c} --{y,z}", "roofs"), ["08_b --y", "08_b --z", "roofs"])

    def test_every_group_of_the_course(self):
        rungs = programs.rungs()
        all_of_it = [command for group in record_plan.GROUPS for command in record_plan.commands(group, rungs, rungs)]
        self.assertEqual(len(all_of_it), len(set(all_of_it)))
        for command in all_of_it:
            self.assertNotRegex(command, r"[{};]|EVERY|FROM|NORM")
            self.assertTrue(command.split()[0] in (*rungs, "every_shape", "roofs", "memory", "cutlass_beside"), command)
            self.assertGreater(record_plan.seconds_of(command), 0)
        self.assertIn("07_wgmma_tma gemm --type bf16_s8 --m 1024 --n 28672 --k 8192", all_of_it)
        self.assertIn("07_wgmma_tma gemm --type bf16_e4m3", all_of_it)


class Recorded(InFolder):
    def setUp(self):
        super().setUp()
        for rung in RUNGS:
            self.rung(rung)
            self.program(f"{rung}_sim", RUNG.replace("%s", ""))
        self.out = self.root / "out"
        self.scripts = []
        self.patch("common.tools.record.ROOT", self.root)  # where docs/results has no times
        self.patch("common.tools.record.rungs", lambda: RUNGS)
        self.patch("common.tools.record.revision", lambda: REVISION)
        self.patch("common.tools.record.Session.python", lambda _, script, *more: self.scripts.append(script))

    def patch(self, name, value):
        patcher = mock.patch(name, value)
        patcher.start()
        self.addCleanup(patcher.stop)

    def rung(self, name, script=RUNG, more=""):
        self.program(name, script.replace("%s", more))

    def record(self, *arguments):
        with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
            try:
                code = record.main(["--bin", str(self.root), "--out", str(self.out), *arguments])
            except SystemExit as stopped:
                code = stopped.code
        return code, said.getvalue()

    def lines(self, name):
        return [json.loads(line) for line in (self.out / name).read_text().splitlines()]

    def test_a_group(self):
        code, said = self.record("--only", "ladder")
        self.assertEqual(code, 0)
        runs = [line.split(" --json")[0] for line in self.log()]
        self.assertEqual(runs[1:], ["03_a --sweep", "03_a --ablate", "08_b --sweep", "08_b --ablate"])
        self.assertEqual({line["revision"] for line in self.lines("results.jsonl")}, {REVISION})
        self.assertIn('"value": 1.50, "revision"', (self.out / "results.jsonl").read_text())  # as it was written
        self.assertIn("about 2 min (a first estimate: 3 s a line, as on an H200)", said)

    def test_a_part_is_added_and_a_whole_begins_anew(self):
        self.record("--only", "ladder")
        self.record("--only", "ladder")
        self.assertEqual(len(self.lines("results.jsonl")), 8)
        self.program("roofs", RUNG.replace("%s", ""))
        self.program("memory", RUNG.replace("%s", ""))
        with mock.patch("common.tools.record.parts", lambda session: record_parts(session)[:2]):
            self.record()
        self.assertEqual(len(self.lines("results.jsonl")), 6)

    def test_times_are_the_next_estimate(self):
        self.record("--only", "counts")
        times = json.loads((self.out / record.TIMES).read_text())
        self.assertEqual([*times["seconds"]], ["counts"])
        times["seconds"]["counts"] = 600
        (self.out / record.TIMES).write_text(json.dumps(times))
        code, said = self.record("--only", "counts", "--estimate")
        self.assertEqual(code, 0)
        self.assertIn(f"about 10 min (as the record of {REVISION} took, on ", said)

    def test_times_of_some_rungs_are_none(self):
        self.record("--only", "counts", "03_a")
        self.assertEqual(json.loads((self.out / record.TIMES).read_text())["seconds"], {})

    def test_counts(self):
        self.record("--only", "counts,traces")
        runs = [line.split(" --ablate")[0] for line in self.log()]
        self.assertEqual(runs[:2], ["03_a_sim gemm --size 1024", "03_a_sim norm_gemm --size 1024"])
        self.assertEqual(len(self.lines("simulator.jsonl")), 4)
        self.assertEqual(self.scripts, ["common.tools.record_traces"])

    def test_a_rung_that_cannot_run_is_passed_over(self):
        self.rung("08_b", 'echo "$*" >&3; exit 77')
        code, said = self.record("--only", "ladder,profile")
        self.assertEqual((code, said.count("08_b cannot run on this GPU and is passed over")), (0, 1))
        self.assertEqual(len(self.lines("results.jsonl")), 2)

    def test_what_fails_is_named_and_the_rest_recorded(self):
        self.rung("03_a", '[ "$1" = --sweep ] && exit 1; exit 0')
        code, said = self.record("--only", "ladder")
        self.assertEqual(code, 1)
        self.assertIn("the record is incomplete: 1 failed\n  03_a --sweep: exit code 1", said)
        self.assertEqual(len(self.lines("results.jsonl")), 2)

    def test_a_kernel_that_hangs(self):
        self.rung("03_a", '[ "$1" = --sweep ] && exec sleep 60; exit 0')
        with mock.patch("common.tools.record.LIMIT", 2):
            code, said = self.record("--only", "ladder")
        self.assertEqual((code, len(self.lines("results.jsonl"))), (1, 2))
        self.assertIn("03_a --sweep: not done after 2 s", said)

    def test_norm_gemm_without_the_simulated_programs(self):
        for rung in RUNGS:
            (self.root / f"{rung}_sim").unlink()
        self.record("--only", "operators")
        self.assertIn("08_b norm_gemm --ablate --sweep", [line.split(" --json")[0] for line in self.log()])

    def test_a_type_that_the_card_lacks(self):
        group = record_plan.Group("types", "", ("03_a gemm --type {a,b}",), may_refuse=True)
        self.rung("03_a", '[ "$3" = a ] && exit 2; exit 0')
        with mock.patch("common.tools.record_plan.GROUPS", (group,)):
            self.assertEqual(self.record("--only", "types")[0], 0)
        with mock.patch("common.tools.record_plan.GROUPS", (group._replace(may_refuse=False),)):
            self.assertEqual(self.record("--only", "types")[0], 1)

    def test_programs_of_another_revision(self):
        self.rung("08_b", more=', "revision": "other"')
        code, said = self.record("--only", "ladder")
        self.assertEqual(code, 1)
        self.assertIn(f"results.jsonl has lines of other: build the programs of {REVISION} first", said)

    def test_changed_files_are_said(self):
        with mock.patch("common.tools.record.revision", lambda: REVISION + "-dirty"):
            _, said = self.record("--only", "counts")
        self.assertIn("files are changed and not committed", said)

    def test_no_gpu(self):
        self.rung("03_a", 'echo "03_a: no usable CUDA GPU: none" >&2; exit 77')
        code, said = self.record()
        self.assertEqual(code, 1)
        self.assertIn("record: 03_a: no usable CUDA GPU: none (--only counts,traces,speed,transcripts", said)
        self.assertFalse(self.out.exists())

    def test_a_group_that_is_none(self):
        code, said = self.record("--only", "laddr")
        self.assertEqual(code, 2)
        self.assertIn("no group laddr; there are roofs, ladder,", said)

    def test_timelines(self):
        bars = [("multiply", 0, 0), ("store", 1, 0)]
        events = [{"pid": 0, "tid": 0, "ph": "M", "name": "thread_name", "args": {"name": "warp 0"}}]
        for name, at, k_tile in bars:
            args = {"tile": 0, "k_tile": k_tile}
            events.append({"pid": 0, "tid": 0, "ph": "X", "name": name, "ts": at, "dur": 1, "args": args})
        about = {"rung": "03_a", "problem": "gemm", "variant": "v", "device": "Test GPU", "plain_us": 1, "traced_us": 1}
        trace = {"otherData": {**about, "m": 1, "n": 1, "k": 1}, "traceEvents": events}
        self.write("trace.json", json.dumps(trace))
        self.rung("03_a", f'for last; do :; done; [ "$5" = --trace ] && cp "{self.root}/trace.json" "$last"; exit 0')
        with mock.patch("common.tools.record.TIMELINES", ("03_a gemm --m 4 --n", "05_c gemm")):
            code, _ = self.record("--only", "timelines")
        self.assertEqual(code, 0)
        (line,) = self.lines("timelines.jsonl")
        self.assertEqual((line["record"], line["revision"], len(line["bars"])), ("inside", REVISION, 2))
        self.rung("03_a", "exit 0")
        with mock.patch("common.tools.record.TIMELINES", ("03_a gemm",)):
            code, said = self.record("--only", "timelines")
        self.assertEqual(code, 1)
        self.assertIn("03_a gemm --trace: ", said)


record_parts = record.parts  # before a test puts another in its place
