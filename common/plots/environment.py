"""Runs a program with a Python that has matplotlib: `python3 -m common.plots.environment FOLDER PROGRAM [ARGUMENTS...]`.

That is a venv in FOLDER with exactly requirements.txt, made on the first call and after the file changed; or, where
there is no package index, the Python this runs on, if it has a matplotlib.
"""

import subprocess
import sys
from pathlib import Path

from common.tools.venv import make_venv

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def has_matplotlib(python):
    return subprocess.run([str(python), "-c", "import matplotlib"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    folder, program, arguments = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    python, problem = make_venv(
        folder, [REQUIREMENTS], "plots: making {} with the pinned matplotlib, once".format(folder)
    )
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
    return subprocess.call([str(python), "-B", "-m", program] + arguments)


if __name__ == "__main__":
    sys.exit(main())
