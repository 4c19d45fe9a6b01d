"""Tests of memory.py and of the records that pictures are drawn from."""

import unittest

from common.plots.records import inside, memory
from common.plots.records.error import ResultError
from common.plots.tests.fixture import PLOTS, TRACES, InFolder


class Memory(unittest.TestCase):
    def test_sectors(self):
        for addresses, width, count in (
            ([2 * i for i in range(32)], 2, 2),
            ([4 * i for i in range(32)], 4, 4),
            ([16 * i for i in range(32)], 16, 16),
            ([8192 * i for i in range(32)], 2, 32),
            ([64] * 32, 2, 1),
            ([30], 4, 2),
            ([31], 1, 1),
        ):
            self.assertEqual(len(memory.sectors(addresses, width)), count)

    def test_wavefronts(self):
        lanes = range(32)
        for what, addresses, width, count in (
            ("consecutive words", [4 * i for i in lanes], 4, 1),
            ("one word for all", [0] * 32, 4, 1),
            ("two halves of a word", [2 * i for i in lanes], 2, 1),
            ("stride of two words", [8 * i for i in lanes], 4, 2),
            ("a column of 32 words", [128 * i for i in lanes], 4, 32),
            ("that column, padded", [132 * i for i in lanes], 4, 1),
            ("8 bytes each", [8 * i for i in lanes], 8, 2),
            ("16 bytes each", [16 * i for i in lanes], 16, 4),
            ("16 bytes, rows of 128", [128 * i for i in lanes], 16, 32),
            ("16 bytes for all", [0] * 32, 16, 2),
            ("8 bytes for all", [0] * 32, 8, 1),
            ("16 bytes, rows of 144", [144 * i for i in lanes], 16, 4),
            ("8 bytes, stride 16", [16 * i for i in lanes], 8, 4),
            ("two lanes", [0, 128] + [None] * 30, 4, 2),
            ("no lane", [None] * 32, 4, 0),
        ):
            self.assertEqual(memory.wavefronts(addresses, width), count, what)
        self.assertEqual(memory.wavefronts([0] * 32, 16, fixed=True), 4)
        for width, addresses, ideal in ((16, [128 * i for i in lanes], 4), (16, [0] * 32, 2), (4, [128, None] * 16, 1)):
            self.assertEqual(memory.ideal_wavefronts(addresses, width), ideal)

    def test_wavefronts_as_an_h200_has_them(self):
        """Of the accesses measured for the simulator's counters, those whose names say where the lanes are."""
        index = {
            "broadcast": lambda lane: 0,
            "31-lane": lambda lane: 31 - lane,
            "pairs, then single": lambda lane: lane // 2 if lane < 16 else lane,
            "pairs in quarter 0": lambda lane: lane & ~1 if lane < 8 else lane,
            "pairs but lanes 30 31": lambda lane: lane & ~1 if lane < 30 else lane,
            "transpose 8x4": lambda lane: lane % 8 * 4 + lane // 8,
            "a fragment": lambda lane: lane // 4 * 36 + lane % 4,
        }
        for number in range(1, 34):
            index[f"stride {number}"] = lambda lane, by=number: lane * by
            index[f"lane/{number}"] = lambda lane, by=number: lane // by
            index[f"lane%{number}"] = lambda lane, by=number: lane % by
            index[f"lane&~{number}"] = lambda lane, by=number: lane & ~by
            index[f"lane^{number}"] = lambda lane, by=number: lane ^ by
        measured = PLOTS.parent / "simulator/tests/golden/wavefronts.txt"
        compared = 0
        for line in measured.read_text(encoding="utf-8").splitlines():
            operation, width, mask, count, *_, pattern = [*line.split(maxsplit=7), ""][:8]
            if operation not in ("ld", "st") or pattern not in index:
                continue
            active = [int(mask, 16) >> lane & 1 for lane in range(32)]
            addresses = [index[pattern](lane) * int(width) if active[lane] else None for lane in range(32)]
            self.assertEqual(memory.wavefronts(addresses, int(width), operation == "st"), int(count), line)
            compared += 1
        self.assertGreater(compared, 500)

    def test_a_misaligned_access_is_refused(self):
        with self.assertRaises(ValueError):
            memory.wavefronts([2] * 32, 4)
        with self.assertRaises(ValueError):
            memory.wavefronts([0] * 32, 3)
        with self.assertRaises(ValueError):
            memory.wavefronts([0], 4)


class Traces(InFolder):
    def test_what_was_counted_is_what_the_addresses_cost(self):
        loaded = self.load(TRACES)
        self.assertEqual(len(loaded.traces) + len(loaded.timelines), len(TRACES))
        for name in ("sectors", "wavefronts", "ideal_wavefronts"):
            trace = next(trace for trace in TRACES if name in trace)
            with self.assertRaisesRegex(ResultError, "a.jsonl:1: .*wavefronts|a.jsonl:1: .*sectors"):
                self.load([{**trace, name: trace[name] + 1}])
        matrices = next(trace for trace in TRACES if trace["ptx"].startswith("ldmatrix"))
        self.load([{**matrices, "addresses": [0] * 32, "wavefronts": 4, "ideal_wavefronts": 4}])
        incomplete = {name: value for name, value in TRACES[0].items() if name != "lines"}
        with self.assertRaisesRegex(ResultError, 'no "lines"'):
            self.load([incomplete])

    def test_a_timeline_runs_forward(self):
        timeline = next(trace for trace in TRACES if trace["record"] == "timeline")
        steps = timeline["steps"]
        commits = [i for i, step in enumerate(steps) if step["step"] == "commit"]
        for broken, words in (
            ([], "step is {}"),
            ([{"step": "nap", "at": 1}], "nap"),
            ([{"step": "copy", "at": 1, "until": 2}], "copy"),
            ([steps[1], steps[0]], "back in time"),
            ([step for i, step in enumerate(steps) if i != commits[0]], "do not follow each other"),
            ([{"step": "wait", "at": 1, "below": 1}], "do not follow each other"),
        ):
            with self.assertRaisesRegex(ResultError, words):
                self.load([{**timeline, "steps": broken}])
        with self.assertRaisesRegex(ResultError, "no timeline of 04_cp_async gemm nothing"):
            self.load([timeline]).timeline("04_cp_async", "gemm", "nothing")

    def test_what_warps_noted_is_cut_to_what_is_drawn(self):
        def event(warp, what, begin, cta=0):
            args = {"tile": 0, "k_tile": 3}
            return {"ph": "X", "name": what, "pid": cta, "tid": warp, "ts": begin, "dur": 1.0, "args": args}

        def names_of(role):
            return [
                {"ph": "M", "name": "thread_name", "pid": 0, "tid": warp, "args": {"name": f"{role}warp {warp}"}}
                for warp in (4, 0)
            ]

        names = names_of("consumer, ")
        about = {"rung": "08_warp_specialized", "problem": "gemm", "variant": "warp_specialized", "device": "GPU", "sm_count": 1}
        about |= {"m": 64, "n": 64, "k": 64, "plain_us": 100.0, "traced_us": 103.0}
        bars = [event(0, "load", 1.0), event(0, "load", 18.0), event(4, "store", 20.0), event(4, "store", 40.0)]
        trace = {"otherData": about, "traceEvents": names + bars + [event(4, "store", 20.0, cta=1)]}
        record = inside.part_of(trace)
        self.assertEqual([warp["warp"] for warp in record["warps"]], [0, 4])
        self.assertEqual(record["bars"], [[0, "load", 4.0, 1.0, 0, 3], [4, "store", 6.0, 1.0, 0, 3]])
        self.assertNotIn("sm_count", record)
        self.assertEqual(self.load([record]).inside["08_warp_specialized"]["traced_us"], 103.0)
        back = [[0, "load", 4.0, 1.0, 0, 3], [0, "load", 3.0, 1.0, 0, 3]]
        for broken in ({"bars": []}, {"warps": []}, {"bars": [[7, "load", 1.0, 1.0, 0, 3]]}, {"bars": back}):
            with self.assertRaises(ResultError):
                self.load([{**record, **broken}])
        with self.assertRaisesRegex(ResultError, "no timeline of a GPU: it does not say plain_us, traced_us"):
            inside.part_of({**trace, "otherData": {k: v for k, v in about.items() if not k.endswith("_us")}})
        with self.assertRaisesRegex(ResultError, "stores nothing"):
            inside.part_of({**trace, "traceEvents": names + bars[:2]})

        # The first tile of a CTA whose warps all do everything, from its first bar on, and a little more.
        whole = {**trace, "traceEvents": names_of("") + bars}
        next_tile = [event(0, "multiply", begin) for begin in (41.0, 43.0, 43.5)]
        for bar in next_tile:
            bar["args"]["tile"] = 1
        record = inside.part_of({**whole, "traceEvents": names_of("") + bars + next_tile})
        self.assertEqual([bar[2] for bar in record["bars"]], [0.0, 17.0, 19.0, 39.0, 40.0, 42.0])
        many = [event(0, "multiply", 2.0) for _ in range(25)]
        for k_tile, bar in enumerate(many):
            bar["args"]["k_tile"] = k_tile
        inside.part_of({**whole, "traceEvents": names_of("") + bars + many[:24] + next_tile})
        with self.assertRaisesRegex(ResultError, "its 25 k-tiles are too many for a picture, 24 at most"):
            inside.part_of({**whole, "traceEvents": names_of("") + bars + many})

    def test_an_access_is_found_by_what_it_is(self):
        results = self.load(TRACES)
        store = results.access("03_vectorized", "gemm", "vectorized", "st.shared", source="tile_a")
        self.assertEqual((store["wavefronts"], store["ideal_wavefronts"]), (2, 1))
        self.assertEqual(results.access("00_naive", "gemm", "naive", "ld.global", array="B")["sectors"], 1)
        with self.assertRaisesRegex(ResultError, "no trace of ld.global .*array"):
            results.access("00_naive", "gemm", "naive", "ld.global", array="C")
