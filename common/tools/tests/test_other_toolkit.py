"""Tests of other_toolkit.py, with shell scripts for nvcc, the host's compiler and the programs that nvcc makes."""

import io
import json
import os
from contextlib import redirect_stdout
from unittest import mock

from fixture import InFolder

from common.tools import other_toolkit

MAKES = """while [ "$1" != -o ]; do shift; done
program=$2
echo "compiled $*" >&3
printf '#!/bin/sh\\necho "%s $*" >> {log}\\n{script}\\n' "${{program##*/}}" > "$program"
chmod +x "$program"
"""


class OtherToolkit(InFolder):
    def run_it(self, program="exit 0", compiler="exit 0", nvcc=""):
        self.write("build/practice/settings.json", json.dumps({"archs": {"04_cp_async": "80"}}))
        self.write("build/04_cp_async/practice/gemm.cc", "Variants<Gemm> ablations();")
        self.write("build/04_cp_async/practice/fused_norm.cc", "")
        (self.root / "toolkit/bin").mkdir(parents=True, exist_ok=True)
        self.program("toolkit/bin/nvcc", nvcc + "\n" + MAKES.format(log=self.root / "log", script=program))
        self.program("c++", f'echo "read $*" >&3; {compiler}')
        with mock.patch.dict(os.environ, CXX=str(self.root / "c++")), redirect_stdout(io.StringIO()) as said:
            code = other_toolkit.main([str(self.root / "toolkit"), str(self.root / "build")])
        return code, said.getvalue()

    def test_kernels_are_compiled_and_run_and_the_simulator_is_read(self):
        code, said = self.run_it()
        self.assertEqual(code, 0, said)
        log = self.log()
        for problem in other_toolkit.PROBLEMS:
            self.assertIn(f"04_cp_async_{problem} {problem} --verify-only", log)
        (gemm,) = [line for line in log if line.startswith("compiled") and "04_cp_async/gemm.cu" in line]
        self.assertIn("04_cp_async/ablations/bf16_tiles.cu", gemm)
        for file in ("driver/context_api.cc", "context/registration.cc"):
            self.assertTrue(any(line.startswith("read") and line.endswith(file) for line in log), file)
        self.assertFalse(any("/tests/" in line for line in log if line.startswith("read")))

    def test_a_kernel_that_is_wrong(self):
        code, said = self.run_it(program="echo WRONG; exit 1")
        self.assertEqual((code, said.count("WRONG")), (1, 2))

    def test_a_kernel_that_does_not_compile(self):
        code, said = self.run_it(nvcc="echo no such flag >&2; exit 1")
        self.assertEqual((code, said.count("no such flag")), (1, 2))

    def test_a_header_that_changed(self):
        code, said = self.run_it(compiler='case "$*" in *context_api.cc) echo unknown enumerator; exit 1; esac')
        self.assertEqual((code, said.count("unknown enumerator")), (1, 1))
