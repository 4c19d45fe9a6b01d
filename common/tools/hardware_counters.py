"""Reads the hardware's memory counters of every variant with Nsight Compute, as JSON Lines.

usage: hardware_counters.py --bin build/bin --json FILE [--problem gemm] RUNG...

Each variant runs once at a small size and one record is written: requests and sectors of global loads and stores,
shared-memory wavefronts and the ideal number of them, and the share of issue slots and of DRAM bandwidth in use. The
names are Nsight Compute's; docs/deeper/records.md says what they mean.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys

from common.tools.programs import CannotRun, device_of, listed, nvidia_tool, run_for

SIZES = {"gemm": {"m": 1024, "n": 1024, "k": 1024}, "fused_norm": {"rows": 2048, "cols": 8192}}

COUNTERS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_wavefronts": "memory_l1_wavefronts_shared",
    "shared_wavefronts_ideal": "memory_l1_wavefronts_shared_ideal",
    "dram_bytes": "dram__bytes.sum",
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
    "issue_active_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "lsu_percent": "l1tex__lsuin_requests.avg.pct_of_peak_sustained_active",
    "l1_data_percent": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
    "fma_percent": "smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "tensor_percent": "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    "warps_active_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
UNITS = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


LIMIT = 300  # seconds of a variant: replayed for each group of counters, and compared with the CPU


class Failed(Exception):
    """What ran, and how it ended."""


def run(command):
    """The output of a command."""
    try:
        done = run_for(LIMIT, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}: not done after {LIMIT} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def sizes_of(problem):
    return [word for name, value in SIZES[problem].items() for word in (f"--{name}", str(value))]


def variants(program, problems):
    """(problem, variant, is it the rung itself) of these problems, but for what does not take its size here, and for the gemms
    of other types than bf16: theirs begins with kernels that round A and B, and the first launch is what is counted."""
    run_here = set()
    for problem in problems:
        in_bf16 = ["--type", "bf16"] if problem == "gemm" else []
        rows = run([program, problem, *in_bf16, "--ablate", "--verify-only", "--reference", "cpu", *sizes_of(problem)])
        of_variants = [row for row in rows.splitlines() if row.startswith(pathlib.Path(program).name + " ")]
        run_here |= {(problem, row.split()[2]) for row in of_variants if "not run:" not in row}
    return [(name, each["name"], each["is_rung"]) for name, problem in listed(program).items() for each in problem["variants"]
            if (name, each["name"]) in run_here]


def arguments_for(problem, variant):
    """Of the rung's program: one launch of the variant."""
    return [problem, "--variant", variant, "--verify-only", "--reference", "cpu", *sizes_of(problem)]


def counters(ncu, program, problem, variant):
    """The counters of one launch of one variant."""
    command = [ncu, "--csv", "--clock-control", "none", "--metrics", ",".join(COUNTERS.values())]
    # The harness's own kernels are told apart by their name; the variant's only launch is the one that is checked.
    command += ["--kernel-name", "regex:^(?!fill_kernel).*", "--launch-count", "1"]
    command += [program, *arguments_for(problem, variant)]
    output = run(command)
    # Around the table stand what the program prints, and ncu's own lines, which begin with "==".
    table = csv.DictReader(line for line in output.splitlines() if line.startswith('"'))
    values = {}
    for row in table:
        try:
            value = float(row["Metric Value"].split(" ")[0].replace(",", ""))
        except ValueError:
            continue  # not available on this GPU
        if math.isfinite(value):
            values[row["Metric Name"]] = value * UNITS.get(row["Metric Unit"], 1)
    if not values:  # no permission to read counters (ERR_NVGPUCTRPERM), say, with which the program runs on
        raise Failed(f"{' '.join(command)}: no counters\n{output}")
    named = {name: values[metric] for name, metric in COUNTERS.items() if metric in values}
    for kind in ("load", "store"):
        if named.get(f"global_{kind}_requests"):
            named[f"global_{kind}_sectors_per_request"] = round(
                named[f"global_{kind}_sectors"] / named[f"global_{kind}_requests"], 3)
    return named


def profile(ncu, program, only, out):
    """Writes a record of each variant of a rung. How many, and which variants could not be profiled."""
    device, done, failed = device_of(program), 0, []
    for problem, variant, is_rung in variants(program, [only] if only else SIZES):
        record = {"record": "profile", "rung": pathlib.Path(program).name, "problem": problem, "variant": variant,
                  "is_rung": is_rung, **SIZES[problem], "device": device}
        try:
            record["counters"] = counters(ncu, program, problem, variant)
        except Failed as why:
            print(f"hardware_counters.py: {why}", file=sys.stderr, flush=True)
            failed.append(f"{record['rung']} {problem} {variant}")
            continue
        out.write(json.dumps(record) + "\n")
        out.flush()  # what was measured stays, whatever ends the program
        print(record["rung"], problem, variant, json.dumps(record["counters"]), flush=True)
        done += 1
    return done, failed


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder of the rungs' programs")
    parser.add_argument("--json", required=True, help="file to append to")
    parser.add_argument("--problem", choices=sorted(SIZES), help="this one alone")
    parser.add_argument("rungs", nargs="+")
    options = parser.parse_args(arguments)
    ncu = nvidia_tool("ncu")
    if not ncu:
        sys.exit("hardware_counters.py: ncu is missing: it comes with the CUDA Toolkit (nsight-compute)")
    pathlib.Path(options.json).parent.mkdir(parents=True, exist_ok=True)
    ran, failed = False, []
    with open(options.json, "a", encoding="utf-8") as out:
        for rung in options.rungs:
            try:
                done, unread = profile(ncu, f"{options.bin}/{rung}", options.problem, out)
                failed += unread
                ran = True
                if unread and not done:
                    break  # nor will the next: ncu does not work here
            except CannotRun as why:
                print(f"{rung}: {why}", file=sys.stderr)
            except (Failed, OSError) as why:
                print(f"hardware_counters.py: {why}", file=sys.stderr)
                failed.append(rung)
    if failed:
        sys.exit(f"hardware_counters.py: not profiled: {', '.join(failed)}")
    if not ran:
        sys.exit("hardware_counters.py: no rung can run here")


if __name__ == "__main__":
    main()
