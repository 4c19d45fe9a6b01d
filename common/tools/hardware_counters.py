#!/usr/bin/env python3
"""Reads the hardware's memory counters of every variant with Nsight Compute, as JSON Lines.

usage: hardware_counters.py --bin build/bin --json FILE [--problem gemm] RUNG...

Each variant runs once at a small size and one record is written: requests and sectors of global loads and stores,
shared-memory wavefronts and the ideal number of them, and the share of issue slots and of DRAM bandwidth in use. The
names are Nsight Compute's; docs/deeper/records.md says what they mean.
"""

import argparse
import csv
import io
import json
import pathlib
import shutil
import subprocess
import sys

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


class CannotRun(Exception):
    """This GPU cannot run the rung, and why."""


def run(command):
    """The output of a command; stops the program with one line where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 77:
        raise CannotRun(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0:
        sys.exit(f"hardware_counters.py: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def variants(program):
    """(problem, variant, is it the rung itself) for every line of --list but the gemms of other types than bf16: theirs
    begins with kernels that round A and B, and the first launch is what is counted."""
    rows = run([program, "gemm", "--type", "bf16", "--ablate", "--verify-only", "--reference", "cpu", "--size", "64"])
    in_bf16 = {row.split()[2] for row in rows.splitlines() if row.startswith(pathlib.Path(program).name)}
    for line in run([program, "--list"]).splitlines():
        problem, variant, *rest = line.split()
        if problem != "gemm" or variant in in_bf16:
            yield problem, variant, rest[:2] == ["(the", "rung)"]


def device_of(program):
    """The GPU that the rungs run on, from the second line that one prints: "NVIDIA H200, driver …"."""
    return run([program, "gemm", "--size", "8", "--verify-only", "--reference", "cpu"]).splitlines()[1].split(", driver ")[0]


def counters(ncu, program, problem, variant):
    """The counters of one launch of one variant."""
    sizes = [word for name, value in SIZES[problem].items() for word in (f"--{name}", str(value))]
    command = [ncu, "--csv", "--clock-control", "none", "--metrics", ",".join(COUNTERS.values())]
    # The harness's own kernels are told apart by their name; the variant's only launch is the one that is checked.
    command += ["--kernel-name", "regex:^(?!fill_kernel).*", "--launch-count", "1"]
    command += [program, problem, "--variant", variant, "--verify-only", "--reference", "cpu", *sizes]
    output = run(command)
    table = output[output.index('"ID"') :]
    values = {}
    for row in csv.DictReader(io.StringIO(table)):
        try:
            value = float(row["Metric Value"].split(" ")[0].replace(",", ""))
        except ValueError:
            continue  # not available on this GPU
        values[row["Metric Name"]] = value * UNITS.get(row["Metric Unit"], 1)
    named = {name: values[metric] for name, metric in COUNTERS.items() if metric in values}
    for kind in ("load", "store"):
        if named.get(f"global_{kind}_requests"):
            named[f"global_{kind}_sectors_per_request"] = round(
                named[f"global_{kind}_sectors"] / named[f"global_{kind}_requests"], 3)
    return named


def profile(ncu, program, device, only, out):
    """Writes a record of each variant of a rung."""
    for problem, variant, is_rung in variants(program):
        if problem not in SIZES or only not in (None, problem):
            continue
        record = {"record": "profile", "rung": pathlib.Path(program).name, "problem": problem, "variant": variant,
                  "is_rung": is_rung, **SIZES[problem], "device": device,
                  "counters": counters(ncu, program, problem, variant)}
        out.write(json.dumps(record) + "\n")
        out.flush()  # what was measured stays, whatever ends the program
        print(record["rung"], problem, variant, json.dumps(record["counters"]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder of the rungs' programs")
    parser.add_argument("--json", required=True, help="file to append to")
    parser.add_argument("--problem", choices=sorted(SIZES), help="this one alone")
    parser.add_argument("rungs", nargs="+")
    options = parser.parse_args()
    ncu = shutil.which("ncu")
    if not ncu:
        sys.exit("hardware_counters.py: ncu is missing: it comes with the CUDA Toolkit (nsight-compute)")
    done = 0
    with open(options.json, "a", encoding="utf-8") as out:
        for rung in options.rungs:
            program = f"{options.bin}/{rung}"
            try:
                profile(ncu, program, device_of(program), options.problem, out)
                done += 1
            except CannotRun as why:
                print(f"{rung}: {why}", file=sys.stderr)
    if not done:
        sys.exit("hardware_counters.py: no rung can run here")


if __name__ == "__main__":
    main()
