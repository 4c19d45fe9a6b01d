"""Tests of values.py: figures in sentences."""

from common.plots.figures import figure, percent
from common.plots.pages.values import FORMS, evaluate
from common.plots.records.error import ResultError
from common.plots.tests.fixture import EVERYTHING, InFolder


class Values(InFolder):
    def setUp(self):
        super().setUp()
        self.results = self.load(EVERYTHING)

    def value(self, text):
        return evaluate(self.results, text)

    def test_figures(self):
        self.assertEqual(
            [figure(v) for v in (0.00123, 0.9999, 9.994, 12.34, 99.96, 4295.4, 3)],
            ["0.00123", "1.00", "9.99", "12.3", "100", "4295", "3"],
        )
        self.assertEqual([percent(v) for v in (0.000449, 0.9134, 1.02)], ["0.045 %", "91.3 %", "102.0 %"])

    def test_expressions(self):
        cube = "4096x4096x4096"
        for text, expected in (
            (f'tflops("01_coalesced", "gemm", "{cube}")', "6.87"),
            (f'tflops("01_coalesced:plain", "gemm", "{cube}")', "5.50"),
            (f"tflops('01_coalesced', 'gemm',\n  shape='{cube}')", "6.87"),
            ('gbps("01_coalesced", "fused_norm", "16384x8192")', "2684"),
            (f'us("01_coalesced", "gemm", "{cube}")', "20000"),
            (f'ratio("01_coalesced", "gemm", "{cube}")', "0.00800"),
            (f'ratio("01_coalesced", "gemm", "{cube}", baseline="cublasGemmEx")', "0.0100"),
            (f'percent(ratio("01_coalesced", "gemm", "{cube}", baseline="best"))', "0.80 %"),
            ('ratio("01_coalesced", "fused_norm", "16384x8192", baseline="copy")', "0.650"),
            (f'baseline("01_coalesced", "gemm", "{cube}")', "859"),
            (f'speedup("01_coalesced", "00_naive", "gemm", "{cube}")', "20.0"),
            (f'speedup("01_coalesced", "01_coalesced:plain", "gemm", "{cube}")', "1.25"),
            ('tflops("08_warp_specialized", "norm_gemm", "8192x4096x4096")', "550"),
            ('ratio("08_warp_specialized", "norm_gemm", "8192x4096x4096")', "1.25"),
            ('us("08_warp_specialized", "norm_gemm", "128x4096x4096", launches="graph")', "28.0"),
            ('us("08_warp_specialized", "grouped_gemm", "8x1000x2048x4096")', "100"),
            ('tflops("08_warp_specialized", "grouped_gemm", "8x1000x2048x4096")', "168"),
            ('ratio("08_warp_specialized", "grouped_gemm", "8x1000x2048x4096")', "2.00"),
            ('us("08_warp_specialized:one_kernel", "norm_gemm", "128x4096x4096", launches="stream")', "30.0"),
            (f'field("01_coalesced:coalesced", "gemm", "{cube}", "relative_error", outlier=28672)', "0.0600"),
            (f'us("01_coalesced@bf16", "gemm", "{cube}")', "25000"),
            (f'speedup("01_coalesced", "01_coalesced@bf16", "gemm", "{cube}")', "1.25"),
            (f'cutlass("sm90", "gemm", "{cube}")', "0.800"),
            (f'cutlass("sm90", "gemm", "{cube}", what="name")', "`sm90_small`"),
            (f'percent(cutlass("sm80", "gemm", "{cube}"))', "40.0 %"),
            (f'if_recorded(cutlass("sm100", "gemm", "{cube}"))', "not recorded yet"),
            (f'if_recorded(quotient(ratio("01_coalesced", "gemm", "{cube}"), cutlass("sm80", "gemm", "{cube}")))', "0.0200"),
            ('roof("copy")', "4000"),
            (f'of_roof("01_coalesced", "gemm", "{cube}", "fp32_fma")', "0.115"),
            (f'field("00_naive", "gemm", "{cube}", "sm_clock_mhz")', "1500"),
            ('counter("00_naive", "gemm", "256x256x256", "global_load.sectors_per_request")', "32.0"),
            (f'power("01_coalesced", "gemm", "{cube}", "tflops")', "6.87"),
            (f'power("01_coalesced@zeros", "gemm", "{cube}", "sm_clock_mhz")', "1875"),
            (f'power("01_coalesced/cublasGemmEx", "gemm", "{cube}", "per_clock")', "458"),
            (f'power("01_coalesced:coalesced", "gemm", "{cube}", "pj")', "102"),
            (f'power("01_coalesced", "gemm", "{cube}", "mj")', "14000"),
            (f'power("01_coalesced", "gemm", "{cube}", "pj_above_idle")', "82.9"),
            (f'power("01_coalesced", "gemm", "{cube}", "watts")', "700"),
            (f'alone("01_coalesced@zeros", "01_coalesced", "gemm", "{cube}")', "1.11"),
            ('ridge("fp32_fma", "copy")', "15.0"),
            (f'quotient(tflops("01_coalesced", "gemm", "{cube}"), tflops("00_naive", "gemm", "{cube}"))', "20.0"),
            ('quotient(roof("bf16_mma_sync"), roof("fp32_fma"))', "10.0"),
            (f'percent(quotient(us("01_coalesced", "gemm", "{cube}"), us("01_coalesced:plain", "gemm", "{cube}")))', "80.0 %"),
            (f'quotient(power("01_coalesced/cublasGemmEx", "gemm", "{cube}", "mj"), power("01_coalesced", "gemm", "{cube}", "mj"))', "1.00"),
            (
                'difference(us("08_warp_specialized", "norm_gemm", "128x4096x4096", launches="stream"),'
                ' us("08_warp_specialized", "norm_gemm", "128x4096x4096", launches="graph"))',
                "2.00",
            ),
            (f'if_recorded(tflops("01_coalesced", "gemm", "{cube}"))', "6.87"),
            (f'if_recorded(percent(ratio("01_coalesced", "gemm", "{cube}", baseline="cublasGemmEx")))', "1.0 %"),
            ('if_recorded(tflops("01_coalesced", "gemm", "4095x4095x4095"))', "not recorded yet"),
            ('if_recorded(percent(us("01_coalesced:any_n_k", "gemm", "4095x4095x4095")))', "not recorded yet"),
            (
                f'if_recorded(quotient(baseline("00_naive", "gemm", "4095x4095x4095"), baseline("00_naive", "gemm", "{cube}")))',
                "not recorded yet",
            ),
            ('if_recorded(quotient(roof("bf16_sparse_wgmma"), roof("copy")))', "not recorded yet"),
            ("device()", "Test GPU, CUDA 13.0, driver 1.2, cuBLAS 13.1"),
        ):
            self.assertEqual(self.value(text), expected, text)

    def test_what_is_not_there_is_an_error(self):
        cube = '"gemm", "4096x4096x4096"'
        for text, words in (
            (f'tflops("05_mma_sync", {cube})', "no record of 05_mma_sync gemm 4096x4096x4096"),
            (f'tflops("00_naive:best", {cube})', "no record of 00_naive:best"),
            ('tflops("00_naive", "gemm", "1x2x3")', "no record of 00_naive gemm 1x2x3"),
            ('tflops("00_naive", "gem", "4096")', "unknown problem 'gem'"),
            ('tflops("00_naive", "fused_norm", "16384x8192")', "the figures of fused_norm are in GB/s"),
            ('gbps("08_warp_specialized", "norm_gemm", "8192x4096x4096")', "the figures of norm_gemm are in TFLOPS"),
            ('us("08_warp_specialized", "norm_gemm", "128x4096x4096")', "no record"),
            ('us("08_warp_specialized", "norm_gemm", "8192x4096x4096", launches="graph")', "no record"),
            (f'us("01_coalesced:coalesced", {cube}, outlier=1000)', "no record"),
            (f'us("01_coalesced@s8", {cube})', "no record"),
            (f'us("01_coalesced:plain@bf16", {cube})', "no record"),
            ('us("01_coalesced@bf16", "norm_gemm", "4096x4096x4096")', "no record"),
            (f'us("01_coalesced", {cube}, device="H100")', "no record of one device 'H100'"),
            (f'cutlass("sm100", {cube})', "no record of CUTLASS's sm100"),
            (f'cutlass("sm80", {cube}, what="colour")', "'ratio' or 'name', not 'colour'"),
            (f'ratio("00_naive", {cube}, baseline="mkl")', "no baseline 'mkl'"),
            (f'noise("00_naive", {cube})', "no field 'noise'"),
            (f'power("01_coalesced@ones", {cube}, "tflops")', "no power record"),
            (f'power("00_naive", {cube}, "tflops")', "no power record"),
            (f'power("01_coalesced", {cube}, "mood")', "no figure 'mood'"),
            (f'alone("01_coalesced", "00_naive", {cube})', "no power record"),
            ('roof("dome")', "no record of roof 'dome'"),
            ('of_roof("00_naive", "fused_norm", "16384x8192", "fp32_fma")', "the roof 'fp32_fma' is in TFLOPS"),
            (f'field("00_naive", {cube}, "mood")', "no field 'mood'"),
            ('counter("00_naive", "gemm", "256x256x256", "stalls")', "no counter 'stalls'"),
            ('ridge("copy", "fp32_fma")', "a ridge is between TFLOPS and GB/s"),
            ('quotient(roof("copy"), roof("dome"))', "no record of roof 'dome'"),
            ('quotient(roof("copy"), counter("00_naive", "gemm", "512x512x512", "shared_store_requests"))', "divides by 0"),
            (f'if_recorded(tflops("05_mma_sync", {cube}))', "no record"),
            (f'if_recorded(ratio("00_naive", {cube}, baseline="mkl"))', "no baseline 'mkl'"),
            (f'if_recorded(field("00_naive", {cube}, "mood"))', "no field 'mood'"),
        ):
            with self.assertRaises(ResultError, msg=text) as raised:
                self.value(text)
            self.assertIn(words, str(raised.exception), text)

    def test_what_is_no_call_is_an_error_of_one_line(self):
        cube = '"gemm", "4096x4096x4096"'
        for text, words in (
            ("", "is no call"),
            ("tflops 00_naive gemm", "is no call: invalid"),
            ("tflops(\n", "is no call: "),
            ("tflops", "'tflops' is no call"),
            ("1 + 1", "'1 + 1' is no call"),
            ('speed("00_naive")', "no function 'speed'; there are: tflops, gbps,"),
            ('tflops("00_naive")', "missing a required argument: 'problem'"),
            (f'tflops("00_naive", {cube}, "oops")', "too many positional arguments"),
            ('roof("copy", colour="red")', "unexpected keyword argument 'colour'"),
            (f'tflops("00_naive", {cube}, colour="red")', "what does colour mean?"),
            ('tflops("00_naive", "gemm", 4096)', "shape is 4096, not a text"),
            ('quotient("a", roof("copy"))', "first is 'a', not a number"),
            ('quotient(device(), roof("copy"))', "not a number"),
            ("roof(name)", "'name' is neither a text, nor a number, nor a call"),
            ('roof("co" + "py")', "is neither a text, nor a number, nor a call"),
            ('roof(f"{1}")', "is neither"),
            ("roof(True)", "'True' is neither"),
            ('roof(*["copy"])', "write its arguments out"),
            ('roof(**{"name": "copy"})', "write its arguments out"),
            ('roof.__class__("copy")', "is no call"),
            ('__import__("os")', "no function '__import__'"),
            ('(lambda: 1)()', "is no call"),
            ('roof("copy"); device()', "is no call"),
            ("if_recorded()", "missing a required argument"),
            ("roof(" * 2000, "is no call"),
        ):
            with self.assertRaises(ResultError, msg=text) as raised:
                self.value(text)
            self.assertIn(words, str(raised.exception), text)
            self.assertNotIn("\n", str(raised.exception), text)

    def test_every_form_is_described(self):
        self.assertEqual([name for name, function in FORMS.items() if not function.__doc__], [])
