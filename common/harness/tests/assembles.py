"""The test that a rung's PTX becomes machine code for every GPU it is for: without spills, local memory or warnings.

usage: assembles.py --ptxas PTXAS --target sm_80 --gpus sm_80,sm_86,... [--spills note] [--keep] OBJECT...

What is assembled is the PTX that the rung's object files carry, so what its programs carry. It must be written for
--target: that, and ptxas, which knows when each instruction came, keep out what is newer than the rung.

--spills note: what ptxas warns of is printed, and does not fail the test. Another release of ptxas may spill where the one
that the course is measured with does not.

--keep: the machine code of the last GPU stays beside the object, gemm.cu.cubin beside gemm.cu.o, for sass.py.
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


def assemble(ptxas, gpu, ptx, cubin):
    """Whether ptxas could, and what it warned of or why it could not, line by line."""
    command = [ptxas, f"-arch={gpu}", "-warn-spills", "-warn-lmem-usage", "-o", cubin, ptx]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = list(dict.fromkeys((done.stdout + done.stderr).splitlines()))
    if done.returncode and not lines:
        lines = [f"exit code {done.returncode}"]
    return done.returncode == 0, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--gpus", required=True, type=lambda text: text.split(","))
    parser.add_argument("--spills", choices=["fail", "note"], default="fail")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("objects", nargs="+", type=Path, metavar="OBJECT")
    arguments = parser.parse_args()

    faults = []
    images = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for path in arguments.objects:
            for image in PTX_IMAGE.finditer(path.read_bytes()):
                images += 1
                target = image[1].decode().strip()
                if target != arguments.target:
                    faults.append(f"{path.name}: its PTX is for {target}, not for {arguments.target}")
                    continue
                ptx = Path(folder, f"{images}_{path.name}.ptx")
                ptx.write_bytes(image[0])
                cubin = path.with_suffix(".cubin") if arguments.keep else os.devnull
                jobs += [(path.name, gpu, pool.submit(assemble, arguments.ptxas, gpu, ptx, cubin)) for gpu in arguments.gpus]
        for name, gpu, job in jobs:
            assembled, lines = job.result()
            for line in lines:
                if assembled and arguments.spills == "note":
                    print(f"note: {name} for {gpu}: {line}")
                else:
                    faults.append(f"{name} for {gpu}: {line}")
    if not images:
        faults.append("no PTX found: was it compiled with --compress-mode=none?")
    sys.exit("\n".join(faults) or None)


main()
