"""Tests of record_traces.py, with a program in the rung's place that writes what the simulator would."""

import json
import unittest

from fixture import InFolder

from common.tools import record_traces

RECORDING = record_traces.Recording("00_naive", "gemm", "v", {"m": 5})


def line(at, what, ptx, **more):
    kernel = {"launch": 3, "kernel": "k", "cta": 7, "warp": 0, "at": at}
    return {**kernel, **what, "ptx": ptx, "file": "/elsewhere/00_naive/gemm.cu", "lines": [1], **more}


def shared(at, ptx, address, **more):
    addresses = [address + 16 * lane for lane in range(31)] + [None]
    return line(at, {"access": at}, ptx, space="shared", bytes=4, addresses=addresses, **more)


def global_load(at, allocation):
    addresses = [4 * lane for lane in range(32)]
    more = {"space": "global", "bytes": 2, "allocation": allocation, "array": "ABC"[allocation - 1], "addresses": addresses}
    return line(at, {"access": at}, "ld.global.u16", **more)


class Recorded(InFolder):
    def program(self, lines, environment=""):
        (self.root / "trace").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        program = self.root / "00_naive_sim"
        script = f'test "$*{environment}" = "gemm --variant v --m 5 --verify-only" || exit 1\n'
        program.write_text(f'#!/bin/sh\n{script}cp "${{0%/*}}/trace" "$SIMULATOR_TRACE"\n', encoding="utf-8")
        program.chmod(0o755)

    def record(self, **options):
        return record_traces.record(self.root, RECORDING._replace(**options))

    def test_the_first_accesses_of_a_kind(self):
        fill = {"launch": 2, "kernel": "fill", "access": 1, "ptx": "st.global.u16", "space": "global", "allocation": 1}
        loads = [global_load(number, allocation=2) for number in (1, 2, 3)]
        store = shared(4, "st.shared.u32", 0)
        self.program([fill, *loads, store, {**loads[0], "launch": 4}])
        lines = self.record(keep=(1, 2))
        kept = [(line.get("array"), line["number"], line["of"]) for line in lines]
        self.assertEqual(kept, [("B", 1, 3), ("B", 2, 3), (None, 1, 1)])
        for line in lines:
            self.assertEqual([line[name] for name in ("record", "m", "file")], ["trace", 5, "00_naive/gemm.cu"])
            self.assertTrue(line["source"][0].startswith("//"))
        self.assertEqual(len(self.record(keep=(1, 2), arrays="A")), 0)
        self.assertEqual(len(self.record(keep=(1, 2), arrays="B")), 2)
        self.assertEqual([line["number"] for line in self.record(keep=(3,))], [3])
        self.assertEqual([line["ptx"] for line in self.record(ptx="st.shared")], ["st.shared.u32"])

    def test_each_once_and_not_beyond(self):
        self.program([shared(at, "ld.shared.u32", 1024 + address) for at, address in enumerate((0, 16, 0, 512, 16))])
        lines = self.record(keep=())
        self.assertEqual([line["addresses"][0] for line in lines], [1024, 1040, 1536])
        lines = self.record(keep=(), within=30 * 16 + 16 + 4)
        self.assertEqual([line["addresses"][0] for line in lines], [1024, 1040])
        self.assertEqual(len(self.record(keep=(), within=30 * 16 + 16 + 3)), 1)
        self.assertEqual(self.record(ptx="st", within=4), [])

    def test_a_timeline(self):
        copy, load = "cp.async.cg.shared.global", "ldmatrix.sync"
        self.program(
            [
                shared(3, copy, 512),
                global_load(3, allocation=1),
                shared(4, copy, 256),
                shared(5, copy, 768),
                shared(6, copy, 0, lines=[2]),
                line(7, {"event": "commit"}, "cp.async.commit_group", group=0),
                line(8, {"event": "landed"}, copy, group=0, issued=3),
                line(9, {"event": "wait"}, "cp.async.wait_group", below=1),
                shared(10, load, 0),
                line(11, {"event": "barrier"}, "barrier.sync"),
                shared(12, load, 64),
                line(13, {"event": "mma"}, "mma.sync"),
                shared(14, load, 0),
                shared(15, "st.shared.u32", 0),
            ],
            environment="${SIMULATOR_TRACE_EVENTS#1}",
        )
        timeline = record_traces.timeline(self.root, RECORDING)
        self.assertEqual([timeline[name] for name in ("record", "rung", "m")], ["timeline", "00_naive", 5])
        self.assertEqual(
            timeline["steps"],
            [
                {"step": "copy", "at": 3, "until": 5, "first": 256, "count": 3},
                {"step": "copy", "at": 6, "until": 6, "first": 0, "count": 1},
                {"step": "commit", "at": 7, "group": 0},
                {"step": "wait", "at": 9, "below": 1},
                {"step": "load", "at": 10, "until": 10, "first": 0, "count": 1},
                {"step": "barrier", "at": 11},
                {"step": "load", "at": 12, "until": 14, "first": 0, "count": 2},
                {"step": "store", "at": 15, "until": 15, "first": 0, "count": 1},
            ],
        )

    def test_a_timeline_of_mbarriers_and_products(self):
        self.program(
            [
                shared(3, "mbarrier.init.shared::cta.b64", 64),
                shared(4, "mbarrier.arrive.expect_tx.shared::cta.b64", 64),
                line(4, {"event": "mbarrier"}, "mbarrier.arrive.expect_tx.shared::cta.b64"),
                shared(6, "mbarrier.try_wait.parity.shared::cta.b64", 64),
                line(7, {"event": "mma"}, "wgmma.mma_async.sync.aligned"),
                line(8, {"event": "mma"}, "wgmma.mma_async.sync.aligned"),
                shared(9, "mbarrier.arrive.shared::cta.b64", 72),
                line(11, {"event": "mma"}, "tcgen05.mma.cta_group::2.kind::f16"),
                shared(12, "stmatrix.sync", 0),
                shared(13, "tcgen05.commit.cta_group::2.mbarrier::arrive::one", 80),
            ],
        )
        self.assertEqual(
            record_traces.timeline(self.root, RECORDING)["steps"],
            [
                {"step": "expect", "at": 4, "first": 64},
                {"step": "ask", "at": 6, "first": 64},
                {"step": "multiply", "at": 7, "until": 8, "count": 2},
                {"step": "arrive", "at": 9, "first": 72},
                {"step": "multiply", "at": 11, "until": 11, "count": 1},
                {"step": "store", "at": 12, "until": 12, "first": 0, "count": 1},
                {"step": "promise", "at": 13, "first": 80},
            ],
        )


if __name__ == "__main__":
    unittest.main()
