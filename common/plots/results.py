"""Result files: JSON Lines as the harness writes them, one plain dict per line."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import memory

KINDS = ("run", "roof", "memory", "profile", "soak", "power", "tune", "trace", "timeline", "inside", "simulator_speed")
STEPS = {  # of a timeline, and what each must have
    **{step: ("at", "until", "first", "count") for step in ("copy", "load", "store")},
    **{"commit": ("at", "group"), "wait": ("at", "below"), "barrier": ("at",)},
    **{step: ("at", "first") for step in ("expect", "arrive", "ask", "promise")},  # there
    "multiply": ("at", "until", "count"),
}
DIMENSIONS = {
    "gemm": ("m", "n", "k"),
    "fused_norm": ("rows", "cols"),
    "norm_gemm": ("rows", "cols", "n"),
    "grouped_gemm": ("groups", "m", "n", "k"),
    "linear": ("m", "n", "k"),
    "row_operator": ("rows", "cols"),
}
SCORE = {"gemm": "tflops", "fused_norm": "gbps", "norm_gemm": "tflops", "grouped_gemm": "tflops", "linear": "tflops", "row_operator": "gbps"}
UNIT = {"gemm": "TFLOPS", "fused_norm": "GB/s", "norm_gemm": "TFLOPS", "grouped_gemm": "TFLOPS", "linear": "TFLOPS", "row_operator": "GB/s"}
BASELINE = {"gemm": "cuBLAS", "fused_norm": "copy", "norm_gemm": "two steps", "grouped_gemm": "cuBLAS", "linear": "unfused", "row_operator": "copy"}
DEFAULT_SHAPE = {
    "gemm": "4096x4096x4096",
    "fused_norm": "16384x8192",
    "norm_gemm": "8192x4096x4096",
    "grouped_gemm": "8x4096x14336x4096",
    "linear": "8192x14336x4096",
    "row_operator": "16384x8192",
}


class ResultError(Exception):
    """One line for the reader: what is wrong and where."""


def shape_of(record: dict) -> str:
    return "x".join(str(record[name]) for name in DIMENSIONS[record["problem"]])


def sizes(shape: str) -> tuple:
    return tuple(int(size) for size in shape.split("x"))


def pretty(shape: str) -> str:
    """4096x4096x4096 → 4096³, 16384x8192 → 16384×8192."""
    parts = shape.split("x")
    return f"{parts[0]}³" if len(parts) == 3 and len(set(parts)) == 1 else "×".join(parts)


def is_layer_norm(record: dict) -> bool:
    """Of a row_operator, whose variants begin with what they compute."""
    return record["variant"].startswith("layer_norm")


def flops(record: dict) -> float:
    """gemm: a multiply and an add per (m,n,k). fused_norm: 5 per element, x+residual, h², sum, ·rsqrt, ·gamma.
    norm_gemm: those of its product. grouped_gemm: m are the rows of all groups. linear: of both products of a gated one.
    row_operator: layer_norm 7 per element, sum, -mean, its square and sum, ·rsqrt, ·gamma, +beta; softmax 5, max, -max, exp, sum, ·1/sum."""
    if record["problem"] == "row_operator":
        return (7.0 if is_layer_norm(record) else 5.0) * record["rows"] * record["cols"]
    if record["problem"] == "linear" and record["variant"] in ("swiglu", "geglu"):
        return 4.0 * record["m"] * record["n"] * record["k"]
    if record["problem"] == "grouped_gemm":
        return 2.0 * record["m"] * record["n"] * record["k"]
    if record["problem"] != "fused_norm":
        return 2.0 * math.prod(record[name] for name in DIMENSIONS[record["problem"]])
    return 5.0 * record["rows"] * record["cols"]


def quantised_bytes(precision: str, rows: int, cols: int) -> int:
    """Of a matrix's elements and scales, as QuantisedLayout (common/precision.h) has them."""
    if precision == "bf16":
        return 2 * rows * cols
    if precision == "fp8_block":
        return rows * -(-cols // 16) * 16 + 4 * -(-cols // 128) * -(-rows // 4) * 4
    bits, block = {"fp8": (8, 0), "mxfp8": (8, 32), "nvfp4": (4, 16)}[precision]
    tiles = -(-rows // 128) * -(-(cols // block) // 4) if block else 0
    return rows * -(-cols * bits // 128) * 16 + 512 * tiles


def compulsory_bytes(record: dict) -> float:
    """Bytes that must cross the memory bus: every input read once, every output written once. bf16, but for a
    norm's y of another precision."""
    if record["problem"] == "gemm":
        m, n, k = record["m"], record["n"], record["k"]
        return 2.0 * (m * k + k * n + m * n)
    if record["problem"] == "linear":
        m, n, k = record["m"], record["n"], record["k"]
        gated = record["variant"] in ("swiglu", "geglu")
        return 2.0 * (m * k + m * n + (2 * k * n if gated else k * n + n))
    if record["problem"] == "grouped_gemm":  # as if every group had rows
        groups, m, n, k = (record[name] for name in DIMENSIONS["grouped_gemm"])
        return 2.0 * (m * k + groups * k * n + m * n) + 4 * (groups + 1)
    rows, cols = record["rows"], record["cols"]
    if record["problem"] == "row_operator":
        return 2.0 * (2 * rows * cols + (2 * cols if is_layer_norm(record) else 0))
    without_y = 2 * (3 * rows * cols + cols)
    if record["problem"] == "fused_norm":
        return float(without_y + quantised_bytes(record.get("precision", "bf16"), rows, cols))
    return without_y + 2.0 * (rows + cols) * record["n"]


def score(record: dict) -> float:
    return record[SCORE[record["problem"]]]


def work_rate(record: dict, microseconds: float) -> float:
    """TFLOPS or GB/s of this record's problem done in the given time."""
    work = flops(record) / 1e6 if UNIT[record["problem"]] == "TFLOPS" else compulsory_bytes(record) / 1e3
    return work / microseconds


CUTLASS = "cutlass_beside"  # the program that times its configurations (common/cutlass)


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


def is_simulated(record: dict) -> bool:
    return record["device"].startswith("simulator")


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


def check_trace(record: dict) -> None:
    """What the simulator counted for an access must be what its addresses cost."""
    for name in ("ptx", "file", "lines", "source", "space", "bytes", "addresses", "number", "of"):
        if name not in record:
            raise ResultError(f'a trace has no "{name}"')
    addresses, width = record["addresses"], record["bytes"]
    try:
        if record["space"] == "global":
            name, cost = "sectors", len(memory.sectors((a for a in addresses if a is not None), width))
        else:
            name, cost = "wavefronts", memory.wavefronts(addresses, width, in_fixed_groups(record))
            if record.get("ideal_wavefronts") != memory.ideal_wavefronts(addresses, width, in_fixed_groups(record)):
                raise ValueError(f"{record.get('ideal_wavefronts')} wavefronts are not ideal for them")
    except (TypeError, ValueError) as error:
        raise ResultError(f'"addresses": {error}') from None
    if record.get(name) != cost:
        raise ResultError(f'"{name}" is {record.get(name)}, but the addresses cost {cost}')


def check_timeline(record: dict) -> None:
    """Steps are known, and come in the order of time; so do groups of copies."""
    now = groups = 0
    for step in record.get("steps") or [{}]:
        names = STEPS.get(step.get("step"))
        if names is None or any(not isinstance(step.get(name), int) for name in names):
            raise ResultError(f"a timeline's step is {step}")
        if not now <= step["at"] <= step.get("until", step["at"]):
            raise ResultError(f"a timeline's step goes back in time: {step}")
        if step.get("group", groups) != groups or step.get("below", 0) > groups:
            raise ResultError(f"a timeline's groups of copies do not follow each other: {step}")
        now, groups = step["at"], groups + (step["step"] == "commit")


def check_inside(record: dict) -> None:
    """Of each warp the bars follow each other."""
    now = {warp["warp"]: float("-inf") for warp in record.get("warps", [])}
    if not now or not record.get("bars"):
        raise ResultError("it has no warps or no bars")
    for bar in record["bars"]:
        if len(bar) != 6 or bar[0] not in now:
            raise ResultError(f"a bar is {bar}")
        if bar[2] < now[bar[0]] - 0.01:
            raise ResultError(f"a bar goes back in time: {bar}")
        now[bar[0]] = bar[2] + bar[3]


def where(trace: dict) -> str:
    """gemm.cu:27, ld.global.u16"""
    return f"{trace['file'].split('/')[-1]}:{trace['lines'][0]}, {trace['ptx']}"


def in_fixed_groups(trace: dict) -> bool:
    """Of lanes, as memory.phases() has them."""
    return trace["ptx"].startswith(("st.", "ldmatrix."))


def find_files(paths) -> list:
    """Files as given; of a folder, its *.jsonl in the order of their names."""
    files = []
    for path in map(Path, paths):
        if path.is_dir():
            files += sorted(path.glob("*.jsonl"))
        elif path.is_file():
            files.append(path)
        else:
            raise ResultError(f"{path}: no such file or folder")
    return files


HOW = ("launches", "type", "outlier", "l2_set_aside_mib", "sweep", "routing")  # a run was made, other than as usual


def is_for_its_width(record: dict) -> bool:
    """Whether a norm was timed for the table of widths: a variant at every width, or a rung at the shapes beside it, of
    256 MiB and a row (WIDTHS in common/tools/record_plan.py). A rung's own tables and the sweep are without these."""
    return record["variant"] == "every_width" or record["rows"] == 2**25 // record["cols"] + 1


class Results:
    """Every record of one device; where a measurement was repeated, its last line."""

    def __init__(self, paths=(), device: str | None = None):
        self._paths, self._others = paths, {}
        records, self._replaced = {}, []
        for file in find_files(paths):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                if line.strip():
                    self._replaced += self._add(records, f"{file}:{number}", line)
        for where, record in records.values():
            if record["record"] == "run" and record.get("verified") is not True:
                raise ResultError(
                    f"{where}: {record['rung']} {record['problem']} {record['variant']} "
                    f"{shape_of(record)} is not verified: its figures must not be shown"
                )
        everything = [record for _, record in records.values()]
        self.speeds = [record for record in everything if record["record"] == "simulator_speed"]
        everything = [record for record in everything if record not in self.speeds]
        measured = [record for record in everything if not is_simulated(record)]
        devices = [record["device"] for record in measured]
        if device and device not in devices:
            raise ResultError(f"no record of device {device!r}; there are: {', '.join(sorted(set(devices))) or 'none'}")
        self.devices = sorted(set(devices), key=lambda name: (-devices.count(name), name))
        self.device = device or (self.devices[0] if self.devices else None)
        here = [record for record in measured if record["device"] == self.device]
        self.roofs = {record["roof"]: record for record in here if record["record"] == "roof"}
        self.ways = {record["way"]: record for record in here if record["record"] == "memory"}  # to bring data in
        timed = [record for record in here if record["record"] == "run" and record.get("median_us")]
        self.cutlass = [record for record in timed if record["rung"] == CUTLASS]  # no rung of the course
        timed = [record for record in timed if record["rung"] != CUTLASS]
        self.outlying = [record for record in timed if "outlier" in record]  # with --outlier
        timed = [record for record in timed if "outlier" not in record]
        self.aside = [record for record in timed if "l2_set_aside_mib" in record]  # with --l2-set-aside
        timed = [record for record in timed if "l2_set_aside_mib" not in record]
        self.swept = [record for record in timed if "sweep" in record]  # with --sweep models: shapes of many kinds
        timed = [record for record in timed if "sweep" not in record]
        self.even = [record for record in timed if record.get("routing") == "even"]  # groups of as many rows each
        timed = [record for record in timed if "routing" not in record]
        self.typed = [record for record in timed if "type" in record]  # run with --type: the precision ladder
        # Those in bf16 are there for the ladder, at its own shapes and moment; others are variants like any.
        self.runs = [record for record in timed if "launches" not in record and record.get("type") != "bf16"]
        self.chains = [record for record in timed if "launches" in record]  # launches in a row, stream or graph
        self.profiles = [record for record in here if record["record"] == "profile"]
        self.soaks = [record for record in here if record["record"] == "soak"]
        self.powers = [record for record in here if record["record"] == "power"]
        self.tunes = [record for record in here if record["record"] == "tune"]
        self.simulated = [record for record in everything if is_simulated(record) and record["record"] == "run"]
        self.inside = {record["rung"]: record for record in here if record["record"] == "inside"}
        self.traces = [record for record in everything if record["record"] == "trace"]
        self.timelines = [record for record in everything if record["record"] == "timeline"]

    def on(self, name: str) -> Results:
        """The records of another device: the one that has this in its name, or that is called so."""
        found = [device for device in self.devices if name.lower() in (device.lower(), *device.lower().split())]
        if len(found) != 1:
            raise ResultError(f"no record of one device '{name}'; there are: {', '.join(self.devices) or 'none'}")
        if found[0] == self.device:
            return self
        if name not in self._others:
            self._others[name] = Results(self._paths, found[0])
        return self._others[name]

    @staticmethod
    def _add(records: dict, where: str, line: str) -> list:
        """Returns the record whose place this one takes, if there is one."""
        try:
            record = json.loads(line)
            check_record(record)
        except json.JSONDecodeError as error:
            raise ResultError(f"{where}: not JSON: {error.msg} at column {error.colno}") from None
        except ResultError as error:
            raise ResultError(f"{where}: {error}") from None
        if record["record"] == "roof":
            key = (record["roof"], record["device"])
        elif record["record"] == "memory":
            key = ("memory", record["way"], record["device"])
        elif record["record"] == "trace":
            key = ("trace", where)
        elif record["record"] == "simulator_speed":
            key = ("speed", *(record.get(name) for name in ("rung", "cpu", "threads", "checked_and_counted")))
        elif record["record"] == "soak":
            key = ("soak", record["rung"], record["problem"], record["variant"], record.get("sweep"), record["device"])
        elif record["record"] == "power":
            names = ("record", "rung", "problem", "variant", "contender", "input", "device")
            key = (*(record[name] for name in names), shape_of(record))
        elif record["record"] in ("profile", "tune", "timeline", "inside"):
            names = ("record", "rung", "problem", "variant", "device")
            key = (*(record[name] for name in names), shape_of(record), record.get("warp"), record.get("sweep"))
        else:
            timed = record.get("median_us") is not None  # a later verify-only line does not hide a timed one
            how = (record["device"], timed, *(record.get(name) for name in HOW))
            key = (record["rung"], record["problem"], record["variant"], shape_of(record), *how)
        replaced = [records[key][1]] if key in records else []
        records[key] = (where, record)
        return replaced

    def rungs(self, problem: str) -> list:
        return sorted({record["rung"] for record in self.runs if record["problem"] == problem})

    def variants(self, rung: str, problem: str, shape: str) -> list:
        """The runs of one rung at one shape in the order of the rung's list: the rung itself comes last."""
        runs = [
            record
            for record in self.runs
            if (record["rung"], record["problem"], shape_of(record)) == (rung, problem, shape)
        ]
        return sorted(runs, key=lambda record: (bool(record.get("is_rung")), record.get("variant_index", 0)))

    def run(self, rung: str, problem: str, shape: str, variant: str | None = None) -> dict | None:
        """One run; without a variant, the rung itself."""
        for record in self.variants(rung, problem, shape):
            if record["variant"] == variant or (variant is None and record.get("is_rung")):
                return record
        return None

    def versions(self, rung: str, problem: str, shape: str, variant: str) -> dict:
        """The runs of one variant by git revision, the latest last."""
        names = ("rung", "problem", "variant", "device")
        runs = [record for record in self._replaced if record["record"] == "run" and record.get("median_us")]
        runs = [run for run in runs if shape_of(run) == shape and not any(name in run for name in HOW)]
        runs = [run for run in runs if tuple(run[name] for name in names) == (rung, problem, variant, self.device)]
        last = self.run(rung, problem, shape, variant)
        return {run.get("revision", "unknown"): run for run in [*runs, *([last] if last else [])]}

    def tricks(self, rung: str, problem: str, shape: str) -> list:
        """Of variants() those in the rung's own precision, and launched as the rung is."""
        runs = self.variants(rung, problem, shape)
        return [
            run
            for run in runs
            if run.get("precision") == runs[-1].get("precision")
            and bool(run.get("dependent_launch")) == bool(runs[-1].get("dependent_launch"))
        ]

    def chain(self, rung: str, problem: str, shape: str, variant: str | None, launches: str) -> dict | None:
        """Launches in a row; without a variant, of the rung itself."""
        for record in self.chains:
            if (record["rung"], record["problem"], shape_of(record)) == (rung, problem, shape):
                if record["launches"] == launches and (record["variant"] == variant or (not variant and record.get("is_rung"))):
                    return record
        return None

    def beside_outlier(self, rung: str, shape: str, variant: str, outlier: int) -> dict | None:
        """A gemm whose A and B end with this number."""
        wanted = (rung, shape, variant, outlier)
        runs = (run for run in self.outlying if (run["rung"], shape_of(run), run["variant"], run["outlier"]) == wanted)
        return next(runs, None)

    def beside_set_aside(self, rung: str, problem: str, shape: str, variant: str, mib: int) -> dict | None:
        """What was run with so much of L2 set aside."""
        wanted = (rung, problem, shape, variant, mib)
        names = ("rung", "problem", "shape", "variant", "l2_set_aside_mib")
        runs = (run for run in self.aside if tuple((run | {"shape": shape_of(run)})[name] for name in names) == wanted)
        return next(runs, None)

    def of_type(self, rung: str, problem: str, shape: str, type: str) -> dict | None:
        """What was run with --type."""
        wanted = (rung, problem, shape, type)
        runs = (run for run in self.typed if (run["rung"], run["problem"], shape_of(run), run["type"]) == wanted)
        return next(runs, None)

    def own_variant(self, rung: str, problem: str) -> str | None:
        """The name of the rung itself among its variants."""
        runs = (run for run in self.runs if (run["rung"], run["problem"]) == (rung, problem) and run.get("is_rung"))
        return next((run["variant"] for run in runs), None)

    def title(self, run: dict) -> str:
        """What is new on a rung, as its last record of all has it: those of the simulator are made more often."""
        counted = (one["title"] for one in reversed(self.simulated) if one["rung"] == run["rung"] and one.get("title"))
        return next(counted, run.get("title", ""))

    def early(self, rung: str, problem: str, shape: str) -> dict | None:
        """The rung in a chain: its grids start while the one before still runs. None where launches are timed singly."""
        run = self.run(rung, problem, shape, "early_start")
        return run if run and run.get("dependent_launch") and run.get("launches_per_sample", 1) > 1 else None

    def ladder(self, problem: str, shape: str) -> list:
        """The rungs themselves at one shape, in the order of the ladder."""
        runs = (self.run(rung, problem, shape) for rung in self.rungs(problem))
        return [record for record in runs if record]

    def shapes(self, problem: str, rung: str | None = None) -> list:
        """Shapes as a sweep goes: gemm from few to many bytes, fused_norm and row_operator from narrow to wide rows."""
        runs = [record for record in self.runs if record["problem"] == problem and rung in (None, record["rung"])]
        if problem == "fused_norm":
            runs = [record for record in runs if not is_for_its_width(record)]
        by_size = {shape_of(record): compulsory_bytes(record) for record in runs}
        if problem in ("fused_norm", "row_operator"):
            return sorted(by_size, key=lambda shape: sizes(shape)[::-1])
        return sorted(by_size, key=lambda shape: (round(by_size[shape] / 2**20), sizes(shape)[::-1]))

    def access(self, rung: str, problem: str, variant: str, ptx: str, **wanted) -> dict:
        """The first traced access with this beginning of its opcode. wanted: array="A", cta=1, number=2, …;
        source="tile_a": part of one of its lines of source."""
        source = wanted.pop("source", "")
        wanted |= {"rung": rung, "problem": problem, "variant": variant}
        for trace in self.traces:
            if trace["ptx"].startswith(ptx) and any(source in line for line in trace["source"]):
                if all(trace.get(name) == value for name, value in wanted.items()):
                    return trace
        raise ResultError(f"no trace of {ptx} {source} {wanted}")

    def timeline(self, rung: str, problem: str, variant: str, warp: int = 0) -> dict:
        for timeline in self.timelines:
            found = (timeline["rung"], timeline["problem"], timeline["variant"], timeline["warp"])
            if found == (rung, problem, variant, warp):
                return timeline
        raise ResultError(f"no timeline of {rung} {problem} {variant}, warp {warp}")

    def ablations(self) -> dict:
        """(rung, problem) → shapes with two variants or more, the usual one first: the default shape where it is there,
        else the largest."""
        found = {}
        for problem in DIMENSIONS:
            for rung in self.rungs(problem):
                shapes = [s for s in self.shapes(problem, rung) if len(self.tricks(rung, problem, s)) >= 2]
                if shapes:
                    usual = DEFAULT_SHAPE[problem] if DEFAULT_SHAPE[problem] in shapes else shapes[-1]
                    found[rung, problem] = [usual] + [shape for shape in shapes if shape != usual]
        return found

    def where_measured(self) -> str:
        """Device, toolkit and driver, for a title. More than one version is named, not hidden."""

        def all_of(name):
            records = self.runs + self.swept + list(self.roofs.values())
            return "/".join(sorted({str(record[name]) for record in records if record.get(name)}))

        parts = [self.device or "no device"]
        parts += [
            f"{label} {all_of(name)}"
            for label, name in (("CUDA", "cuda"), ("driver", "driver"), ("cuBLAS", "cublas"))
            if all_of(name)
        ]
        return ", ".join(parts)
