"""Runs a script with a Python that has matplotlib: `environment.py FOLDER SCRIPT [ARGUMENTS...]`.

That is a venv in FOLDER with exactly requirements.txt, made on the first call and after the file changed; or, where
there is no package index, the Python this runs on, if it has a matplotlib.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
STAMP = "requirements.sha256"


def make_venv(folder):
    """The venv's Python, or a line that says why there is none."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    stamp = folder / STAMP
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python, None
    shutil.rmtree(folder, ignore_errors=True)
    print("plots: making {} with the pinned matplotlib, once".format(folder), flush=True)
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            "--retries",
            "1",
            "--timeout",
            "15",
            "-r",
            str(REQUIREMENTS),
        ],
    ):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            what = "venv failed" if command[0] == sys.executable else "pip found no package index or no wheel"
            return None, what
    stamp.write_text(wanted)
    return python, None


def has_matplotlib(python):
    return subprocess.run([str(python), "-c", "import matplotlib"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    folder, script, arguments = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    python, problem = make_venv(folder)
    if not python:
        if not has_matplotlib(sys.executable):
            advice = (
                "sudo apt install python3-venv"
                if problem == "venv failed"
                else "sudo apt install python3-matplotlib (or connect to a package index)"
            )
            sys.exit(
                "plots: matplotlib is missing ({}, and {} has none); get it with: {}".format(
                    problem, sys.executable, advice
                )
            )
        print("plots: {}; using the matplotlib of {}".format(problem, sys.executable), flush=True)
        python = sys.executable
    return subprocess.call([str(python), script] + arguments)


if __name__ == "__main__":
    sys.exit(main())
