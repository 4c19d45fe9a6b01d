"""What a record must have, and that its figures fit each other."""

from __future__ import annotations

import re

from common.plots.records.error import ResultError
from common.plots.records.problems import DIMENSIONS, SCORE
from common.plots.records.scores import score, work_rate
from common.plots.records.traces import check_inside, check_timeline, check_trace

KINDS = ("run", "roof", "memory", "profile", "soak", "power", "tune", "trace", "timeline", "inside", "simulator_speed")


def check_record(record) -> None:
    if not isinstance(record, dict):
        raise ResultError("not a JSON object")
    if record.get("record") not in KINDS:
        raise ResultError(f"\"record\" is {record.get('record')!r}, expected one of {', '.join(KINDS)}")

    def need(name, kinds):
        if name not in record:
            raise ResultError(f'no "{name}"')
        if not isinstance(record[name], kinds) or isinstance(record[name], bool):
            raise ResultError(f'"{name}" is {record[name]!r}, not a {"string" if kinds is str else "number"}')
        if kinds is not str and not 0 < record[name] < float("inf"):
            raise ResultError(f'"{name}" is {record[name]!r}, not a positive number')

    number = (int, float)
    if record["record"] == "simulator_speed":
        for name in ("rung", "cpu"):
            need(name, str)
        for name in ("threads", "million_per_second", "million_per_second_per_thread"):
            need(name, number)
        return None
    need("device", str)
    if record["record"] == "roof":
        need("roof", str)
        need("value", number)
        if record.get("unit") not in ("GB/s", "TFLOPS"):
            raise ResultError(f"\"unit\" is {record.get('unit')!r}, expected GB/s or TFLOPS")
        return
    if record["record"] == "memory":
        need("way", str)
        for name in ("bytes", "gbps", "median_us"):
            need(name, number)
        if abs(record["gbps"] * record["median_us"] * 1e3 / record["bytes"] - 1) > 0.01:
            raise ResultError(f"\"gbps\" is {record['gbps']}, which does not follow from its bytes and time")
        return None
    need("rung", str)
    if not re.match(r"\d\d|[A-Za-z_]", record["rung"]):  # a reader's own program (practice/) has a name without a number
        raise ResultError(f"\"rung\" is {record['rung']!r}, which does not start with its two-digit number")
    need("variant", str)
    if record.get("problem") not in DIMENSIONS:
        raise ResultError(f"\"problem\" is {record.get('problem')!r}, expected one of {', '.join(DIMENSIONS)}")
    if record["record"] == "soak":
        for name in ("launches", "shapes"):
            need(name, int)
        if record.get("wrong") != 0:
            raise ResultError(f"\"wrong\" is {record.get('wrong')!r}: the figures of a soak that failed must not be shown")
        return None
    for name in DIMENSIONS[record["problem"]]:
        need(name, int)
    if record["record"] == "trace":
        return check_trace(record)
    if record["record"] == "timeline":
        return check_timeline(record)
    if record["record"] == "inside":
        for name in ("plain_us", "traced_us"):
            need(name, number)
        return check_inside(record)
    if record["record"] == "power":
        need("contender", str)
        need("input", str)
        for name in ("launches", "seconds", "launch_us"):
            need(name, number)
        series = record.get("series") or {}
        if not {"seconds", "sm_clock_mhz", "power_w"} <= series.keys() or len({len(values) for values in series.values()}) != 1:
            raise ResultError('"series" does not have as many seconds as clocks and watts')
        return None
    if record["record"] == "tune":
        need("fastest", str)
        for name in ("rung_us", "fastest_us"):
            need(name, number)
        of_each = record.get("variants")
        if not isinstance(of_each, dict) or not all(isinstance(us, number) and us > 0 for us in of_each.values()):
            raise ResultError(f'"variants" is {of_each!r}, not an object of positive numbers')
        if record["fastest_us"] > record["rung_us"] or record["fastest"] not in record["variants"]:
            raise ResultError(f"\"fastest\" is {record['fastest']!r} in {record['fastest_us']} µs, which is not the fastest variant")
        return None
    if record["record"] == "profile" and not isinstance(record.get("counters"), dict):
        raise ResultError('a profile has no "counters"')
    if record.get("median_us") is None:
        return
    need("median_us", number)
    need(SCORE[record["problem"]], number)
    expected = work_rate(record, record["median_us"])
    if abs(score(record) / expected - 1) > 0.01:
        raise ResultError(
            f"\"{SCORE[record['problem']]}\" is {score(record)}, but its shape and time give {expected:.4g}"
        )
    for name, baseline in (record.get("baselines") or {}).items():
        if (
            not isinstance(baseline, dict)
            or not isinstance(baseline.get("median_us"), number)
            or baseline["median_us"] <= 0
        ):
            raise ResultError(f'baseline "{name}" has no positive "median_us"')
