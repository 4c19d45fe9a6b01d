"""Figures in prose: `<!--= EXPRESSION -->text<!--/-->`. An expression is a few words:

    tflops   RUNG[:VARIANT] gemm|norm_gemm|grouped_gemm SHAPE
    gbps     RUNG[:VARIANT] fused_norm|row_operator SHAPE
    us       RUNG[:VARIANT] PROBLEM SHAPE                     the median time, µs
    ratio    RUNG[:VARIANT] PROBLEM SHAPE [baseline=NAME]     baseline's time / ours; baseline=best where not given
    baseline RUNG[:VARIANT] PROBLEM SHAPE [baseline=NAME]     TFLOPS or GB/s of the baseline timed in that run
    speedup  RUNG[:VARIANT] RUNG[:VARIANT] PROBLEM SHAPE      how many times faster the first is than the second
                                                              (in turns, where one is the other's rung)
    noise    RUNG PROBLEM SHAPE                               how far the rung was from itself, as a share
    per_clock RUNG[:VARIANT] PROBLEM SHAPE                    its score at an SM clock of 1 GHz
    roof     NAME                                             a measured roof, in its unit
    memory   WAY NAME                                         of a way to bring data in: gbps, ms, or a field of its record
    of_roof  RUNG[:VARIANT] PROBLEM SHAPE NAME                the share of that roof reached
    field    RUNG[:VARIANT] PROBLEM SHAPE NAME                any field of the record, such as sm_clock_mhz
    counter  RUNG[:VARIANT] PROBLEM SHAPE NAME                a counter of the simulator
    ncu      RUNG[:VARIANT] PROBLEM NAME                      a counter of the hardware, read by Nsight Compute
    geomean  RUNG PROBLEM SHAPE SHAPE …                       the geometric mean of the ratios at these shapes
    power    KERNEL PROBLEM SHAPE NAME                        a field of what ran without a pause, or mj (of a launch), pj (of
                                                              a flop), pj_above_idle, watts, per_clock; KERNEL as in power.py
    alone    KERNEL KERNEL PROBLEM SHAPE                      how many times faster the first is than the second, each without
                                                              a pause
    soak     RUNG PROBLEM NAME                                a field of the rung's soak, such as launches
    models   RUNG NAME                                        over the shapes of --sweep models: shapes, geomean, worst, level
                                                              (the share at 1 or more), and of --tune: tuned (shapes), regret;
                                                              corner, the m at which weights and MMAs take equally long
    cutlass  KIND gemm SHAPE [what=name]                      ratio, as above, of the fastest of CUTLASS's configurations whose
                                                              names begin with KIND (sm80, sm90); or which one that is
    ridge    ROOF ROOF                                        flops per byte at which arithmetic, the first roof, and memory,
                                                              the second, take equally long
    device                                                    what the figures were measured on
    quotient EXPRESSION / EXPRESSION                          of two such figures; each has options of its own
    difference EXPRESSION - EXPRESSION                        likewise
    if_recorded EXPRESSION                                    "not recorded yet" where the records lack the run that it names

Without a variant the rung itself is meant; `variant=NAME` may stand in place of :VARIANT, and RUNG@TYPE is what was run
with --type TYPE: its types were run one after the other, a rung itself beside its variants. With `launches=stream` or
`launches=graph` what is meant is one of many launches in a row, with `outlier=N` a variant's gemm whose A and B end with
N, with `l2_set_aside=MIB` a variant that ran with so much of L2 set aside; with `device=H100` that device's record. The unit
is not part of the figure, except with `as=percent`, which makes 0.913 into 91.3 %.
"""

from __future__ import annotations

import math

from common.plots.figures import figure, percent
from common.plots.records import models, power
from common.plots.records.counters import flat_counters
from common.plots.records.error import NotRecorded, ResultError
from common.plots.records.problems import UNIT, pretty, problem_named, shape_of
from common.plots.records.results import Results
from common.plots.records.scores import baseline_score, best_baseline, per_clock, ratio, score, slowdown

NOT_YET = "not recorded yet"
OF_EXPRESSIONS = ("quotient", "difference", "if_recorded")  # each of the expressions in them has options of its own


class Expression:
    """The words of one expression, taken one after the other."""

    def __init__(self, results: Results, text: str):
        self.results, self.text = results, text
        words = text.split()
        self.words = [word for word in words if "=" not in word]
        self.options = dict(word.split("=", 1) for word in words if "=" in word)
        if "device" in self.options and words[0] not in OF_EXPRESSIONS:
            self.results = results.on(self.options.pop("device"))

    def take(self, what: str) -> str:
        if not self.words:
            raise ResultError(f"'{self.text}' lacks its {what}")
        return self.words.pop(0)

    def rest(self) -> str:
        """All that follows the form, for an expression of expressions."""
        self.words, self.options = [], {}
        return " ".join(self.text.split()[1:])

    def runs(self, count: int = 1, simulated: bool = False, unit: str | None = None) -> list:
        names = [self.take("rung") for _ in range(count)]
        given = problem_named(self.take("problem"))
        shape = self.take("shape")
        variant = self.options.pop("variant", None)
        if unit and UNIT[given] != unit:
            raise ResultError(f"'{self.text}': the figures of {given} are in {UNIT[given]}")
        return [self.find(name, given, shape, variant, simulated) for name in names]

    def find(self, name: str, problem: str, shape: str, variant, simulated: bool) -> dict:
        rung, _, of_type = name.partition("@")
        rung, _, own_variant = rung.partition(":")
        variant = own_variant or variant
        launches = self.options.pop("launches", None)
        outlier = self.options.pop("outlier", None)
        set_aside = self.options.pop("l2_set_aside", None)
        if of_type:
            found = None if variant else self.results.of_type(rung, problem, shape, of_type)
        elif outlier:
            found = self.results.beside_outlier(rung, shape, variant, int(outlier))
        elif set_aside:
            found = self.results.beside_set_aside(rung, problem, shape, variant, int(set_aside))
        elif launches:
            found = self.results.chain(rung, problem, shape, variant, launches)
        elif not simulated:
            found = self.results.run(rung, problem, shape, variant)
        else:
            found = next(
                (
                    run
                    for run in reversed(self.results.simulated)
                    if (run["rung"], run["problem"], shape_of(run)) == (rung, problem, shape)
                    and run.get("counters")
                    and (run["variant"] == variant if variant else run.get("is_rung"))
                ),
                None,
            )
        if not found:
            what = f"{name} {problem} {variant + ' ' if variant else ''}{shape}"
            known = any(run["rung"] == rung for run in self.results.simulated + self.results.runs)
            raise (NotRecorded if known else ResultError)(f"no {'simulator ' if simulated else ''}record of {what}")
        return found

    def baseline(self, run: dict) -> str:
        name = self.options.pop("baseline", "best")
        known = run.get("baselines") or {}
        if name == "best" and known:
            return best_baseline(run)
        if name not in known:
            raise ResultError(
                f"no baseline '{name}' in the record of {run['rung']} {run['problem']} "
                f"{pretty(shape_of(run))}; there are: {', '.join(known) or 'none'}"
            )
        return name

    def roof(self) -> dict:
        name = self.take("roof")
        if name not in self.results.roofs:
            kind = NotRecorded if self.results.roofs else ResultError
            raise kind(f"no record of roof '{name}'; there are: {', '.join(self.results.roofs) or 'none'}")
        return self.results.roofs[name]


def _memory(e):
    way, name = e.take("way"), e.take("field")
    if way not in e.results.ways:
        raise NotRecorded(f"no memory record of '{way}'")
    record = e.results.ways[way]
    if name == "ms":
        return record["median_us"] / 1e3
    if record.get(name) is None:
        raise ResultError(f"no field '{name}' in the memory record of '{way}'")
    return record[name]


def _ratio(e):
    run = e.runs()[0]
    return ratio(run, e.baseline(run))


def _baseline(e):
    run = e.runs()[0]
    return baseline_score(run, e.baseline(run))


def _speedup(e):
    first, second = e.runs(2)
    if "rung_us" in second and first.get("is_rung") and first["rung"] == second["rung"]:
        return slowdown(second, first)
    if "rung_us" in first and second.get("is_rung") and first["rung"] == second["rung"]:
        return 1 / slowdown(first, second)
    return second["median_us"] / first["median_us"]


def _noise(e):
    run = e.runs()[0]
    if "noise" not in run:
        raise ResultError(f"'{e.text}': the rung was not timed in turns with itself")
    return run["noise"]


def _per_clock(e):
    run = e.runs()[0]
    if not per_clock(run):
        raise ResultError(f"'{e.text}': no SM clock is recorded")
    return per_clock(run)


def _of_roof(e):
    run, roof = e.runs()[0], e.roof()
    if roof["unit"] != UNIT[run["problem"]]:
        raise ResultError(f"'{e.text}': the roof is in {roof['unit']}, the score is not")
    return score(run) / roof["value"]


def _field(e):
    run, name = e.runs()[0], e.take("field")
    if run.get(name) is None:
        raise ResultError(f"no field '{name}' in the record of '{e.text}'")
    return run[name]


def _counter(e):
    known, name = flat_counters(e.runs(simulated=True)[0]), e.take("counter")
    if name not in known:
        raise ResultError(f"no counter '{name}'; there are: {', '.join(known)}")
    return known[name]


def _ncu(e):
    rung, _, variant = e.take("rung").partition(":")
    problem, name = problem_named(e.take("problem")), e.take("counter")
    for profile in e.results.profiles:
        chosen = profile["variant"] == variant if variant else profile.get("is_rung")
        if (profile["rung"], profile["problem"]) == (rung, problem) and chosen:
            if name not in profile["counters"]:
                raise ResultError(f"no counter '{name}'; there are: {', '.join(profile['counters'])}")
            return profile["counters"][name]
    raise ResultError(f"no profile of {rung} {problem} {variant}".strip())


def _geomean(e):
    rung, problem, shapes = e.take("rung"), e.take("problem"), [e.take("shape")]
    while e.words:
        shapes.append(e.take("shape"))
    ratios = [ratio(e.find(rung, problem_named(problem), shape, None, False)) for shape in shapes]
    return math.prod(ratios) ** (1 / len(ratios))


def _soak(e):
    rung, problem, name = e.take("rung"), problem_named(e.take("problem")), e.take("field")
    for soak in e.results.soaks:
        if (soak["rung"], soak["problem"]) == (rung, problem) and name in soak:
            return soak[name]
    raise ResultError(f"no soak of {rung} {problem} with a field '{name}'")


def _power(e):
    kernel, problem, shape = e.take("kernel"), problem_named(e.take("problem")), e.take("shape")
    return power.of_launch(power.find(e.results, kernel, problem, shape), e.take("field"))


def _alone(e):
    kernels, problem, shape = [e.take("kernel"), e.take("kernel")], problem_named(e.take("problem")), e.take("shape")
    first, second = (power.find(e.results, kernel, problem, shape) for kernel in kernels)
    return score(first) / score(second)


def _ridge(e):
    arithmetic, bandwidth = e.roof(), e.roof()
    if (arithmetic["unit"], bandwidth["unit"]) != ("TFLOPS", "GB/s"):
        raise ResultError(f"'{e.text}': a ridge is between TFLOPS and GB/s")
    return arithmetic["value"] * 1e12 / (bandwidth["value"] * 1e9)


def _two(e, sign):
    """The values on both sides of the first such sign, which stands between spaces."""
    first, found, second = e.rest().partition(f" {sign} ")
    if not found:
        raise ResultError(f"'{e.text}' lacks its ' {sign} '")
    values = value_of(e.results, first), value_of(e.results, second)
    if any(isinstance(value, str) for value in values):
        raise ResultError(f"'{e.text}': both must be numbers")
    return values


def _quotient(e):
    first, second = _two(e, "/")
    if second == 0:
        raise ResultError(f"'{e.text}' divides by 0")
    return first / second


def _difference(e):
    first, second = _two(e, "-")
    return first - second


def _if_recorded(e):
    try:
        return value_of(e.results, e.rest())
    except NotRecorded:
        return NOT_YET


def _models(e):
    return models.value(e.results, e.take("rung"), e.take("figure"))


def _cutlass(e):
    kind, problem, shape = e.take("kind"), problem_named(e.take("problem")), e.take("shape")
    what = e.options.pop("what", "ratio")
    if what not in ("ratio", "name"):
        raise ResultError(f"'{e.text}': what is 'ratio' or 'name'")
    runs = [run for run in e.results.cutlass if (run["problem"], shape_of(run)) == (problem, shape)]
    runs = [run for run in runs if run["variant"].startswith(f"{kind}_")]
    if not runs:
        raise NotRecorded(f"no record of CUTLASS's {kind} at {problem} {shape}")
    fastest = max(runs, key=ratio)  # each was timed in turns with cuBLAS
    return ratio(fastest) if what == "ratio" else f"`{fastest['variant']}`"


def _device(e):
    if not e.results.device:
        raise ResultError("no record names a device")
    return e.results.where_measured()


FORMS = {
    "tflops": lambda e: score(e.runs(unit="TFLOPS")[0]),
    "gbps": lambda e: score(e.runs(unit="GB/s")[0]),
    "us": lambda e: e.runs()[0]["median_us"],
    "ratio": _ratio,
    "baseline": _baseline,
    "speedup": _speedup,
    "noise": _noise,
    "per_clock": _per_clock,
    "roof": lambda e: e.roof()["value"],
    "memory": _memory,
    "of_roof": _of_roof,
    "field": _field,
    "counter": _counter,
    "ncu": _ncu,
    "geomean": _geomean,
    "power": _power,
    "alone": _alone,
    "soak": _soak,
    "models": _models,
    "cutlass": _cutlass,
    "ridge": _ridge,
    "device": _device,
    "quotient": _quotient,
    "difference": _difference,
    "if_recorded": _if_recorded,
}


def value_of(results: Results, text: str):
    """One expression's value, a number or a string."""
    expression = Expression(results, text)
    form = expression.take("form")
    if form not in FORMS:
        raise ResultError(f"unknown expression '{text}'; it starts with one of: {', '.join(FORMS)}")
    value = FORMS[form](expression)
    left = expression.words + [f"{key}={word}" for key, word in expression.options.items()]
    if left:
        raise ResultError(f"'{text}': what does '{' '.join(left)}' mean?")
    return value


def evaluate(results: Results, text: str) -> str:
    """The text of one expression's value."""
    words = text.split()
    style = next((word for word in words if word.startswith("as=")), None)
    if style not in (None, "as=percent"):
        raise ResultError(f"'{text}': unknown {style}")
    value = value_of(results, " ".join(word for word in words if word != style))
    return percent(value) if style and not isinstance(value, str) else figure(value)
