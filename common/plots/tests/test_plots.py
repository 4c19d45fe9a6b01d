"""All tests of common/plots. Plain Python runs all but those that draw; `test_plots.py VENV` uses that venv if there."""

import subprocess
import sys
import unittest
from pathlib import Path

from test_documents import Documents  # noqa: F401
from test_drawing import Drawing, Inside, Layouts, Timelines  # noqa: F401
from test_links import LinesThatMove, Links  # noqa: F401
from test_loading import Loading  # noqa: F401
from test_memory_ways import MemoryWays  # noqa: F401
from test_models import Charts, Models  # noqa: F401
from test_operators import Operators  # noqa: F401
from test_pages import InTurns, Pages  # noqa: F401
from test_precisions import Precisions  # noqa: F401
from test_traces import Memory, Traces  # noqa: F401
from test_values import Values  # noqa: F401

if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        venv_python = Path(sys.argv.pop(1)) / "bin" / "python"
        if venv_python.exists() and Path(sys.prefix).resolve() != venv_python.parents[1].resolve():
            sys.exit(subprocess.call([str(venv_python), "-B", __file__] + sys.argv[1:]))
    unittest.main()
