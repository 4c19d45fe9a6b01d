"""Tests of simulate.py, with a shell script for a rung."""

import io
from contextlib import redirect_stderr

from fixture import InFolder

from common.tools import simulate

NOTE = 'echo "$SIMULATOR_DEVICE $SIMULATOR_SEED $SIMULATOR_CHECKS <$SIMULATOR_SMS> $*" >&3\n'


class Simulated(InFolder):
    def simulate(self, script, *options):
        """The exit code, what is said, and (device, seed) of every run."""
        program = self.program("42_x_sim", NOTE + script)
        with redirect_stderr(io.StringIO()) as said:
            code = simulate.main([str(program), "gemm --m 3", *options])
        return code, said.getvalue(), [tuple(line.split()[:2]) for line in self.log()]

    def test_as_late_as_may_be_on_the_usual_gpu(self):
        code, _, runs = self.simulate("exit 0")
        self.assertEqual((code, runs), (0, [("h200", "0")]))
        self.assertTrue(all(line.endswith("fail <> gemm --m 3 --ablate --verify-only") for line in self.log()))

    def test_every_gpu_in_every_order(self):
        _, _, runs = self.simulate("exit 0", "--every")
        self.assertEqual(runs, [(gpu, seed) for gpu in ("a100", "l40s", "h200") for seed in "012"])

    def test_given_orders_on_small_gpus(self):
        _, _, runs = self.simulate("exit 0", "--seeds", "3,5", "--sms", "16")
        self.assertEqual(runs, [("h200", "1")])
        self.assertTrue(all(" fail <16> " in line for line in self.log()))
        self.root.joinpath("log").unlink()
        _, _, runs = self.simulate("exit 0", "--seeds", "3,5", "--every")
        self.assertEqual(runs, [(gpu, seed) for gpu in ("a100", "l40s", "h200") for seed in "35"])

    def test_a_gpu_that_the_rung_is_not_for(self):
        code, _, runs = self.simulate('[ "$SIMULATOR_DEVICE" = h200 ] || exit 77', "--every")
        self.assertEqual((code, runs[2:]), (0, [("h200", "0"), ("h200", "1"), ("h200", "2")]))

    def test_a_rung_for_the_fourth_alone(self):
        script = '[ "$SIMULATOR_DEVICE" = b200 ] || exit 77'
        for options, seeds in (((), "0"), (("--every",), "012345")):
            code, _, runs = self.simulate(script, *options)
            self.assertEqual((code, [seed for gpu, seed in runs if gpu == "b200"]), (0, list(seeds)))
            self.root.joinpath("log").unlink()

    def test_what_fails(self):
        code, said, runs = self.simulate('[ "$SIMULATOR_SEED" = 1 ] && exit 3; exit 0', "--every", "--sms", "8")
        self.assertEqual((code, runs[-1]), (1, ("a100", "1")))
        self.assertIn("exit code 3 with SIMULATOR_DEVICE=a100 SIMULATOR_SEED=1 SIMULATOR_SMS=8", said)
        code, said, _ = self.simulate("exit 77")
        self.assertEqual(code, 1)
        self.assertIn("no simulated GPU runs this rung", said)
