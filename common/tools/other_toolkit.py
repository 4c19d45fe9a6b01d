"""Would another CUDA Toolkit break the course? Quickly: a whole build with it takes ten times as long (.ci/run release).

    python3 -m common.tools.other_toolkit build-newest/toolkit/…/cu13 build

Its nvcc compiles the GEMM and the norm of each rung as programs of their own (those that grade exercises), which are linked
with the simulator and the harness of the folder `build`, and must pass at the rung's list of shapes: PTX, registration and
launches are the toolkit's. The simulator's layers that include CUDA's headers are compiled with the toolkit's, without code.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = ("gemm", "fused_norm")
USES_CUDA = ("api", "context", "driver", "runtime")  # the simulator's layers that include CUDA's headers
LIBRARIES = ("harness/libladder_harness_sim.a", "harness/libladder_checks.a", "simulator/libcuda_simulator.a")


def run(command: list, **environment: str) -> str:
    """Empty, or the command and what it said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    done = subprocess.run([*map(str, command)], env=kept | environment, capture_output=True, text=True)
    return f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}" if done.returncode else ""


def rung(toolkit: Path, build: Path, name: str, arch: str, problem: str, folder: Path) -> str:
    main, program = build / name / "practice" / f"{problem}.cc", folder / f"{name}_{problem}"
    sources = [main, ROOT / name / f"{problem}.cu"]
    if "ablations()" in main.read_text(encoding="utf-8"):
        sources += sorted((ROOT / name / "ablations").glob("*.cu"))
    code = f"--generate-code=arch=compute_{arch},code=compute_{arch}"
    options = ["-std=c++20", code, "--compress-mode=none", "-lineinfo", "-cudart", "none", "-I", ROOT, "-o", program]
    libraries = [build / "common" / library for library in LIBRARIES]
    failed = run([toolkit / "bin" / "nvcc", *options, *sources, *libraries, "-lpthread", "-ldl"])
    return failed or run([program, problem, "--verify-only"], SIMULATOR_THREADS="1")


def simulator_file(toolkit: Path, file: Path) -> str:
    return run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-I", ROOT, "-I", toolkit / "include", file])


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("toolkit", type=Path, help="the folder with its bin/nvcc")
    parser.add_argument("build", type=Path, help="a build with all rungs on the simulator")
    options = parser.parse_args(arguments)
    archs = json.loads((options.build / "practice" / "settings.json").read_text(encoding="utf-8"))["archs"]
    files = [file for layer in USES_CUDA for file in sorted((ROOT / "common" / "simulator" / layer).glob("*.cc"))]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(rung, options.toolkit, options.build, name, arch, problem, Path(folder))
            for name, arch in reversed(archs.items())
            for problem in PROBLEMS
        ]
        jobs += [pool.submit(simulator_file, options.toolkit, file) for file in files]
        failed = [said for job in jobs if (said := job.result())]
    print("\n".join(failed) or f"{len(archs)} rungs and {len(files)} files of the simulator: passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
