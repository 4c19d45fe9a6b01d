"""The test that a rung's PTX becomes machine code for every GPU it is for: without spills, local memory or warnings.

usage: assembles.py --ptxas PTXAS --target sm_80 --gpus sm_80,sm_86,... OBJECT...

What is assembled is the PTX that the rung's object files carry, so what its programs carry. It must be written for
--target: that, and ptxas, which knows when each instruction came, keep out what is newer than the rung.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PTX_IMAGE = re.compile(rb"\.version \d+\.\d+\s+\.target ([\w, ]+)\n[^\0]*")  # embedded as plain text, ended by a 0


def assemble(ptxas, gpu, ptx):
    """What ptxas has to complain of, line by line."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        command = [ptxas, f"-arch={gpu}", "-warn-spills", "-warn-lmem-usage", "-Werror", "-o", cubin.name, ptx]
        done = subprocess.run(command, capture_output=True, text=True)
    lines = list(dict.fromkeys((done.stdout + done.stderr).splitlines()))
    return lines or ([f"exit code {done.returncode}"] if done.returncode else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--gpus", required=True, type=lambda text: text.split(","))
    parser.add_argument("objects", nargs="+", type=Path, metavar="OBJECT")
    arguments = parser.parse_args()

    faults = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for path in arguments.objects:
            for image in PTX_IMAGE.finditer(path.read_bytes()):
                target = image[1].decode().strip()
                if target != arguments.target:
                    faults.append(f"{path.name}: its PTX is for {target}, not for {arguments.target}")
                    continue
                ptx = Path(folder, f"{len(jobs)}_{path.name}.ptx")
                ptx.write_bytes(image[0])
                jobs += [(path.name, gpu, pool.submit(assemble, arguments.ptxas, gpu, ptx)) for gpu in arguments.gpus]
        for name, gpu, job in jobs:
            faults += [f"{name} for {gpu}: {line}" for line in job.result()]
    if not jobs and not faults:
        faults.append("no PTX found: was it compiled with --compress-mode=none?")
    sys.exit("\n".join(faults) or None)


main()
