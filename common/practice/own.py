"""A program of the reader's own, practice/NAME/: a copy of a rung's gemm.cu or fused_norm.cu that may become anything, in a
program like a rung's, with the rung it began from as its first variant. own.cmake builds it. On a machine with a GPU the
same machinery times a passed exercise beside its rung.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from common.plots.records.problems import UNIT, compulsory_bytes, flops, shape_of
from common.plots.records.results import Results
from common.plots.records.scores import score
from common.practice.exercise import ROOT, Exercise, PracticeError
from common.practice.grade import SEEDS
from common.practice.runs import Tools, finding, shape_in

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
COMMANDS = ("new", "start", "help")  # of practice.py
PROBLEMS = ("gemm", "fused_norm")
SIMULATOR_ONLY = ("--counters", "--source")
COMPUTE_ROOFS = ("fp32_fma", "bf16_mma_sync", "bf16_wgmma")
CANNOT_RUN = 77


class OneLine(argparse.ArgumentParser):
    def error(self, message):
        raise PracticeError(message)


def rungs() -> list:
    return sorted(path.parent.name for path in ROOT.glob("[0-9][0-9]_*/rung.cc"))


def new(build: Path, folder: Path, arguments: list) -> int:
    parser = OneLine(prog="practice new", add_help=False)
    parser.add_argument("name")
    parser.add_argument("--from", dest="rung", required=True, metavar="RUNG")
    parser.add_argument("--problem", choices=PROBLEMS, default="gemm")
    options = parser.parse_args(arguments)
    name, problem = options.name, options.problem
    if not NAME.fullmatch(name):
        raise PracticeError(f"'{name}' is no name: letters, digits and _, and no digit first")
    if name in COMMANDS or name.endswith(("_sim", "_objects")):
        raise PracticeError(f"the name '{name}' is taken by the build: choose another")
    place = folder / name
    if place.exists() or place.is_symlink():
        raise PracticeError(f"practice/{name} is there already, and is left as it is: choose another name")
    rung = next((rung for rung in rungs() if options.rung in (rung, rung[:2])), None)
    if not rung:
        raise PracticeError(f"there is no rung '{options.rung}': one of {', '.join(each[:2] for each in rungs())}")
    source = ROOT / rung / f"{problem}.cu"
    text = re.sub(rf"\brung_{rung[:2]}\b", "mine", source.read_text(encoding="utf-8"))
    place.mkdir(parents=True)
    with open(place / source.name, "x", encoding="utf-8") as file:
        file.write(header(name, rung, problem, text) + text)
    with open(place / "from.txt", "x", encoding="utf-8") as file:
        file.write(f"{rung} {problem}\n")
    print(f"practice/{name}/{source.name} begins as {rung}/{source.name}: edit it, and run it with build/bin/practice {name}")
    return 0


def header(name: str, rung: str, problem: str, text: str) -> str:
    kind = "Gemm" if problem == "gemm" else "FusedNorm"
    lines = [
        f"{name}: yours, begun as {rung}/{problem}.cu. All of it may change, host code, too. What the program needs",
        f"is the function at the end, Variants<{kind}> {problem}() in namespace ladder::mine; its last entry is your",
        "kernel, those before it are what you compare it with. common/rung.h says what a launch may do.",
        "Every .cu and .cc of this folder is compiled, every .a and .so is linked.",
        *(
            f"To change {header}, copy it to practice/{name}/{header}: it is found first."
            for header in re.findall(rf'^#include "({rung}/[^"]+)"', text, re.MULTILINE)
        ),
        "",
        f"Run it: build/bin/practice {name}      All variants, beside the rung: build/bin/practice {name} --ablate",
        "More: docs/deeper/own_kernel.md",
    ]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines) + "\n"


@dataclass
class Program:
    tools: Tools
    folder: Path
    rung: str
    problem: str

    @property
    def name(self) -> str:
        return self.folder.name

    @staticmethod
    def of(tools: Tools, folder: Path) -> Program:
        try:
            text = (folder / "from.txt").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise PracticeError(
                f"there is no program practice/{folder.name} (it has no from.txt): "
                f"build/bin/practice new {folder.name} --from 05 makes one"
            ) from None
        match = re.fullmatch(r"(\d\d_[a-z0-9_]+) (gemm|fused_norm)( yours)?", text)
        if not match:
            raise PracticeError(f"practice/{folder.name}/from.txt is not a rung and a problem, such as '05_mma_sync gemm'")
        if match[1] not in rungs():
            raise PracticeError(f"practice/{folder.name}/from.txt: there is no rung {match[1]}")
        return Program(tools, folder, match[1], match[2])

    def built(self, suffix: str) -> Path:
        """The program for a GPU (suffix "") or the simulator ("_sim"), up to date."""
        known = self.tools.build / "practice" / "programs.txt"
        if not known.is_file() or self.name not in known.read_text().split():
            output = cmake(self.tools, "-S", str(ROOT), "-B", str(self.tools.build))
            if self.name not in known.read_text().split():
                why = re.search(rf"practice/{re.escape(self.name)} is left out: (.*)", output)
                where = f"{self.folder.parent} is not what {self.tools.build} was configured for"
                raise PracticeError(f"practice/{self.name} is left out: {why[1]}" if why else where)
        output = cmake(self.tools, "--build", str(self.tools.build), "--parallel", str(os.cpu_count() or 1),
                       "--target", f"practice_{self.name}{suffix}")  # fmt: skip
        for line in own_lines(output):
            if "warning" in line:
                print(line, file=sys.stderr)
        return self.tools.bin / "practice_programs" / f"{self.name}{suffix}"


def own_lines(output: str) -> list:
    """What a compiler said, without what the build says of itself."""
    noise = re.compile(r"\[ *\d+%\]|\[\d+/\d+\]|g?make(\[\d+\])?: |ninja: |FAILED: |-- |Consolidate|Scanning|\s*$")
    return [line for line in output.replace(f"{ROOT}/", "").splitlines() if not noise.match(line)]


def cmake(tools: Tools, *arguments: str) -> str:
    """What it printed. Where it fails, the learner reads the compiler's lines. On a terminal one line shows how far it is."""
    shown, output = sys.stderr.isatty(), []
    command = [tools.cmake, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as running:
        for line in running.stdout:
            output.append(line)
            if shown and line.startswith("["):
                print(f"\r\033[K{line.rstrip()[:100]}", end="", file=sys.stderr, flush=True)
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    text = "".join(output)
    if running.returncode != 0:
        lines = own_lines(text) or text.splitlines()[-3:]
        raise PracticeError("it does not build:\n" + "\n".join(lines[:30]))
    return text


def has_gpu() -> bool:
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "" or not shutil.which("nvidia-smi"):
        return False
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return done.returncode == 0 and "GPU" in done.stdout


def run(build: Path, folder: Path, name: str, options: list) -> int:
    if not NAME.fullmatch(name):
        raise PracticeError(f"there is no exercise and no program '{name}': build/bin/practice lists the exercises")
    program = Program.of(Tools.of(build), folder / name)
    source = program.folder / f"{program.problem}.cu"
    if not source.is_file() or not source.read_bytes().strip():
        raise PracticeError(f"practice/{name}/{source.name}, the program's source, is {'empty' if source.is_file() else 'missing'}")
    gpu = program.tools.gpu_programs and has_gpu() and not {"--sim", *SIMULATOR_ONLY} & {*options}
    if options == ["--plot"]:
        if not gpu:
            raise PracticeError("--plot draws times: it needs a GPU, and cuBLAS beside which they are measured")
        return plot(program)
    options = [option for option in options if option != "--sim"]
    if not options:
        return on_gpu(program) if gpu else simulated(program)
    command = [str(program.built("" if gpu else "_sim")), *options]
    return subprocess.run(command).returncode


def said(done: subprocess.CompletedProcess) -> str:
    """Of a run that failed: the simulator's finding, or the program's last line."""
    return finding(done.stderr if done.stderr.strip() else done.stdout, f"exit code {done.returncode}")


def records(command: list, env: dict | None = None, quiet: bool = True) -> tuple:
    """Runs it, and what it recorded."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.jsonl"
        done = subprocess.run([*map(str, command), "--json", str(file)], capture_output=quiet, text=True, env=env)
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return done, [json.loads(line) for line in lines]


def awkward(program: Program, executable: Path, again: str, env: dict | None = None) -> tuple:
    """The list of awkward shapes: the exit code, and how many are right. Says what is wrong."""
    done, right = records([executable, program.problem, "--verify-only"], env)
    if done.returncode not in (0, CANNOT_RUN):
        shape = shape_in(done.stderr)
        print(f"{program.name}  Not right yet{f', at {shape}' if shape else ''}.\n\n{said(done)}\n\nSee it again: {again}")
    elif done.returncode == 0 and not right:
        print(f"{program.name}  It takes none of the awkward shapes, so nothing was checked.")
        return 1, 0
    return done.returncode, len(right)


def simulated(program: Program) -> int:
    executable = program.built("_sim")
    right = 0
    for seed in SEEDS:
        again = f"SIMULATOR_SEED={seed} build/bin/practice {program.name} --sim --verify-only"
        code, right = awkward(program, executable, again, {**os.environ, "SIMULATOR_SEED": str(seed), "SIMULATOR_HEARTBEAT": "0"})
        if code:
            return code
    print(f"{program.name}  Right at {right} awkward shapes, each under the schedules {', '.join(map(str, SEEDS))}.\n")
    found = []
    for variant in (["--variant", program.rung], []):
        done, rows = records([executable, program.problem, *variant])
        if done.returncode != 0:
            print(said(done))
            return done.returncode
        found += rows
    print(counter_table(*found, program.name))
    print(f"\nAll variants: build/bin/practice {program.name} --ablate      Line by line: --source")
    return 0


def counter_table(rung: dict, own: dict, name: str) -> str:
    names = [each for each in {**rung["counters"], **own["counters"]} if not each.endswith(("_per_request", "_bytes"))]
    rows = [(f"{own['problem']} {shape_of(own)}", rung["variant"], f"{name} {own['variant']}", "")]
    for each in names:
        before, now = (record["counters"].get(each, 0) for record in (rung, own))
        if before or now:
            change = "" if before == now or not before else f"x {now / before:.3g}"
            rows.append((each, f"{before:g}" if before % 1 else f"{before:.0f}", f"{now:g}" if now % 1 else f"{now:.0f}", change))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return "\n".join(
        f"{row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}".rstrip() for row in rows
    )


def on_gpu(program: Program) -> int:
    executable = program.built("")
    code, right = awkward(program, executable, f"build/bin/practice {program.name} --verify-only")
    if code == CANNOT_RUN:
        done = subprocess.run([str(executable), program.problem, "--size", "8", "--verify-only"], capture_output=True, text=True)
        print(f"{said(done)}\nSo on the simulator:\n")
        return simulated(program)
    if code:
        return code
    print(f"{program.name}  Right at {right} awkward shapes.\n", flush=True)
    done, rows = records([executable, program.problem, "--ablate"], quiet=False)
    if done.returncode != 0 or not rows or not rows[-1].get("median_us"):
        return done.returncode
    print("\n" + share_of_roof(rows[-1], measured_roofs(program.tools, rows[-1]["device"])))
    return 0


def measured_roofs(tools: Tools, device: str) -> Path:
    """The file of this GPU's roofs, measured once for a build."""
    file = tools.build / "practice" / "roofs.jsonl"
    if not file.is_file() or device not in Results([file]).devices:
        cmake(tools, "--build", str(tools.build), "--parallel", str(os.cpu_count() or 1), "--target", "roofs")
        print("Measuring what this GPU can do at most, once.", file=sys.stderr, flush=True)
        done = subprocess.run([str(tools.bin / "roofs"), "--json", str(file)], capture_output=True, text=True)
        if done.returncode != 0:
            raise PracticeError(f"the roofs: {said(done)}")
    return file


def share_of_roof(record: dict, file: Path) -> str:
    """The lowest roof above this problem at this shape, and how near the kernel comes to it."""
    roofs = {name: roof["value"] for name, roof in Results([file], record["device"]).roofs.items()}
    unit = UNIT[record["problem"]]
    name, roof = "copy", roofs["copy"]
    if unit == "TFLOPS":
        name = max((each for each in COMPUTE_ROOFS if each in roofs), key=roofs.get)
        of_memory = flops(record) / compulsory_bytes(record) * roofs["copy"] / 1e3
        name, roof = (name, roofs[name]) if roofs[name] <= of_memory else ("copy", of_memory)
    share = 100 * score(record) / roof
    return f"{record['rung']}: {score(record):.4g} {unit}, {share:.3g} % of the measured roof, {roof:.4g} {unit} ({name})"


def plot(program: Program) -> int:
    """Sweeps of the program and of the rung, as two rungs beside each other."""
    executable = program.built("")
    swept = []
    for variant in (["--variant", program.rung], []):
        done, rows = records([executable, program.problem, "--sweep", *variant], quiet=False)
        if done.returncode != 0:
            return done.returncode
        swept += rows
    file = program.tools.build / "practice" / f"{program.name}.jsonl"
    roofs = measured_roofs(program.tools, swept[0]["device"])
    file.write_text(
        roofs.read_text(encoding="utf-8") + "".join(json.dumps(as_rung(record, program.rung)) + "\n" for record in swept),
        encoding="utf-8",
    )
    return draw(program.tools, file, program.folder / "plots")


def as_rung(record: dict, rung: str) -> dict:
    """What was timed of the rung, under the rung's name."""
    return {**record, "rung": rung, "is_rung": True} if record["variant"] == rung else record


def draw(tools: Tools, file: Path, out: Path) -> int:
    command = [sys.executable, "-B", "-m", "common.plots.environment", str(tools.build / "plots-venv"), "common.plots.plot"]
    return subprocess.run([*command, str(file), "--out", str(out)]).returncode


def beside_rung(tools: Tools, exercise: Exercise, source: Path) -> str:
    """Empty where there is no GPU; else how fast a passed exercise is, timed in turns with the rung, or why it was not."""
    if exercise.kind == "predict" or not tools.gpu_programs or not has_gpu():
        return ""
    try:
        program = timed_program(tools, exercise, source)
        done, rows = records([program.built(""), program.problem, "--ablate"])
    except PracticeError as error:
        return f"Not timed: {error}"
    if done.returncode != 0:
        return f"Not timed: {said(done)}"
    return in_turns(rows)


def timed_program(tools: Tools, exercise: Exercise, source: Path) -> Program:
    """A folder of links: to the learner's file, and to the rung's source that includes it where it is a header."""
    if any("--variant" in run for run in exercise.runs):
        raise PracticeError("the exercise is about a variant beside the rung's own")
    compiled = exercise.fields.get("compile", exercise.fields["file"])
    if compiled != f"{exercise.rung}/{exercise.problem}.cu":
        raise PracticeError(f"{compiled} is not the rung's own {exercise.problem}")
    folder = tools.build / "practice" / "programs" / ("timed_" + exercise.id.replace(".", "_"))
    links = {folder / f"{exercise.problem}.cu": source.resolve()}
    if "compile" in exercise.fields:
        links = {folder / f"{exercise.problem}.cu": ROOT / compiled, folder / exercise.fields["file"]: source.resolve()}
    for link, target in links.items():
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink() or link.readlink() != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target)
    line = f"{exercise.rung} {exercise.problem} yours\n"
    if not (folder / "from.txt").is_file() or (folder / "from.txt").read_text() != line:
        (folder / "from.txt").write_text(line)
    return Program.of(tools, folder)


def in_turns(rows: list) -> str:
    """Of the record of the rung, which was timed in turns with the last variant: yours."""
    rung = next((row for row in rows if not row["is_rung"] and row.get("rung_us")), None)
    if not rung:
        return "Not timed: this GPU does not run the kernel at the course's shape"
    yours, of_rung = rung["rung_us"], rung["median_us"]
    return (
        f"On this GPU, timed in turns at {rung['problem']} {shape_of(rung)}: yours {yours:.4g} us, {rung['variant']} {of_rung:.4g} us: "
        f"{of_rung / yours:.3g} of the rung's speed"
    )
