"""Tests of hardware_counters.py, with shell scripts for ncu and the rungs."""

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from fixture import InFolder, listing

from common.tools import hardware_counters

# Without a GPU for it: exit code 77.
RUNG = """
name=$(basename "$0")
[ -e "$0.missing" ] && { echo "$name: no usable CUDA GPU: none" >&2; exit 77; }
case "$*" in
  --list*) LISTING ;;
  gemm*--type\ bf16*--ablate*--m\ 1024*)
          printf "$name: a title\\nTest GPU, driver 1\\n\\n$name  1024x1024x1024  plain  ok\\n$name  1024x1024x1024  tiled  ok\\n"
          printf "$name  1024x1024x1024  vector  not run: n must be 1\\n" ;;
  fused_norm*--ablate*--cols\ 8192) printf "$name: a title\\n\\n$name  2048x8192  rows  ok\\n" ;;
  *) printf "$name: a title\\nTest GPU, driver 1.2\\n" ;;
esac
""".replace("LISTING", listing(gemm=["plain", "narrow", "vector", "tiled"], fused_norm=["rows"], linear=["plain"]))
HEAD = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
        "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value")


def row(*cells):
    return ",".join(f'"{cell}"' for cell in cells)


def table(*metrics):
    """What ncu prints with --csv, between what the program prints."""
    launch = ("0", "1", "42_x", "127.0.0.1", 'void gemm_kernel<C<64, 64>>(Gemm, int)', "1", "7", "(256, 1, 1)", "(64, 1, 1)",
              "0", "9.0", "Command line profiler metrics")
    return "\n".join(["==PROF== Connected to process 1", "42_x: a title", '==PROF== Profiling "gemm_kernel": 0%....100% - 9 passes',
                      "42_x  1024x1024x1024  plain  ok", "==PROF== Disconnected from process 1", row(*HEAD),
                      *(row(*launch, *metric) for metric in metrics), "==WARNING== something, after the table"])


TABLE = table(
    ("dram__bytes.sum", "Mbyte", "4.5"), ("dram__bytes_read.sum", "byte", "1,024"),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "67,108,864"),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "1,107,296,256"),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", "0"),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "0"),
    ("smsp__issue_active.avg.pct_of_peak_sustained_active", "%", "5.62"),
    ("sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", "", "(!) nan"),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "%", "nan"),
)


class Profiled(InFolder):
    def profile(self, script, *more, without_gpu=False):
        self.program("path/ncu", 'echo "$*" >&3\n' + script)
        self.write("table", TABLE)
        for name in ("42_x", "43_y"):
            self.program(name, RUNG)
        if without_gpu:
            self.write("42_x.missing", "")
        self.json = self.root / "out" / "results.jsonl"
        path = f"{self.root}/path:{os.environ['PATH']}"
        code = 0
        with mock.patch.dict(os.environ, PATH=path), redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
            try:
                hardware_counters.main(["--bin", str(self.root), "--json", str(self.json), *more, "42_x"])
            except SystemExit as stopped:
                code = 1 if isinstance(stopped.code, str) else stopped.code
                print(stopped.code)
        return code, said.getvalue()

    def records(self):
        return [json.loads(line) for line in self.json.read_text(encoding="utf-8").splitlines()]

    def test_what_is_run(self):
        code, said = self.profile(f"cat '{self.root}/table'")
        self.assertEqual(code, 0, said)
        runs = [line.split(f"{self.root}/42_x ") for line in self.log()]
        self.assertEqual([command for _, command in runs], [
            "gemm --variant plain --verify-only --reference cpu --m 1024 --n 1024 --k 1024",
            "gemm --variant tiled --verify-only --reference cpu --m 1024 --n 1024 --k 1024",
            "fused_norm --variant rows --verify-only --reference cpu --rows 2048 --cols 8192"])
        options = runs[0][0]
        self.assertIn("--csv --clock-control none --metrics l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,", options)
        self.assertIn("--kernel-name regex:^(?!fill_kernel).* --launch-count 1 ", options)

    def test_what_is_read(self):
        self.profile(f"cat '{self.root}/table'")
        first, second, norm = self.records()
        self.assertEqual(first["counters"], {
            "global_load_requests": 67108864, "global_load_sectors": 1107296256, "global_store_requests": 0,
            "global_store_sectors": 0, "dram_bytes": 4.5e6, "dram_bytes_read": 1024, "issue_active_percent": 5.62,
            "global_load_sectors_per_request": 16.5})
        about = {"record": "profile", "rung": "42_x", "problem": "gemm", "variant": "tiled", "is_rung": True, "m": 1024,
                 "n": 1024, "k": 1024, "device": "Test GPU"}
        self.assertEqual({name: second[name] for name in about}, about)
        self.assertEqual((first["is_rung"], norm["rows"]), (False, 2048))

    def test_one_problem(self):
        self.profile(f"cat '{self.root}/table'", "--problem", "fused_norm")
        self.assertEqual([record["problem"] for record in self.records()], ["fused_norm"])

    def test_no_permission(self):
        """ncu may let the program end well then, and print no table."""
        code, said = self.profile('echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"', "43_y")
        self.assertEqual(code, 1)
        self.assertIn("ERR_NVGPUCTRPERM", said)
        self.assertIn("not profiled: 43_y gemm plain, 43_y gemm tiled, 43_y fused_norm rows", said)
        self.assertEqual((len(self.log()), self.records()), (3, []))  # the other rung is not tried

    def test_one_variant_fails(self):
        code, said = self.profile(f"case \"$*\" in *plain*) echo broken; exit 1; esac; cat '{self.root}/table'")
        self.assertEqual((code, len(self.records())), (1, 2))
        self.assertIn("exit code 1\nbroken", said)
        self.assertIn("not profiled: 42_x gemm plain\n", said)

    def test_a_kernel_that_hangs(self):
        with mock.patch("common.tools.hardware_counters.LIMIT", 2):
            code, said = self.profile("sleep 60", "--problem", "fused_norm")
        self.assertEqual(code, 1)
        self.assertIn("not done after 2 s", said)

    def test_no_gpu(self):
        code, said = self.profile("", without_gpu=True)
        self.assertEqual((code, self.log()), (1, []))
        self.assertIn("42_x: 42_x: no usable CUDA GPU: none", said)
        self.assertIn("no rung can run here", said)

    def test_a_program_that_is_missing(self):
        code, said = self.profile(f"cat '{self.root}/table'", "44_z")
        self.assertEqual((code, len(self.records())), (1, 3))
        self.assertIn("not profiled: 44_z", said)

    def test_no_ncu(self):
        with mock.patch("common.tools.hardware_counters.nvidia_tool", lambda name: None), self.assertRaises(SystemExit) as stopped:
            hardware_counters.main(["--bin", str(self.root), "--json", str(self.root / "json"), "42_x"])
        self.assertIn("ncu is missing", stopped.exception.code)
