"""The rungs' programs in a build's bin/: which there are, which problems each has, and how they are run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CANNOT_RUN, REFUSED = 77, 2  # exit codes of a rung: no GPU for it; a shape or a type that it does not take


def rungs(root: Path = ROOT) -> list:
    """Their names, from the first to the last."""
    return sorted(folder.name for folder in root.glob("[0-9][0-9]_*") if folder.is_dir())


def problems(program: Path) -> list:
    """What the rung solves, as its --list says, each once and in that order."""
    done = subprocess.run([program, "--list"], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{program} --list: exit code {done.returncode}: {(done.stdout + done.stderr).strip()}")
    return list(dict.fromkeys(line.split()[0] for line in done.stdout.splitlines() if line.strip()))


def plain_environment(**variables: str) -> dict:
    """This process's environment with these variables, and no other SIMULATOR_… of the user's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    return kept | variables


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
