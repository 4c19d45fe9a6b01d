"""The questions of docs/deeper/questions.md. What the page says that a program counts or prints is compared with what it
does now, also after the edit that the question asks for. A question is in QUESTIONS, or in UNCHECKED with a reason.

python3 -m common.practice.tests.questions_test --build build [00 01 …]
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from common.plots.records.results import Results
from common.practice import exercise as exercises
from common.practice import budget, grade
from common.practice.compiling import compile_ptx
from common.practice.exercise import ROOT, PracticeError
from common.practice.runs import LONGEST, Tools, environment

PAGE = ROOT / "docs/deeper/questions.md"

UNCHECKED = {
    "00.4": "each fault has a test of its own",
    "01.2": "times on a GPU",
    "01.3": "a time on a GPU",
    "02.3": "machine code",
    "03.4": "machine code",
    "05.4": "machine code",
    "06.1": "the picture is generated",
    "06.4": "cycles on a GPU",
}


@dataclass
class Run:
    arguments: str = ""  # of the rung on the simulator; without them the edited source only has to compile
    counts: str = ""  # of the run, by the names of budget.py: a comparison must hold, a number stands in the page
    prints: str = ""  # a regular expression of the output, or the compiler's; what it captures stands in the page
    edits: dict = field(default_factory=dict)  # text that the source has exactly once: what takes its place
    file: str = ""  # the source; not given: the problem's own
    launch: bool = False  # the launch changes, too: a whole program is compiled, not PTX alone
    program: str = ""  # of bin/, in place of the rung
    fails: bool = False
    settings: dict = field(default_factory=dict)  # of the simulator


def asserting(file: str, before: str, *facts: str) -> Run:
    return Run(file=file, edits={before: "".join(f"static_assert({fact});\n" for fact in facts) + before})


def of_cta_0(timeline: str) -> tuple:
    """Does the second tile's load come before the first store? Tile and k-tile of the longest wait for a stage."""
    spans = [span for span in json.loads(timeline)["traceEvents"] if span["ph"] == "X" and span["pid"] == 0]
    load, store = (min(s["ts"] for s in spans if (s["name"], s["args"]["tile"]) == of) for of in (("load", 1), ("store", 0)))
    longest = max((s for s in spans if s["name"] == "wait for a stage"), key=lambda s: s["dur"])["args"]
    return load < store, longest["tile"], longest["k_tile"]


LOADS = "global_load_sectors / global_load_requests"
STORES = "global_store_sectors / global_store_requests"
EXCESS = "shared_wavefronts - shared_wavefronts_ideal"
PRODUCT_00 = "accumulator += __bfloat162float(a[k]) * __bfloat162float(*b);"
FACTORS_00 = "const float x = __bfloat162float(a[k]);\nconst float y = __bfloat162float(*b);\naccumulator += x * y;"
TILE_02 = ".launch = launch<Config<{}>>"
ACROSS_03 = "row = i / (C::block_k / vector),\n                k = i % (C::block_k / vector) * vector;\n      "
DOWN_03 = "row = i % C::block_m, k = i / C::block_m * vector;\n      "
BOTH_DOWN_03 = {ACROSS_03 + user: DOWN_03 + user for user in ("next_a[v] =", "convert(")}
CYCLES_04 = 2 * 128 * 128 * 16 * 132 * 1.98e9 / (Results([ROOT / "docs/results"]).roofs["bf16_mma_sync"]["value"] * 1e12)
ISSUE_04 = "if constexpr (C::ahead) issue(k0 + C::stages * C::block_k, stage);"
BARRIER_04 = "__syncthreads();  // every share"
LAUNCH_05 = ".launch = launch<Config<2, 4, {}>>"
WORDS_05 = """r < 4; ++r)
          a[i][r] = *reinterpret_cast<const unsigned*>(
              &tile.a[warp_row + i * mma_m + g + r % 2 * 8][k0 + 2 * t + r / 2 * 8]);"""
PAIRS_05 = """r < 2; ++r) {
          const uint2 pair = *reinterpret_cast<const uint2*>(&tile.a[warp_row + i * mma_m + g + r * 8][k0 + 4 * t]);
          a[i][r] = pair.x, a[i][r + 2] = pair.y;
        }"""
ARRIVE_07 = "if (threadIdx.x % {} == 0) ptx::mbarrier_arrive(empty(before));"
FOUR_08 = "general::Config<Design{{.cluster_n = 2}}, general::Bf16>::{}"  # of cluster_of_4; each warp of a reader arrives at each filler
REGISTERS_08 = "producer_registers = {}, consumer_registers = {};"
MXFP8_09 = "static_assert(MmaDescriptor<1, MmaKind::mxf8f6f4, 128,"


def tile(m: int, n: int) -> dict:
    return {"block_m = 32;": f"block_m = {m};", "block_n = 32;": f"block_n = {n};"}


OVERLAP = r"(?: +\d+ math)?"  # a column that may be empty

# Question: what its text has, with the values of its runs, in their order, for {}; " … " is between parts of it. Then the runs;
# a number is its own value.
QUESTIONS = {
    "00.1": ("--size 256 --counters` shows {:.2f}, {:.2f} and {:.2f} sectors per load request",
        *(Run("gemm --size 256", LOADS, edits=tile(*mn), launch=True) for mn in ((16, 64), (8, 128), (4, 256)))),
    "00.2": ("--size 256 --source` shows {} beside `x` and {} beside `y`",
        Run("gemm --size 256 --source", prints=rf" (\d+\.\d+){OVERLAP} +\d+ +const float x .*\n.* (\d+\.\d+){OVERLAP} +\d+ +const float y ",
            edits={PRODUCT_00: FACTORS_00})),
    "00.3": ("{0} requested sectors, {1:.0f} different ones … 1 − {1:.0f}/{0} = {2:.1f} %",
        Run("gemm --m 32 --n 32 --k 16",
            "global_load_sectors, (m * k + k * n) / 16, 100 * (1 - (m * k + k * n) / 16 / global_load_sectors)")),
    "01.1": ("--size 256 --counters` still shows {:.2f}", Run("gemm --size 256", LOADS, edits=tile(64, 16), launch=True)),
    "01.4": ("fused_norm --verify-only` … ends with `invalid shuffle` … `SIMULATOR_CHECKS=off` in front, it ends with `WRONG`",
        *(Run("fused_norm --verify-only", prints=said, fails=True, settings={"checks": checks}, edits={
            "float squares = 0;": "float squares = 0;\nif (int(threadIdx.x) >= p.cols) return;"})
          for checks, said in (("fail", "simulator: invalid shuffle"), ("off", "WRONG")))),
    "02.1": ("a store has {:.2f} sectors per request … --m 129 --n 129 --k 128 --counters` … at 128×128×128 it has {:.0f}",
        Run("gemm --m 129 --n 129 --k 128", STORES), Run("gemm --size 128", STORES)),
    "02.2": ("--size 1024 --variant NAME --counters` on the simulator shows {} and {}",
        Run("gemm --size 1024", "global_load_requests, shared_load_wavefronts", launch=True,
            edits={TILE_02.format("128, 128, 16, 8, 8"): TILE_02.format("64, 64, 16, 4, 4")})),
    "02.4": ("gemm --verify-only` stops at {}×{}×{}",
        Run("gemm --verify-only", prints=r"simulator: (?:.*\n)*.* at (\d+)x(\d+)x(\d+): ", fails=True,
            edits={"__syncthreads();  // the tiles are complete": ""})),
    "02.5": ("`--size 256` still passes … `--verify-only` does not",
        *(Run(f"gemm {arguments}", prints=said, fails=bool(said),
              edits={"p.m && k0 + k < p.k": "p.m", "k0 + k < p.k && col0": "col0"})
          for arguments, said in (("--size 256", ""), ("--verify-only", "simulator: illegal address")))),
    "03.1": ("gemm --m 7 --n 13 --k 5 --verify-only` … a misaligned 16-byte load … by thread ({})",
        Run("gemm --m 7 --n 13 --k 5 --verify-only", fails=True, launch=True,
            prints=r"misaligned access .*\n.* load of 16 bytes .* thread \((.*?)\)",
            edits={"vectors_from_global && p.n % vector == 0 && p.k % vector == 0": "true"})),
    "03.2": ("--size 1024 --counters` the excess halves to {0}, and the sectors per load request rise from {3:.0f} to {1:.0f}",
        Run("gemm --size 1024", f"{EXCESS}, {LOADS}", edits=BOTH_DOWN_03),
        Run("gemm --size 1024", f"{EXCESS}, {LOADS}, {EXCESS} == 2 * 262144")),
    "03.3": ("{} registers for the rung, and a `STACK` that is not 0",
        Run("gemm --size 64", "registers, spills > 0", edits={"ctas_per_sm = 2;": "ctas_per_sm = 3;"})),
    "03.5": ("--rows 64 --cols 8191 --counters`, then `--cols 8192`: {} against {}",
        *(Run(f"fused_norm --rows 64 --cols {cols}", "global_load_requests") for cols in (8191, 8192))),
    "04.1": ("about {:.0f} cycles, {:.0f} bytes per cycle, {:.0f} KB: four stages",
        CYCLES_04, 8192 / CYCLES_04, 700 * 8192 / CYCLES_04 / 1000),
    "04.2": ("04_cp_async_last_groups_not_closed gemm --size 256` stops in stage 1 … needs cp.async.wait_group {} or less",
        Run("gemm --size 256", prints=r"load of 16 bytes at 0x[ab]... of .*\n.*\n.*needs cp.async.wait_group (\d) or less",
            fails=True, program="faults/04_cp_async_last_groups_not_closed")),
    "04.3": ("reports nothing, with any `SIMULATOR_SEED`, and the results are right",
        *(Run("gemm --size 256", settings={"seed": seed}, edits={ISSUE_04: "", BARRIER_04: ISSUE_04 + BARRIER_04})
          for seed in grade.SEEDS)),
    "04.4": ("outer_product.cuh#L{0}) … gemm.cu#L{1}) … outer_product.cuh#L{3}) … gemm.cu#L{2})",
        Run("gemm --size 256", fails=True, edits={BARRIER_04: "//"},
            prints=r"race in .*outer_product.cuh:(\d+)\).*\n.*load of .*\n.*other write .*?gemm.cu:(\d+)"),
        Run("gemm --size 256", fails=True, edits={"buffer ^= 1;": ""},
            prints=r"race in .*?gemm.cu:(\d+) .*\n.*store of .*\n.*other read .*outer_product.cuh:(\d+)\)")),
    "05.1": ("gemm --size 1024 --counters` shows {}, no excess",
        Run("gemm --size 1024", f"shared_wavefronts, {EXCESS} == 0", launch=True, edits={
            "warps_m = 2,": "warps_m = 4,", "warp_m = 64,": "warp_m = 32,", "threads <= 128 ?": "threads <= 256 ?"})),
    "05.2": ("--source` still says `ok` … 16 elements of padding the loads of A have no excess, and those of B have one",
        Run("gemm --size 256 --source", launch=True,
            prints=rf" ok\n(?:.*\n)* .* 0{OVERLAP} +\d+ +const uint2 pair (?:.*\n)* .* [1-9] ?\d+{OVERLAP} +\d+ +const uint4 even ",
            edits={WORDS_05: PAIRS_05, "k = k0 + 2 * t + r * 8,": "k = k0 + 4 * t + r * 2,",
                   LAUNCH_05.format(8): LAUNCH_05.format(16)})),
    "05.3": ("fused_norm --rows 4 --cols 80` reports a deadlock and names the lanes that wait",
        Run("fused_norm --rows 4 --cols 80", prints=r"simulator: deadlock (?:.*\n)*.*lanes", fails=True,
            edits={"sum.add(h[first + v]);": "if (column(first + v) < p.cols) sum.add(h[first + v]);"})),
    "06.2": ("three quarters of C are wrong, from C[{}] on … the repaired version passes, with an excess of {}",
        Run("gemm --size 256", prints=r"4[89]\d{3} of 65536 elements wrong; C\[(.*?)\]", fails=True,
            edits={"(chunk ^ row % 8)": "((chunk + row) % 8)"}),
        Run("gemm --size 256", EXCESS, edits={"(chunk ^ row % 8)": "(chunk / 8 * 8 + (chunk + row) % 8)"})),
    "06.3": ("SIMULATOR_DEVICE=l40s … gemm --size 256 --counters` … {}, where three stages have {}",
        *(Run("gemm --size 256", "async_copy_wavefronts", settings={"device": device}) for device in ("l40s", "h200"))),
    "07.1": ("stage 1; A at 49152 + 8192 + 64, B at 49152 + 16384 + 4096",
        asserting("gemm.cu", "struct TensorMaps {", "5 % Config<>::stages == 1", "Config<>::stage_bytes == 49152",
                  "mma_m * Config<>::row == 8192 && 2 * mma_k * element == 64",
                  "Config<>::tile_a == 16384 && 2 * mma_k * Config<>::row == 4096")),
    "07.2": ("`missing fence … no wgmma.fence comes before the first wgmma.mma_async` … the result is right",
        Run("gemm --size 256", prints=r"missing fence .*\n.*no wgmma.fence comes before the first wgmma.mma_async", fails=True,
            edits={"ptx::wgmma_fence();": ""}),
        Run("gemm --size 256", settings={"checks": "off"}, edits={"ptx::wgmma_fence();": ""})),
    "07.3": ("Six stages of it fit … {:.0f}, {:.0f} and {:.0f}",
        *((stages - 1) * 128 * n * 64 / 2048 for n, stages in ((128, 6), (128, 4), (256, 4))),
        asserting("gemm.cu", "struct TensorMaps {", "sizeof(Config<128, 6>::Shared) + 1024 <= 227 * 1024")),
    "07.4": ("it passes with the checks on",
        Run("gemm --verify-only", edits={"C::threads / warp_size)": "C::warpgroups)",
                                         ARRIVE_07.format("warp_size"): ARRIVE_07.format("warpgroup_size")})),
    "08.1": ("*Check:* {};", 3 * 2 * 4,
        asserting("ablations/general.cu", "Variants<Gemm> general_variants() {", FOUR_08.format("fillers == 3"), FOUR_08.format("readers == 2"))),
    "08.2": ("gemm --variant warp_specialized --m 256 --n 256 --k 512 … in orders 4 and 5 thousands of elements are wrong",
        *(Run("gemm --variant warp_specialized --m 256 --n 256 --k 512", program="faults/08_warp_specialized_peer_not_signalled",
              prints=r"\d{4,} of 65536 elements wrong" if seed in (4, 5) else "", fails=seed in (4, 5),
              settings={"checks": "off", "seed": seed}) for seed in range(8))),
    "08.3": ("gemm --m 256 --n 17152 --k 512 --trace timeline.json` … Tile {}'s k-tile {}:",
        Run("gemm --m 256 --n 17152 --k 512 --trace timeline.json", "*of_cta_0(file('timeline.json'))")),
    "08.4": ("24 + 2 · 240 = {} = 3 · {:.0f} … With 40 and 240 a `static_assert` fails", 24 + 2 * 240, (24 + 2 * 240) / 3,
        Run("gemm --verify-only", edits={REGISTERS_08.format(40, 232): REGISTERS_08.format(24, 240)}),
        Run(prints="the consumers take what the producer gives back", fails=True,
            edits={REGISTERS_08.format(40, 232): REGISTERS_08.format(40, 240)})),
    "09.1": ("--size 512 --variant fp8 --counters` prints {} MMAs, {} bulk copies, {} sectors; the other {}, {}, {}",
        *(Run(f"gemm --size 512 --variant {variant}", "tensor_instructions, bulk_copy_requests, bulk_copy_sectors")
          for variant in ("fp8", "warp_specialized"))),
    "09.2": ("128 / 8 = 16 at bit 17, 0x10200010",
        asserting("common/ptx/tcgen05.cuh", MXFP8_09,
                  "MmaDescriptor<2, MmaKind::f8f6f4, 256, 128, Major::k, Major::k>::bits == 0x10200010")),
    "09.3": ("gemm --m 256 --n 256 --k … *Check:* 384 passes, 512 does not … `--m 256 --n 512 --k 384`, two tiles, fail",
        *(Run(f"gemm --m 256 --n {n} --k {k}", prints=said, fails=bool(said), program="faults/09_tcgen05_phase_reused")
          for n, k, said in ((256, 384, ""), (256, 512, "simulator: unfinished"), (512, 384, "simulator: unfinished")))),
    "09.4": ("gemm --variant persistent` still passes",
        Run("gemm --variant persistent", edits={"schedule == Schedule::one_tile ? 1 : 2;": "1;"})),
    "09.5": ("*Check:* {}, which is two checked launches … With `launch_control` it is {}, and {} for CTA 120",
        *(Run(f"gemm --variant {variant} --m 2048 --n 2560 --k 64 --verify-only", """file("t").count('"ptx": "tcgen05.mma')""",
              settings={"threads": 1, "trace": "t", "trace_warp": warp, "trace_events": 1})
          for variant, warp in (("persistent", "0:1"), ("launch_control", "0:1"), ("launch_control", "120:1")))),
    "09.6": ("{:.0f} and {:.0f}; {:.0f} cycles, {} + {} bytes, {:.0f} bytes per cycle", 4 * 4, 4 * 8, 128 * 128 * 64 / 4096,
        128 * 64 * 2, 64 * 64 * 2, (128 + 64) * 64 * 2 / (128 * 128 * 64 / 4096)),
}  # fmt: skip


def questions_of(rung: str) -> dict:
    """Question: its text, of those below the rung's heading."""
    text = PAGE.read_text(encoding="utf-8")
    part = re.search(rf"^## Rung {rung[:2]}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    items = re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", re.sub(r"<!--.*?-->", "", part), re.MULTILINE | re.DOTALL)
    return {f"{rung[:2]}.{number}": " ".join(item.split()) for number, item in items}


def edited(name: str, edits: dict, folder: Path) -> Path:
    text = (ROOT / name).read_text(encoding="utf-8")
    for old, new in edits.items():
        if text.count(old) != 1:
            raise PracticeError(f"the source has changed: {name} has this {text.count(old)} times, not once: {old}")
        text = text.replace(old, new)
    source = folder / Path(name).name
    source.write_text(text, encoding="utf-8")
    return source


def whole_program(tools: Tools, rung: str, source: Path) -> tuple:
    """The edited gemm.cu in a program like those that grade exercises, and the compiler's errors."""
    values = {"namespace": f"rung_{rung[:2]}", "ablations": "", "problem_type": "Gemm", "problem": "gemm", "rung": rung,
              "needs": ".needs = {8, 0, Compatibility::newer},", "variants": f"rung_{rung[:2]}::gemm()"}  # fmt: skip
    main = re.sub(r"@(\w+)@", lambda name: values[name[1]], (ROOT / "common/practice/main.cc.in").read_text(encoding="utf-8"))
    source.write_text(source.read_text(encoding="utf-8") + main, encoding="utf-8")
    libraries = ("harness/libladder_harness_sim.a", "harness/libladder_checks.a", "simulator/libcuda_simulator.a")
    arch, program = tools.archs[rung], source.with_suffix("")
    command = [tools.nvcc, "-std=c++20", f"--generate-code=arch=compute_{arch},code=compute_{arch}", "--compress-mode=none",
               "-lineinfo", "-cudart=none", *(f"-Xcompiler=-fsanitize={each}" for each in tools.sanitize.split(",") if each),
               "-I", ROOT, source, *(tools.build / "common" / library for library in libraries),
               "-lpthread", "-ldl", "-o", program]  # fmt: skip
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    return program, done.stderr if done.returncode else ""


def whole_lines(text):
    """The simulator breaks lines before 200 characters; here they are whole again."""
    lines, last = [], ""
    for line in text.splitlines():
        words = line.removeprefix("simulator:").split()
        if words and line.removeprefix("simulator:").startswith("    ") and len(last) + len(words[0]) > 185:
            lines[-1] += " " + " ".join(words)
        else:
            lines.append(line)
        last = line
    return "\n".join(lines)


def values_of(tools: Tools, rung: str, run: Run, folder: Path) -> list:
    name = run.file or f"{(run.arguments or 'gemm').split()[0]}.cu"
    name = name if name.startswith("common/") else f"{rung}/{name}"
    exercise = exercises.Exercise(ROOT / rung / "practice" / "0_question.md", fields={"file": name})
    if name.endswith("h"):
        exercise.fields["compile"] = f"{rung}/gemm.cu"
    program, ptx, errors, settings = tools.bin / (run.program or f"{rung}_sim"), None, "", dict(run.settings)
    if run.launch:
        program, errors = whole_program(tools, rung, edited(name, run.edits, folder))
    elif run.edits:
        ptx, errors = compile_ptx(tools, exercise, edited(name, run.edits, folder))
        settings["ptx"] = ptx
    output, failed = errors, bool(errors)
    if run.arguments and not errors:
        command = [program, *run.arguments.split(), "--json", folder / "record.jsonl"]
        done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                              env=environment(**settings), timeout=LONGEST)  # fmt: skip
        output, failed = done.stdout, done.returncode != 0
    what, said = run.arguments or "the compilation", re.search(run.prints, whole_lines(output))
    if failed != run.fails:
        raise PracticeError(f"{what} {'fails' if failed else 'passes'}:\n{output[-2000:]}")
    if not said:
        raise PracticeError(f"{what} does not say '{run.prints}':\n{output[-2000:]}")
    values = list(said.groups())
    if run.counts:
        record = json.loads((folder / "record.jsonl").read_text().splitlines()[-1])
        names = budget.Lazy(budget.counters_of(record) if "counters" in record else {}, lambda: budget.assembled(tools, exercise, ptx))
        names.update(file=lambda name: (folder / name).read_text(), of_cta_0=of_cta_0)
        counted = budget.value_of(f"({run.counts},)", names)
        if any(value is False for value in counted):
            raise PracticeError(f"{what}: '{run.counts}' gives {counted}")
        values += [value for value in counted if value is not True]
    return values


def check(tools: Tools, rung: str, question: str, text: str):
    if question not in QUESTIONS:
        raise PracticeError("it is neither checked nor among those that cannot be")
    says, *runs = QUESTIONS[question]
    values = []
    with tempfile.TemporaryDirectory() as folder:
        for run in runs:
            values += values_of(tools, rung, run, Path(folder)) if isinstance(run, Run) else [run]
    print(f"{question}: {says.format(*values)}", flush=True)
    for part in says.format(*values).split(" … "):
        if not re.search(rf"(?<![\d.]){re.escape(part)}(?!\d)", text):
            raise PracticeError(f"its text does not have '{part}'")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("chapters", nargs="*", metavar="00")
    options = parser.parse_args()
    tools = Tools.of(options.build.resolve())
    failed = False
    for rung in sorted(path.parent.name for path in ROOT.glob("[0-9][0-9]_*/rung.cc")):
        if options.chapters and rung[:2] not in options.chapters:
            continue
        page = questions_of(rung)
        for question in sorted({*page, *(known for known in (*QUESTIONS, *UNCHECKED) if known[:2] == rung[:2])}):
            try:
                if question not in page:
                    raise PracticeError("there is no such question")
                if question not in UNCHECKED:
                    check(tools, rung, question, page[question])
            except (PracticeError, OSError) as error:
                failed = True
                print(f"{PAGE.relative_to(ROOT)}, question {question}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
