"""The counters of a run."""

from __future__ import annotations

from common.plots.records.error import ResultError
from common.plots.records.problems import DIMENSIONS, shape_of
from common.plots.records.results import Results


def flat_counters(record: dict) -> dict:
    """Counters by name; those of a nested object are joined by a dot."""
    flat = {}

    def walk(prefix, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else key, inner)
        elif not isinstance(value, list):
            flat[prefix] = value

    walk("", record.get("counters") or {})
    return flat


def simulated_like(results: Results, profile: dict) -> dict:
    """The simulator's counters of what a profile has the hardware's of."""
    same = ("rung", "problem", "variant", *DIMENSIONS[profile["problem"]])
    for run in reversed(results.simulated):
        if run.get("counters") and all(run.get(name) == profile[name] for name in same):
            return flat_counters(run)
    what = f"{profile['rung']} {profile['problem']} {profile['variant']} {shape_of(profile)}"
    raise ResultError(f"no simulator record of {what}")
