"""Everything that the plots and the docs are made of, measured on this machine, from one revision and in one go:

    python3 -m common.tools.record --bin build/bin --out build/record                   (target record)
    python3 -m common.tools.record --bin build/bin --out build/record --estimate        how long that takes, and nothing else
    record.py … --only counts,traces                               without a GPU (target record_simulator)

It writes into OUT what docs/results holds of a machine:

    results.jsonl          on a GPU: roofs, every variant, sweeps, power, precisions, operators, and the hardware's counters
    simulator.jsonl        the simulator's counters of every variant, at the sizes at which the hardware's are read
    traces.jsonl           the memory accesses that the chapters' pictures are drawn from
    timelines.jsonl        on a GPU: what the warps of a CTA do, as they note it themselves (--trace)
    simulator_speed.jsonl  how fast the simulator is here
    transcripts.json       what programs print in the docs
    record_times.json      how long each group took, for the next estimate

A whole record begins with empty files; --only adds to results.jsonl, where the last of two lines counts. Each line carries
the git revision. What cannot run on this GPU is passed over, and said.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from common.plots.records.error import ResultError
from common.plots.records.inside import part_of
from common.tools import record_plan, simulator_speed
from common.tools.programs import BESIDE, CANNOT_RUN, REFUSED, ROOT, plain_environment, problems, revision, rungs

TIMES = "record_times.json"
LIMIT = 3600  # seconds of a program: a kernel that hangs is not the end of the record
COUNTED = ("gemm --size 1024", "fused_norm --rows 2048 --cols 8192", "norm_gemm --size 1024")
TIMELINES = (  # long enough for a picture and no longer
    "04_cp_async gemm --m 4096 --n 4096 --k 128",
    "05_mma_sync gemm --m 4096 --n 4096 --k 256",
    "06_swizzle_ldmatrix gemm --m 4096 --n 4096 --k 512",
    "07_wgmma_tma gemm --m 4096 --n 4096 --k 768",
    "08_warp_specialized gemm --size 4096",
)


class Part(NamedTuple):
    """One group of the record."""

    name: str
    what: str
    file: str
    needs_gpu: bool
    seconds: float  # of the first estimate
    run: Callable


class Session:
    """Where it records from and to, and what went wrong."""

    def __init__(self, binaries: Path, out: Path, names: list):
        self.binaries, self.out, self.rungs = binaries, out, names
        self.failed, self.passed_over, self.without_gpu = [], {}, set()

    def step(self, command: str, *more, refusal_is_fine: bool = False, environment=None) -> bool:
        """Runs a program of bin/. A rung that cannot run on this GPU is passed over from then on."""
        program, *arguments = command.split()
        if program in self.without_gpu or not (self.binaries / program).exists() and program == "cutlass_beside":
            return False
        try:
            code = subprocess.run([self.binaries / program, *arguments, *more], env=environment, timeout=LIMIT).returncode
        except subprocess.TimeoutExpired:
            self.fail(f"{command}: not done after {LIMIT} s")
            return False
        except OSError as error:
            code = error.strerror
        if code == CANNOT_RUN:
            self.without_gpu.add(program)
            print(f"record: {program} cannot run on this GPU and is passed over", flush=True)
        elif code and not (refusal_is_fine and code == REFUSED):
            self.fail(f"{command}: exit code {code}")
        return code == 0

    def fail(self, what: str) -> None:
        print(f"record: {what}", file=sys.stderr, flush=True)
        self.failed.append(what)

    def python(self, program: str, *arguments) -> None:
        code = subprocess.run([sys.executable, "-B", "-m", program, *map(str, arguments)]).returncode
        if code:
            self.fail(f"{program}: exit code {code}")


def measured(group: record_plan.Group, commands: list) -> Callable:
    def run(session: Session) -> None:
        for command in commands:
            session.step(command, "--json", session.out / "results.jsonl", refusal_is_fine=group.may_refuse)

    return run


def profile(session: Session) -> None:
    able = [rung for rung in session.rungs if rung not in session.without_gpu]
    where = ("--bin", session.binaries, "--json", session.out / "results.jsonl")
    session.python("common.tools.hardware_counters", *where, *able)


def counts(session: Session) -> None:
    file = session.out / "simulator.jsonl"
    file.unlink(missing_ok=True)
    beside = [name for name in BESIDE if (session.binaries / f"{name}_sim").exists()] if session.rungs == rungs() else []
    for rung in (*session.rungs, *beside):
        solved = problems(session.binaries / f"{rung}_sim")
        for run in COUNTED:
            if run.split()[0] in solved:
                environment = plain_environment()
                session.step(f"{rung}_sim {run} --ablate", "--json", file, environment=environment)


def traces(session: Session) -> None:
    session.python("common.tools.record_traces", "--bin", session.binaries, "--json", session.out / "traces.jsonl")


def timelines(session: Session) -> None:
    lines = []
    for command in TIMELINES:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "timeline.json"
            if command.split()[0] in session.rungs and session.step(command, "--trace", trace):
                try:
                    lines.append(json.dumps(part_of(json.loads(trace.read_text(encoding="utf-8")))) + "\n")
                except (ResultError, OSError, ValueError) as error:
                    session.fail(f"{command} --trace: {error}")
    (session.out / "timelines.jsonl").write_text("".join(lines), encoding="utf-8")


def speed(session: Session) -> None:
    try:
        simulator_speed.record(session.binaries, session.rungs, session.out / "simulator_speed.jsonl")
    except OSError as error:
        session.fail(f"simulator_speed: {error}")


def transcripts(session: Session) -> None:
    if not (session.binaries / "faults").is_dir():
        print("record: no transcripts: the planted faults are not built (-DLADDER_TESTS=ON)", flush=True)
        return
    session.python("common.plots.pages.transcripts", session.binaries, "--json", session.out / "transcripts.json")


def parts(session: Session) -> list:
    def has(rung: str, problem: str) -> bool:  # either program says it, without a GPU
        programs = (session.binaries / f"{rung}_sim", session.binaries / rung)
        return any(problem in problems(program) for program in programs if program.exists())

    norm_gemm = [rung for rung in session.rungs if has(rung, "norm_gemm")]
    on_gpu = []
    for group in record_plan.GROUPS:
        commands = record_plan.commands(group, session.rungs, norm_gemm)
        seconds = sum(map(record_plan.seconds_of, commands))
        on_gpu.append(Part(group.name, group.what, "results.jsonl", True, seconds, measured(group, commands)))
    number = len(session.rungs)
    return [
        *on_gpu,
        Part("profile", "the hardware's counters, by Nsight Compute", "results.jsonl", True, PROFILE * number, profile),
        Part("timelines", "what warps do, as they note it", "timelines.jsonl", True, 20, timelines),
        Part("counts", "the simulator's counters", "simulator.jsonl", False, COUNTS * number, counts),
        Part("traces", "accesses, for the pictures", "traces.jsonl", False, TRACES, traces),
        Part("speed", "the simulator's speed", "simulator_speed.jsonl", False, SPEED * number, speed),
        Part("transcripts", "what programs print in the docs", "transcripts.json", False, TRANSCRIPTS, transcripts),
    ]


# Seconds of the first estimate, on two cores: a rung's counters and its speed; all traces; all transcripts. Of a rung on
# a GPU, the hardware's counters: some 15 variants.
COUNTS, SPEED, TRACES, TRANSCRIPTS = 20.0, 12.0, 20.0, 240.0
PROFILE = 15 * record_plan.PER_LINE


def known_times(out: Path) -> tuple:
    """Of the last record: seconds of each group, and in words whose they are."""
    for file in (out / TIMES, ROOT / "docs/results" / TIMES):
        try:
            last = json.loads(file.read_text(encoding="utf-8"))
            return last["seconds"], f"as the record of {last['revision']} took, on {last['machine']}"
        except (OSError, ValueError, KeyError):
            continue
    return {}, ""


def seconds_of(part: Part, known: dict) -> float:
    return known.get(part.name, part.seconds)


def estimate(chosen: list, out: Path) -> str:
    known, whose = known_times(out)
    new = [part.name for part in chosen if part.name not in known]
    basis = [whose] if len(new) < len(chosen) else []
    if new:
        which = "" if len(new) == len(chosen) else f", {', '.join(new)}"
        basis.append(f"a first estimate{which}: {record_plan.PER_LINE:g} s a line, as on an H200")
    minutes = sum(seconds_of(part, known) for part in chosen) / 60
    return f"about {max(1, round(minutes))} min ({'; '.join(basis)})"


def stamp(file: Path, from_line: int, revision_now: str) -> set:
    """Writes the revision into the lines of JSON from that one on that have none; which revisions there are."""
    if file.suffix != ".jsonl" or not file.exists():
        return set()
    lines = file.read_text(encoding="utf-8").splitlines()
    found = set()
    for number in range(from_line, len(lines)):
        of_line = json.loads(lines[number]).get("revision")
        if of_line is None:
            lines[number] = f'{lines[number].rstrip()[:-1]}, "revision": "{revision_now}"}}'
        found.add(of_line or revision_now)
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return found


def count_lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0


def record(session: Session, chosen: list, whole: bool) -> int:
    session.out.mkdir(parents=True, exist_ok=True)
    revision_now, (times, _) = revision(), known_times(session.out)
    print(f"record of {revision_now} into {session.out}: {estimate(chosen, session.out)}", flush=True)
    if revision_now.endswith("-dirty"):
        print("record: files are changed and not committed, and each line will say so: -dirty", flush=True)
    if whole:
        for part in chosen:
            (session.out / part.file).unlink(missing_ok=True)
    for part in chosen:
        print(f"\n== {part.name}: {part.what}", flush=True)
        file = session.out / part.file
        before = count_lines(file) if part.file == "results.jsonl" else 0
        begun = time.monotonic()
        part.run(session)
        if session.rungs == rungs():  # of some rungs alone they would mislead the next estimate
            times[part.name] = round(time.monotonic() - begun, 1)
        others = stamp(file, before, revision_now) - {revision_now}
        if others:
            session.fail(f"{part.file} has lines of {', '.join(sorted(others))}: build the programs of {revision_now} first")
        about = {"machine": machine(session.out), "revision": revision_now, "seconds": times}
        (session.out / TIMES).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    if session.failed:
        print(f"\nthe record is incomplete: {len(session.failed)} failed", *session.failed, sep="\n  ", file=sys.stderr)
    return 1 if session.failed else 0


def machine(out: Path) -> str:
    """The GPU that was measured; without one, the CPU."""
    file = out / "results.jsonl"
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.exists() else ()
    return next((line["device"] for line in lines if "device" in line), simulator_speed.cpu_name())


def gpu_missing(session: Session) -> str:
    """Empty, or in a line why nothing can be timed here."""
    program = session.binaries / session.rungs[0]
    if not program.exists():
        return f"{program} is missing: it is timed beside cuBLAS, which the build did not find"
    done = subprocess.run([program, "gemm", "--size", "1", "--verify-only"], capture_output=True, text=True)
    return (done.stderr.strip().splitlines() or ["no usable GPU"])[-1] if done.returncode == CANNOT_RUN else ""


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the rungs' programs")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write into")
    parser.add_argument("--only", metavar="GROUP,…", help="these groups alone; --estimate lists them")
    parser.add_argument("--estimate", action="store_true", help="say how long it will take, and stop")
    parser.add_argument("rungs", nargs="*", help="these rungs alone")
    options = parser.parse_args(arguments)
    session = Session(options.bin.resolve(), options.out, options.rungs or rungs())
    try:
        every = parts(session)
    except OSError as error:
        parser.exit(1, f"record: {error}\n")
    wanted = options.only.split(",") if options.only else [part.name for part in every]
    unknown = set(wanted) - {part.name for part in every}
    if unknown:
        parser.error(f"no group {', '.join(sorted(unknown))}; there are {', '.join(part.name for part in every)}")
    chosen = [part for part in every if part.name in wanted]
    if options.estimate:
        known, _ = known_times(options.out)
        for part in chosen:
            minutes = seconds_of(part, known) / 60
            print(f"{part.name:12}{minutes:5.1f} min  {part.file:23}{part.what}{', on a GPU' * part.needs_gpu}")
        print(estimate(chosen, options.out))
        return 0
    missing = any(part.needs_gpu for part in chosen) and gpu_missing(session)
    if missing:
        parser.exit(1, f"record: {missing} (--only counts,traces,speed,transcripts needs no GPU)\n")
    return record(session, chosen, whole=not options.only)


if __name__ == "__main__":
    sys.exit(main())
