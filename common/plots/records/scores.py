"""What a run says: its score, and how it stands beside its baselines and beside its rung."""

from __future__ import annotations

from common.plots.records.problems import SCORE, UNIT, compulsory_bytes, flops


def score(record: dict) -> float:
    return record[SCORE[record["problem"]]]


def work_rate(record: dict, microseconds: float) -> float:
    """TFLOPS or GB/s of this record's problem done in the given time."""
    work = flops(record) / 1e6 if UNIT[record["problem"]] == "TFLOPS" else compulsory_bytes(record) / 1e3
    return work / microseconds


def best_baseline(record: dict) -> str | None:
    """The name of the fastest baseline timed in the same run."""
    baselines = record.get("baselines") or {}
    return min(baselines, key=lambda name: baselines[name]["median_us"], default=None)


def baseline_score(record: dict, name: str | None = None) -> float | None:
    name = name or best_baseline(record)
    return work_rate(record, record["baselines"][name]["median_us"]) if name else None


def ratio(record: dict, name: str | None = None) -> float | None:
    """Baseline's time / our time: more than 1 is ahead of the baseline."""
    name = name or best_baseline(record)
    return record["baselines"][name]["median_us"] / record["median_us"] if name else None


def slowdown(record: dict, rung: dict) -> float:
    """How many times faster the rung is than its variant: timed in turns where they were, else in runs of their own."""
    return record["median_us"] / record.get("rung_us", rung["median_us"])


def per_clock(record: dict) -> float | None:
    """The score at an SM clock of 1 GHz."""
    return score(record) * 1000 / record["sm_clock_mhz"] if record.get("sm_clock_mhz") else None


def noise_text(rung: dict) -> str:
    """Below a table or a plot of an ablation."""
    if "noise" not in rung:
        return "each variant in a run of its own"
    return f"each variant in turns with the rung, which was within {rung['noise'] * 100:.2g} % of itself"
