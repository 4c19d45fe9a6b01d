"""Result files: JSON Lines as the harness writes them, one plain dict per line."""

from __future__ import annotations

import json
from pathlib import Path

from common.plots.records.check import check_record
from common.plots.records.error import ResultError
from common.plots.records.problems import DEFAULT_SHAPE, DIMENSIONS, compulsory_bytes, on_ladder, shape_of, sizes

CUTLASS = "cutlass_beside"  # the program that times its configurations (common/cutlass)


def is_simulated(record: dict) -> bool:
    return record["device"].startswith("simulator")


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
    """Whether a norm was timed for the table of widths: that of every_shape, or of a rung at the shapes beside it, of
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

    def programs(self, problem: str) -> list:
        return sorted({record["rung"] for record in self.runs if record["problem"] == problem})

    def rungs(self, problem: str) -> list:
        return [program for program in self.programs(problem) if on_ladder(program)]

    def variants(self, rung: str, problem: str, shape: str) -> list:
        """The runs of one rung at one shape in the order of the rung's list: the rung itself comes last."""
        runs = [
            record
            for record in self.runs
            if (record["rung"], record["problem"], shape_of(record)) == (rung, problem, shape)
        ]
        return sorted(runs, key=lambda record: (bool(record.get("is_rung")), record.get("variant_index", 0)))

    def run(self, rung: str, problem: str, shape: str, variant: str | None = None) -> dict | None:
        """One run; without a variant, the rung itself. One that was made with --type only where there is no other."""
        for record in sorted(self.variants(rung, problem, shape), key=lambda record: "type" in record):
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
        """Of one program or of all rungs, as a sweep goes: gemm from few to many bytes, fused_norm and row_operator from narrow
        to wide rows."""
        runs = [record for record in self.runs if record["problem"] == problem]
        runs = [record for record in runs if (record["rung"] == rung if rung else on_ladder(record["rung"]))]
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
            for rung in self.programs(problem):
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
