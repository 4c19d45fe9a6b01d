"""clang-tidy, as .clang-tidy at the root sets it, over the C++ sources that a build compiles:

    python3 -m common.tools.tidy build [PART OF A PATH...]      (target tidy)

It reads BUILD/compile_commands.json and takes the .cc files of the repository; with parts of paths, those that contain one.
The build has to compile each file by itself: that of the preset contributor does.
Left out are tests, and CUDA sources: the pinned clang knows neither the toolkit nor its tensor cores. The pinned clang-tidy
comes from the Python package index, into BUILD/tidy-venv. Ten files take a minute on a core. Exits with 1 where it says
anything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common.tools.programs import ROOT
from common.tools.venv import make_venv

REQUIREMENTS = Path(__file__).resolve().parent / "tidy.txt"


def sources(build: Path, root: Path, parts: list) -> list:
    """The repository's own .cc files in the order of their names, each once."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = set()
    for command in commands:
        if "/Unity/unity_" in command["file"]:
            sys.exit(f"tidy: {build} compiles several files as one, configure it with: cmake --preset contributor")
        file = (Path(command["directory"]) / command["file"]).resolve()
        if file.suffix != ".cc" or root not in file.parents or build.resolve() in file.parents:
            continue
        path = file.relative_to(root)
        if "tests" not in path.parts and (not parts or any(part in str(path) for part in parts)):
            found.add(file)
    return sorted(found)


def clang_arguments() -> list:
    """The wheel has no headers of a compiler's own: GCC's, but for those of instruction sets, which clang cannot read."""
    own = subprocess.run(["c++", "-print-file-name=include"], capture_output=True, text=True).stdout.strip()
    return ["--extra-arg=-idirafter" + own, "--extra-arg=-march=x86-64", "--extra-arg=-Wno-unknown-warning-option"]


def tidy(clang_tidy: Path, build: Path, file: Path) -> str:
    """What it says of the file; empty where nothing."""
    command = [clang_tidy, "-p", build, "--quiet", *clang_arguments(), file]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or (done.stderr.strip() if done.returncode else "")


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="a configured build folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--clang-tidy", type=Path, help="this one instead of the pinned one")
    parser.add_argument("parts", nargs="*", metavar="PART", help="files whose path from the root has this in it")
    options = parser.parse_intermixed_args(arguments)
    program = options.clang_tidy
    if not program:
        python, why = make_venv(options.build / "tidy-venv", [REQUIREMENTS], "tidy: getting clang-tidy")
        if not python:
            parser.exit(1, f"tidy: {why} (pip install {REQUIREMENTS.read_text().strip()})\n")
        program = python.parent / "clang-tidy"
    files = sources(options.build, ROOT, options.parts)
    if not files:
        parser.exit(1, f"tidy: no such source in {options.build}/compile_commands.json\n")
    wrong = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for file, said in zip(files, pool.map(lambda file: tidy(program, options.build, file), files)):
            wrong += bool(said)
            if said:
                print(f"{file.relative_to(ROOT)}:\n{said}\n", flush=True)
    print(f"tidy: {len(files)} files, {wrong} with something to mend")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
