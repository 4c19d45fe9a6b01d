"""All tests of common/plots: `python3 -m common.plots.tests.test_plots [VENV]`. Plain Python runs all but those that draw; a
venv is used if it is there."""

import subprocess
import sys
import unittest
from pathlib import Path

if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        venv_python = Path(sys.argv.pop(1)) / "bin" / "python"
        if venv_python.exists() and Path(sys.prefix).resolve() != venv_python.parents[1].resolve():
            sys.exit(subprocess.call([str(venv_python), "-B", "-m", "common.plots.tests.test_plots"] + sys.argv[1:]))
    unittest.main(module=None, argv=[sys.argv[0], "discover", "-s", str(Path(__file__).parent), *sys.argv[1:]])
