"""Tests of values.py: figures in sentences."""

from common.plots.figures import figure, percent
from common.plots.pages.values import evaluate
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
            (f"tflops 01_coalesced gemm {cube}", "6.87"),
            (f"tflops 01_coalesced:plain gemm {cube}", "5.50"),
            (f"tflops 01_coalesced gemm {cube} variant=plain", "5.50"),
            ("gbps 01_coalesced fused_norm 16384x8192", "2684"),
            (f"us 01_coalesced gemm {cube}", "20000"),
            (f"ratio 01_coalesced gemm {cube}", "0.00800"),
            (f"ratio 01_coalesced gemm {cube} baseline=cublasGemmEx", "0.0100"),
            (f"ratio 01_coalesced gemm {cube} baseline=best as=percent", "0.80 %"),
            ("ratio 01_coalesced fused_norm 16384x8192 baseline=copy", "0.650"),
            (f"baseline 01_coalesced gemm {cube}", "859"),
            (f"speedup 01_coalesced 00_naive gemm {cube}", "20.0"),
            (f"speedup 01_coalesced 01_coalesced:plain gemm {cube}", "1.25"),
            ("tflops 08_warp_specialized norm_gemm 8192x4096x4096", "550"),
            ("ratio 08_warp_specialized norm_gemm 8192x4096x4096", "1.25"),
            ("us 08_warp_specialized norm_gemm 128x4096x4096 launches=graph", "28.0"),
            ("us 08_warp_specialized grouped_gemm 8x1000x2048x4096", "100"),
            ("tflops 08_warp_specialized grouped_gemm 8x1000x2048x4096", "168"),
            ("ratio 08_warp_specialized grouped_gemm 8x1000x2048x4096", "2.00"),
            ("us 08_warp_specialized:one_kernel norm_gemm 128x4096x4096 launches=stream", "30.0"),
            (f"field 01_coalesced:coalesced gemm {cube} relative_error outlier=28672", "0.0600"),
            (f"us 01_coalesced@bf16 gemm {cube}", "25000"),
            (f"speedup 01_coalesced 01_coalesced@bf16 gemm {cube}", "1.25"),
            (f"cutlass sm90 gemm {cube}", "0.800"),
            (f"cutlass sm90 gemm {cube} what=name", "`sm90_small`"),
            (f"cutlass sm80 gemm {cube} as=percent", "40.0 %"),
            (f"if_recorded cutlass sm100 gemm {cube}", "not recorded yet"),
            (f"if_recorded quotient ratio 01_coalesced gemm {cube} / cutlass sm80 gemm {cube}", "0.0200"),
            ("roof copy", "4000"),
            (f"of_roof 01_coalesced gemm {cube} fp32_fma", "0.115"),
            (f"field 00_naive gemm {cube} sm_clock_mhz", "1500"),
            ("counter 00_naive gemm 256x256x256 global_load.sectors_per_request", "32.0"),
            (f"power 01_coalesced gemm {cube} tflops", "6.87"),
            (f"power 01_coalesced@zeros gemm {cube} sm_clock_mhz", "1875"),
            (f"power 01_coalesced/cublasGemmEx gemm {cube} per_clock", "458"),
            (f"power 01_coalesced:coalesced gemm {cube} pj", "102"),
            (f"power 01_coalesced gemm {cube} mj", "14000"),
            (f"power 01_coalesced gemm {cube} pj_above_idle", "82.9"),
            (f"power 01_coalesced gemm {cube} watts", "700"),
            (f"alone 01_coalesced@zeros 01_coalesced gemm {cube}", "1.11"),
            ("ridge fp32_fma copy", "15.0"),
            (f"quotient tflops 01_coalesced gemm {cube} / tflops 00_naive gemm {cube}", "20.0"),
            ("quotient roof bf16_mma_sync / roof fp32_fma", "10.0"),
            (f"quotient us 01_coalesced gemm {cube} / us 01_coalesced gemm {cube} variant=plain as=percent", "80.0 %"),
            (f"quotient power 01_coalesced/cublasGemmEx gemm {cube} mj / power 01_coalesced gemm {cube} mj", "1.00"),
            (
                "difference us 08_warp_specialized norm_gemm 128x4096x4096 launches=stream"
                " - us 08_warp_specialized norm_gemm 128x4096x4096 launches=graph",
                "2.00",
            ),
            (f"if_recorded tflops 01_coalesced gemm {cube}", "6.87"),
            (f"if_recorded ratio 01_coalesced gemm {cube} baseline=cublasGemmEx as=percent", "1.0 %"),
            ("if_recorded tflops 01_coalesced gemm 4095x4095x4095", "not recorded yet"),
            ("if_recorded us 01_coalesced:any_n_k gemm 4095x4095x4095 as=percent", "not recorded yet"),
            (
                f"if_recorded quotient baseline 00_naive gemm 4095x4095x4095 / baseline 00_naive gemm {cube}",
                "not recorded yet",
            ),
            ("if_recorded quotient roof bf16_sparse_wgmma / roof copy", "not recorded yet"),
            ("device", "Test GPU, CUDA 13.0, driver 1.2, cuBLAS 13.1"),
        ):
            self.assertEqual(self.value(text), expected, text)

    def test_what_cannot_be_answered_is_an_error(self):
        cube = "4096x4096x4096"
        for text in (
            "",
            "speed 00_naive",
            "tflops",
            "tflops 00_naive",
            f"tflops 05_mma_sync gemm {cube}",
            f"tflops 00_naive:best gemm {cube}",
            "tflops 00_naive fused_norm 16384x8192",
            "gbps 08_warp_specialized norm_gemm 8192x4096x4096",
            "us 08_warp_specialized norm_gemm 128x4096x4096",
            "us 08_warp_specialized norm_gemm 8192x4096x4096 launches=graph",
            f"us 01_coalesced:coalesced gemm {cube} outlier=1000",
            f"us 01_coalesced@s8 gemm {cube}",
            f"us 01_coalesced:plain@bf16 gemm {cube}",
            f"us 01_coalesced@bf16 norm_gemm {cube}",
            f"cutlass sm100 gemm {cube}",
            f"cutlass sm80 gemm {cube} what=colour",
            f"tflops 00_naive gem {cube}",
            "tflops 00_naive gemm 1x2x3",
            f"ratio 00_naive gemm {cube} baseline=mkl",
            f"ratio 00_naive gemm {cube} oops",
            f"ratio 00_naive gemm {cube} colour=red",
            f"ratio 00_naive gemm {cube} as=roman",
            f"power 01_coalesced@ones gemm {cube} tflops",
            f"power 00_naive gemm {cube} tflops",
            f"power 01_coalesced gemm {cube} mood",
            f"alone 01_coalesced 00_naive gemm {cube}",
            "roof dome",
            "of_roof 00_naive fused_norm 16384x8192 fp32_fma",
            f"field 00_naive gemm {cube} mood",
            "counter 00_naive gemm 256x256x256 stalls",
            "ridge copy fp32_fma",
            "ridge fp32_fma",
            "quotient roof copy",
            "quotient roof copy / roof dome",
            "quotient roof copy /roof copy",
            "quotient roof copy / counter 00_naive gemm 512x512x512 shared_store_requests",
            "quotient device / roof copy",
            "difference roof copy / roof copy",
            "if_recorded",
            f"if_recorded tflops 05_mma_sync gemm {cube}",
            f"if_recorded ratio 00_naive gemm {cube} baseline=mkl",
            f"if_recorded field 00_naive gemm {cube} mood",
        ):
            with self.assertRaises(ResultError, msg=text):
                self.value(text)
