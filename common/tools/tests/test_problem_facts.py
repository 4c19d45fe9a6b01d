"""Tests of problem_facts.py, with a script that lists problems."""

import io
import json
from contextlib import redirect_stderr

from fixture import InFolder

from common.tools import problem_facts

LISTED = {"record": "problem", "rung": "x", "problem": "gemm", "what": "C = A B", "dimensions": ["m", "n", "k"], "runs_unnamed": True}
LISTED |= {"score": "tflops", "unit": "TFLOPS", "baseline": "cuBLAS", "default_shape": {"gpu": "8x8x8", "simulator": "8x8x8"}, "variants": []}


class ProblemFacts(InFolder):
    def run_it(self, listed, *arguments):
        program = self.program("x_sim", f"echo '{json.dumps(listed)}'")
        with redirect_stderr(io.StringIO()):
            return problem_facts.main([str(program), "--file", str(self.root / "problems.json"), *arguments])

    def test_is_written_and_checked(self):
        self.assertEqual(self.run_it(LISTED), 0)
        facts = json.loads((self.root / "problems.json").read_text())
        self.assertEqual(facts["gemm"]["unit"], "TFLOPS")
        self.assertNotIn("variants", facts["gemm"])
        self.assertEqual(self.run_it(LISTED, "--check"), 0)
        self.assertEqual(self.run_it(LISTED | {"baseline": "another"}, "--check"), 1)
