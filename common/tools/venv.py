"""A venv of pinned packages, made when it is missing or its requirements have changed."""

import hashlib
import os
import shutil
import subprocess
import sys

STAMP = "requirements.sha256"


def make_venv(folder, requirements, announcement, progress=False):
    """The Python of the venv in `folder`, with the wheels that these files name, and None; or None and why there is none.

    `announcement` is printed where one has to be made; `progress` shows pip's own lines, too.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = hashlib.sha256(b"".join(each.read_bytes() for each in requirements)).hexdigest()
    stamp = folder / STAMP
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python, None
    shutil.rmtree(folder, ignore_errors=True)
    print(announcement, flush=True)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--only-binary", ":all:"]
    pip += ["--retries", "1", "--timeout", "15"] + ([] if progress else ["--quiet"])
    for each in requirements:
        pip += ["-r", str(each)]
    for command in ([sys.executable, "-m", "venv", str(folder)], pip):
        shown = None if progress and command is pip else subprocess.PIPE
        done = subprocess.run(command, stdout=shown, stderr=shown and subprocess.STDOUT)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            return None, "pip found no package index or no wheel" if command is pip else "venv failed"
    stamp.write_text(wanted)
    return python, None
