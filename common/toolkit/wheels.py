"""Makes a private CUDA Toolkit, or a part of one, of NVIDIA's wheels:
`python3 -m common.toolkit.wheels FOLDER REQUIREMENTS...`.

FOLDER becomes a venv with exactly what the requirement files name, made on the first call and after one of them changed.
A file's first line, behind the #, says what it brings and how large that is. The wheels unpack to a toolkit's own
folders, but for a few links that compilers and linkers look for: those are added. FOLDER/root.txt then says where the
toolkit is.
"""

import sys
from pathlib import Path

from common.tools.venv import make_venv


def link(at, to):
    if not at.is_symlink() and not at.exists():
        at.symlink_to(to)


def add_links(root):
    """lib64, and libNAME.so beside every libNAME.so.13."""
    link(root / "lib64", "lib")
    for library in (root / "lib").glob("lib*.so.*"):
        link(library.with_name(library.name.split(".so.")[0] + ".so"), library.name)


def main():
    folder, requirements = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    brought = [each.read_text().splitlines()[0].lstrip("# ") for each in requirements]
    announcement = "Downloading NVIDIA's wheels to {}, once: {}".format(folder, "; ".join(brought))
    _, problem = make_venv(folder, requirements, announcement, progress=True)
    if problem:
        sys.exit("no wheels: {}".format(problem))
    found = sorted({each.resolve() for each in folder.glob("lib*/python*/site-packages/nvidia/cu*")})
    if len(found) != 1:
        sys.exit("no toolkit: the wheels unpacked to {}, not to one folder".format([*map(str, found)]))
    add_links(found[0])
    (folder / "root.txt").write_text(str(found[0]))


if __name__ == "__main__":
    main()
