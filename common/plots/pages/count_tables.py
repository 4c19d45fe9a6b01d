"""The docs' tables of what was counted, by the simulator and by Nsight Compute: see tables.py."""

from __future__ import annotations

from common.plots.figures import figure
from common.plots.pages.markdown import markdown, needs
from common.plots.records.counters import flat_counters, simulated_like
from common.plots.records.problems import on_ladder, pretty, problem_named, shape_of
from common.plots.records.results import Results


def counted_runs(results: Results, problem: str, shape: str | None, rung: str | None = None) -> list:
    """Simulated runs of one shape (of the last record's where none is given), as the ladder and its variants go."""
    runs = [
        run
        for run in results.simulated
        if run["problem"] == problem and rung in (None, run["rung"]) and shape in (None, shape_of(run))
        if run.get("counters")
    ]
    runs = needs(runs, " ".join(word for word in ("counters", rung, problem, shape) if word))
    shape = shape or shape_of(runs[-1])
    return sorted(
        (run for run in runs if shape_of(run) == shape),
        key=lambda run: (run["rung"], bool(run.get("is_rung")), run.get("variant_index", 0)),
    )


def by_simulator(runs: list, what: str) -> str:
    return f"*Counted by the simulator; {what} {pretty(shape_of(runs[0]))}.*"


def counters(results: Results, name: str, problem: str, shape: str | None = None) -> str:
    runs = counted_runs(results, problem_named(problem), shape, name)
    return counter_table(runs, by_simulator(runs, f"{name} {problem}"))


def accesses(results: Results, name: str, problem: str, shape: str | None = None) -> str:
    runs = counted_runs(results, problem_named(problem), shape, name)
    rows = []
    for run in runs:
        known, variant = flat_counters(run), f"`{run['variant']}`"
        for kind in (
            *("global_load", "global_store", "async_copy", "bulk_copy"),
            *("shared_load", "shared_store", "wgmma", "tcgen05", "local", "atomic"),
        ):
            requests, sectors = known.get(f"{kind}_requests", 0), known.get(f"{kind}_sectors")
            if kind == "global_load":  # of which the copies have a row of their own
                requests -= known.get("async_copy_requests", 0)
                sectors -= known.get("async_copy_sectors", 0)
            if not requests:
                continue
            wavefronts, ideal = known.get(f"{kind}_wavefronts"), known.get(f"{kind}_wavefronts_ideal")
            cells = [requests, sectors, None if sectors is None else float(sectors / requests), wavefronts, ideal]
            cells += [None if wavefronts is None else wavefronts - ideal]
            rows.append([variant, kind.replace("_", " ")] + ["" if cell is None else figure(cell) for cell in cells])
            variant = ""
    header = ["variant", "access", "requests", "sectors", "sectors per request", "wavefronts", "ideal", "excess"]
    table = markdown(header, needs(rows, f"accesses {name} {problem}"), by_simulator(runs, f"{name} {problem}"))
    return table.replace("|:--|--:|", "|:--|:--|", 1)


def counted(results: Results, problem: str, shape: str | None = None) -> str:
    runs = counted_runs(results, problem_named(problem), shape)
    runs = [run for run in runs if run.get("is_rung") and on_ladder(run["rung"])]
    rows = []
    for run in needs(runs, f"counted {problem} {shape or ''}".strip()):
        known = flat_counters(run)
        ideal = known["shared_wavefronts_ideal"]
        rows.append(
            [f"`{run['rung']}`"]
            + [figure(known[name]) for name in ("ptx_instructions", "global_load_requests")]
            + [figure(float(known[f"global_{kind}_sectors_per_request"])) for kind in ("load", "store")]
            + ([figure(ideal), figure(known["shared_wavefronts"] - ideal)] if known["shared_wavefronts"] else ["", ""])
        )
    header = ["rung", "instructions", "load requests", "sectors per load", "sectors per store"]
    return markdown(header + ["shared wavefronts, ideal", "excess"], rows, by_simulator(runs, problem))


def profile(results: Results, name: str, problem: str, *variants: str) -> str:
    """Of all variants, or of those that are named."""
    problem = problem_named(problem)
    runs = [run for run in results.profiles if (run["rung"], run["problem"]) == (name, problem)]
    for variant in variants:
        needs([run for run in runs if run["variant"] == variant], f"profile {name}:{variant} {problem}")
    runs = [run for run in runs if not variants or run["variant"] in variants]
    runs = needs(runs, f"profile {name} {problem}")
    where = f"{name} {problem} {pretty(shape_of(runs[0]))}"
    return counter_table(runs, f"*Counted by Nsight Compute on {results.device}; {where}.*")


COMPARED = {
    "global_load_requests": "load requests",
    "global_load_sectors": "load sectors",
    "global_store_requests": "store requests",
    "global_store_sectors": "store sectors",
    "shared_wavefronts": "shared wavefronts",
    "shared_wavefronts_ideal": "ideal",
}


def agreement(results: Results, problem: str) -> str:
    problem = problem_named(problem)
    profiles = [profile for profile in results.profiles if profile["problem"] == problem]
    rows, same = [], 0
    for profile in needs(profiles, f"agreement {problem}"):
        ours = simulated_like(results, profile)
        row = [f"`{profile['rung']}` {profile['variant']}"]
        for name in COMPARED:
            ncu, own = int(profile["counters"][name]), ours[name]
            same += ncu == own
            row.append(figure(own) if ncu == own else f"**{figure(own)}** ({figure(ncu)})")
        rows.append(row)
    of = len(rows) * len(COMPARED)
    note = f"{problem} {pretty(shape_of(profiles[0]))}, the simulator against Nsight Compute on {results.device}: "
    if same == of:
        note += f"all {of} counts are equal"
    else:
        note += f"{same} of {of} counts are equal; where two differ, the simulator's is bold, the other in brackets"
    return markdown(["variant", *COMPARED.values()], rows, f"*{note}.*")


def counter_table(runs: list, note: str) -> str:
    names = list(dict.fromkeys(key for run in runs for key in flat_counters(run)))
    rows = [
        [key] + [figure(flat_counters(run)[key]) if key in flat_counters(run) else "" for run in runs] for key in names
    ]
    return markdown(["counter"] + [f"`{run['variant']}`" for run in runs], rows, note)
