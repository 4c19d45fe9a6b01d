"""The rungs' programs in a build's bin/: which there are, which problems each has, and how they are run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CANNOT_RUN, REFUSED = 77, 2  # exit codes of a rung: no GPU for it; a shape or a type that it does not take


def rungs(root: Path = ROOT) -> list:
    """Their names, from the first to the last."""
    return sorted(folder.name for folder in root.glob("[0-9][0-9]_*") if folder.is_dir())


BESIDE = ("every_shape", "every_shape_blackwell")  # programs with a rung's arguments that are no rungs


def listed(program: Path) -> dict:
    """What the program says of each problem that its rung has (--list --json), by name, in that order."""
    done = subprocess.run([program, "--list", "--json", "-"], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{program} --list: exit code {done.returncode}: {(done.stdout + done.stderr).strip()}")
    try:
        records = [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError:
        raise OSError(f"{program} --list --json -: no JSON: is it of an older revision?") from None
    return {record["problem"]: record for record in records}


def problems(program: Path) -> list:
    """What the rung solves."""
    return list(listed(program))


class CannotRun(Exception):
    """This machine cannot run the rung, and why."""


def device_of(program: Path) -> str:
    """The GPU that it runs on, from the second line that it prints: "NVIDIA H200, driver …"."""
    # A shape that every rung takes. Without a GPU for the rung nothing is launched.
    command = [program, "gemm", "--size", "8", "--verify-only", "--reference", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == CANNOT_RUN:
        raise CannotRun((done.stderr.strip().splitlines() or ["no usable GPU"])[-1])
    if done.returncode:
        raise OSError(f"{program}: exit code {done.returncode}: {(done.stdout + done.stderr).strip()}")
    return done.stdout.splitlines()[1].split(", driver ")[0]


def run_for(seconds: float, command: list, **options) -> subprocess.CompletedProcess:
    """Runs a command, and ends it after this many seconds with all that it started: the target of a profiler, too, which
    would otherwise stay on the GPU. What it printed until then is in the exception."""
    with subprocess.Popen(command, text=True, errors="replace", start_new_session=True, **options) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException:  # Ctrl-C as well, which does not reach another session
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def nvidia_tool(name: str) -> str | None:
    """Where a program of the CUDA Toolkit is: on the PATH or where the toolkit is installed by default."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def plain_environment(**variables: str) -> dict:
    """This process's environment with these variables, and no other SIMULATOR_… of the user's. A slow run does not
    say how far it is among what is compared."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    return kept | {"SIMULATOR_HEARTBEAT": "0"} | variables


def revision(root: Path = ROOT) -> str:
    """The git revision as common/harness/revision.cmake writes it into the programs; "…-dirty" where files are changed."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    # The sources' own repository, not one that they were unpacked into.
    own = git("rev-parse", "--show-prefix") == ""
    return (own and git("describe", "--always", "--dirty", "--abbrev=10")) or "unknown"
