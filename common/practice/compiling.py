"""The learner's file as PTX, and which files of the course the compiler read for it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from pathlib import Path

from common.practice.exercise import ROOT, Exercise, read_text
from common.practice.runs import Tools, scratch

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def ptx_file(exercise: Exercise, source: Path) -> Path:
    """Where the PTX of the source as it stands now is kept."""
    key = hashlib.sha256(f"{source}\n{exercise.path}\n{read_text(source)}".encode()).hexdigest()
    return scratch() / f"{key[:16]}.ptx"


def compile_ptx(tools: Tools, exercise: Exercise, source: Path) -> tuple:
    """The kernels' PTX, and the compiler's errors, with the learner's file by its own name. The same text is compiled once."""
    ptx = ptx_file(exercise, source)
    if ptx.exists():
        return ptx, ""
    errors = compiled(tools, exercise, source, ptx)
    if errors:
        ptx.unlink(missing_ok=True)
    return ptx, errors


def compiled(tools: Tools, exercise: Exercise, source: Path, ptx: Path) -> str:
    arch = tools.archs[exercise.rung]
    with tempfile.TemporaryDirectory() as folder:
        overlay, kept = Path(folder) / "overlay", Path(folder) / "kept"
        kept.mkdir()
        unit, where = source, []
        if "compile" in exercise.fields:  # a header: found before the rung's own
            place = overlay / exercise.fields["file"]
            place.parent.mkdir(parents=True)
            place.symlink_to(source.resolve())
            unit, where = ROOT / exercise.fields["compile"], ["-I", str(overlay)]
        command = [tools.nvcc, "-std=c++20", "-ptx", f"-arch=compute_{arch}", "-lineinfo", *where, "-I", str(ROOT)]
        command += ["-keep", "-keep-dir", str(kept), "-o", str(ptx), str(unit)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        read_files(ptx).write_text("\n".join(files_in(*kept.glob("*.ii"))), encoding="utf-8")
        if done.returncode != 0:
            said = (done.stderr + done.stdout).replace(f"{overlay}/{exercise.fields['file']}", str(source)).replace(f"{ROOT}/", "")
            return "\n".join(said.splitlines()[:20])
        ptx.write_text(ptx.read_text().replace(f"{overlay}/{exercise.fields['file']}", str(source)))
    return ""


def read_files(ptx: Path) -> Path:
    """The list of the files that were read to make this PTX."""
    return ptx.with_suffix(".files")


def files_in(*preprocessed: Path) -> list:
    """Those that the compiler's preprocessor opened, however they were named: it marks where each begins."""
    marks = set()
    for file in preprocessed:
        marks.update(re.findall(r'^# \d+ "([^"<]+)"', file.read_text(encoding="utf-8", errors="replace"), re.MULTILINE))
    return sorted(marks)


def foreign_files(tools: Tools, exercise: Exercise, source: Path, ptx: Path) -> list:
    """Files of the course that the learner's file has been given and the rung's own does not read: the solution among them
    would solve everything."""
    if not read_files(ptx).exists():  # it was not compiled here
        return []
    # A toolkit of CMake's lies in the build folder.
    others, course = [ROOT / "practice", source.resolve().parent, (tools.build / "toolkit").resolve()], set()
    for name in read_files(ptx).read_text(encoding="utf-8").splitlines():
        file = Path(name).resolve()
        if file.is_relative_to(ROOT) and not any(file.is_relative_to(folder) for folder in others):
            course.add(str(file.relative_to(ROOT)))
    return sorted(course - files_of_rung(exercise))


def files_of_rung(exercise: Exercise) -> set:
    """What is compiled, without the file that the learner writes, and all that these include."""
    written = exercise.fields["file"]
    left, found = [exercise.fields.get("compile", written)], set()
    while left:
        name = left.pop()
        if name in found or not (ROOT / name).is_file():
            continue
        found.add(name)
        left += INCLUDE.findall((ROOT / name).read_text(encoding="utf-8"))
    return found - {written}
