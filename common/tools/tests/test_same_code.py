"""Tests of same_code.py, with a script that prints what cuobjdump would."""

import io
from contextlib import redirect_stderr, redirect_stdout

from fixture import InFolder

from common.tools import same_code

SASS = """
		Function : NAME
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   MOV R1, c[0x0][0x28] ;           /* 0x00000a00ff017b82 */
                                                                    /* 0x000fc00000000800 */
        /*0010*/                   CALL.REL.NOINC `($NAME$callee) ;  /* 0x0 */
        /*0020*/                   FADD R2, R2, NUMBER ;            /* 0x0 */
"""


class SameCode(InFolder):
    def setUp(self):
        super().setUp()
        self.cuobjdump = self.program("cuobjdump", 'cat "$2"')

    def object(self, name, **kernels):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(SASS.replace("NAME", kernel).replace("NUMBER", number) for kernel, number in kernels.items()))
        return file

    def run_it(self, *arguments):
        out = io.StringIO()
        with redirect_stdout(out):
            code = same_code.main(["--cuobjdump", str(self.cuobjdump), *map(str, arguments)])
        return code, out.getvalue()

    def test_names_do_not_count(self):
        old, new = self.object("old.cu.o", a="1", b="2"), self.object("new.cu.o", other="2")
        self.assertEqual(self.run_it(old, "--", new), (0, "1 of 1 kernels have the code of one of the old build\n"))

    def test_an_instruction_counts(self):
        old, new = self.object("old.cu.o", a="1"), self.object("new.cu.o", a="1", b="3")
        code, text = self.run_it(old, "--", new)
        self.assertEqual(code, 1)
        self.assertIn("new.cu.o: b\n1 of 2 kernels", text)

    def test_folders(self):
        self.object("old/sub/x.cu.o", a="1"), self.object("old/y.cu.o", b="2")
        self.assertEqual(self.run_it(self.root / "old", "--", self.object("new.cu.o", c="1", d="2"))[0], 0)

    def test_nothing_is_not_the_same(self):
        old = self.object("old.cu.o", a="1")
        with redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(self.run_it(old, "--", self.object("new.cu.o"))[0], 1)
        self.assertIn("no machine code", errors.getvalue())
        with self.assertRaises(SystemExit), redirect_stderr(io.StringIO()):
            self.run_it(old)
