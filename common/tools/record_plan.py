"""What `record` measures on a GPU: groups of command lines, in the order in which they run. All write into one file; where
a measurement stands in it twice, the plots take the last: that of --ablate, each variant in turns with the rung.

"{a,b c}" stands for "a" and then "b c", two of them in a line for every pair, and ";" within for a comma. EVERY at the start of a line stands for each
rung, FROM_03 for each from that one on, NORM_GEMM for each that has this problem.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

# Seconds of a command on an H200, beside those of --power, which says so itself. A whole record took 45 minutes there and
# wrote 890 lines, 3 s for each: the timing itself, references, checks, and cublasLt's algorithms. Lines are what
# docs/results/h200.jsonl has of such a command. Only for the first estimate: each record writes how long its groups took.
PER_LINE = 3.0
LINES = {"--sweep models": 200, "--sweep": 12, "--ablate": 7}
SOAK = 20.0


class Group(NamedTuple):
    name: str
    what: str
    lines: tuple
    may_refuse: bool = False  # a type that the card lacks: the program says why, with exit code 2


def mnk(*shapes: str) -> str:
    """ "1x8x8" → "--m 1 --n 8 --k 8", as alternatives."""
    return "{" + ",".join("--m {} --n {} --k {}".format(*shape.split("x")) for shape in shapes) + "}"


RUNG_05, RUNG_06, RUNG_07, RUNG_08 = "05_mma_sync", "06_swizzle_ldmatrix", "07_wgmma_tma", "08_warp_specialized"
EVERY_SHAPE = "every_shape"
# Shapes that a sweep of cubes leaves out, some with few tiles and a long k.
SHAPES = mnk(
    *("6144x6144x6144", "16384x16384x16384", "4096x14336x4096", "8192x1024x8192", "128x8192x8192", "128x128x16384"),
    *("256x256x8192", "512x512x4096", "1024x1024x4096", "1024x2048x8192", "3072x3072x3072"),
)
# Of the norm: every kind of row that every_width tells apart, and at least 256 MB in each.
WIDTHS = ",".join(
    f"--rows {(1 << 27) // 4 // cols + 1} --cols {cols}"
    for cols in (8, 24, 56, 64, 100, 128, 250, 257, 264, 300, 401, 512, 1000, 1001, 1024, 2048, 4096, 4097, 8191)
    + (12001, 12296, 12889, 16384, 16385, 30001, 32768, 32776, 50001, 65544, 100000, 100001, 131072, 131073, 131080)
    + (200000, 230001, 262144, 262145, 400000, 524288, 700001, 1048576)
)
# The norms that the course names, and 1 GB of some widths.
LARGE_NORMS = ",".join(
    f"--rows {rows} --cols {cols}"
    for rows, cols in ((8192, 4096), (32768, 5120), (16384, 8192), (4096, 16384), (2048, 65536))
    + ((4474, 30001), (1024, 131073), (512, 262144), (256, 524288), (128, 1048576))
)
TILES = "64x128_alone,64x128_down,64x64,split_2,split_4,split_8,64x128_share_a,64x128_share_b,128x128,128x192"
VARIANTS_OF_POWER = "row_by_row,hilbert,no_cluster,cluster_of_4,3_stages,ping_pong,fp8"
TYPES = "bf16,f16,f16_f16,tf32,s8,fp8,fp8_e5m2,bf16_sparse"

GROUPS = (
    Group("roofs", "the card's limits, and ways to bring data in", ("roofs", "memory")),
    Group("ladder", "every variant at the usual size, and a sweep over sizes", ("EVERY {--sweep,--ablate}",)),
    Group(
        "shapes",
        "08 at other shapes; many launches",
        (
            f"FROM_08 gemm {SHAPES}",
            "FROM_08 gemm --ablate --size {512,2048,8192} --repeats 300",
            f"{RUNG_08} fused_norm {{--sweep --variant early_start,--ablate --rows 2048 --cols 65536,--rows 512 --cols 262144}}",
            "FROM_08 --soak 10000",
        ),
    ),
    # docs/every_shape.md.
    Group(
        "every_shape",
        "the choice, alone and in a chain; its tiles; rows of every width, groups and operators; many launches",
        (
            f"{EVERY_SHAPE} gemm {{--sweep,{SHAPES[1:-1]}}} {{,--variant early_start}}",
            f"{EVERY_SHAPE} gemm --size {{512,2048,4096,8192}} --variant {{{TILES}}}",
            f"{EVERY_SHAPE} gemm --size {{4095,4097}}",
            f"{EVERY_SHAPE} fused_norm {{{WIDTHS},{LARGE_NORMS}}}",
            f"{EVERY_SHAPE} fused_norm --rows 16384 --cols 8192 --variant {{unfused,recomputed,persisting_gamma}}",
            f"{EVERY_SHAPE} gemm --variant {{persisting_b,128x256}} --l2-set-aside 30",
            f"{EVERY_SHAPE} grouped_gemm {{--ablate --sweep,--sweep --even,--soak 2000}}",
            f"{EVERY_SHAPE} norm_gemm --ablate {{--sweep,--rows 128,--rows 512,--rows 2048}}",
            f"{EVERY_SHAPE} norm_gemm --ablate --rows {{128,512,2048}} --launches {{stream,graph}}",  # with the gaps, and without
            f"{EVERY_SHAPE} linear --ablate --sweep",
            f"{EVERY_SHAPE} row_operator {{--ablate --sweep,--soak 1000}}",
            f"{EVERY_SHAPE} norm_gemm --soak 2000",
            f"{EVERY_SHAPE} gemm --soak 10000 {{,--sweep models}}",
        ),
    ),
    # Of each shape the timing takes 0.15 s, both times.
    Group(
        "models",
        "shapes that models have, of two draws, and what the choice among its kernels costs at one of them",
        (f"{EVERY_SHAPE} gemm --sweep models --shapes 200 {{--seed 1,--seed 31,--seed 1 --tune}}",),
    ),
    Group(
        "beside",
        "ping-pong over k; CUTLASS; rows that start anywhere; odd, very wide or single rows of the norm",
        (
            f"{RUNG_08} gemm --sweep k {{--m 4096 --n 4096,--m 2048 --n 2304}} --tune --variant ping_pong;warp_specialized --repeats 300",
            "cutlass_beside gemm --ablate --size {1024,2048,4096,8192}",
            "FROM_03 fused_norm {--rows 2048 --cols 65536,--rows 16384 --cols 8191,--rows 1 --cols 1048576}",
            f"{RUNG_05} fused_norm --ablate --rows 4096 --cols 32768",
            f"03_vectorized fused_norm {{{WIDTHS}}}",
        ),
    ),
    Group(
        "power",
        "clock, power and energy",
        (
            f"{RUNG_08} gemm --power {{6,3 --size 8192,3 --size 2048}}",
            f"{RUNG_08} gemm --power 3 --input {{integers,ones,zeros}}",
            f"{RUNG_08} gemm --power 3 --variant {{{VARIANTS_OF_POWER},fp8 --input zeros}}",
            f"{RUNG_05} gemm --power 3 --variant mma_sync --input {{normal,zeros}}",
            f"{RUNG_06} gemm --power 3 --variant swizzle_ldmatrix --input {{normal,zeros}}",
            f"{RUNG_07} gemm --power 3 --variant wgmma_tma --input {{normal,zeros}}",
        ),
    ),
    Group(
        "types",
        "the precision ladder: every type at the usual size, and what each loses as k grows",
        (
            f"{RUNG_06} gemm --type {{{TYPES}}}",
            f"{RUNG_06} gemm --type {{{TYPES}}} --m 1024 --n 1024 --k {{256,1024,4096,16384,65536}} --repeats 5",
        ),
        may_refuse=True,
    ),
    Group(
        "precisions",
        "types beside each other: fp64, sparse, weights in 8 bits, fp8 and its scales",
        (
            f"{{{RUNG_06},{RUNG_07}}} gemm --type fp64 --size {{1024,2048,4096}}",
            f"{RUNG_06} gemm --type {{bf16,bf16_sparse}} --size 2048",  # below the power limit
            f"{RUNG_07} gemm --type {{bf16,bf16_sparse --ablate}} --size {{2048,4096,8192}}",  # wgmma.sp, and dense
            # From few rows, where the weights' bytes take the time, to many.
            f"{RUNG_07} gemm --type {{bf16_s8,bf16_e4m3}} {{,{mnk('16x28672x8192', '64x28672x8192')[1:-1]}"
            f",{mnk('256x28672x8192', '1024x28672x8192')[1:-1]}}}",
            "03_vectorized gemm --type {fp32,s8}",
            f"{RUNG_08} gemm --type {{fp8,fp8_tensor,fp8_e4m3_e5m2,fp8_e5m2_e5m2}}",
            f"{RUNG_08} gemm --type fp8 --ablate --size {{4096,8192}}",
            # 448 times 2^6, 2^9, 2^12: what that costs everything that shares its scale.
            f"{RUNG_08} gemm --variant {{fp8,fp8_tensor,fp8_block}} --outlier {{28672,229376,1835008}} --repeats 5",
        ),
    ),
    Group(
        "operators",
        "norm and product as one, every epilogue, LayerNorm and softmax; each many times",
        (
            "NORM_GEMM norm_gemm --ablate --sweep",
            "NORM_GEMM norm_gemm --ablate --rows {128,512,2048} --launches {stream,graph}",  # with the gaps, and without
            "NORM_GEMM norm_gemm --soak 2000",
            f"{RUNG_06} linear {{--ablate,--soak 1000}}",
            f"{RUNG_08} linear --ablate --sweep",
            f"{RUNG_08} linear --variant {{bias,gelu,silu,geglu,swiglu}} --soak 1000",
            "{01_coalesced,03_vectorized} row_operator --ablate --sweep",
            "{01_coalesced,03_vectorized} row_operator --variant {layer_norm,softmax,softmax_online} --soak 1000",
        ),
    ),
)


def expand(line: str) -> list:
    """The command lines that a line stands for."""
    parts = re.split(r"\{([^{}]*)\}", line)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return [" ".join("".join(words).split()).replace(";", ",") for words in itertools.product(*choices)]


def commands(group: Group, rungs: list, norm_gemm: list) -> list:
    """Its command lines for these rungs: a program of bin/ and its arguments."""
    found = []
    for line in group.lines:
        who, _, rest = line.partition(" ")
        if who == "EVERY":
            names = rungs
        elif who == "NORM_GEMM":
            names = norm_gemm
        elif start := re.match(r"FROM_(\d\d)$", who):
            names = [rung for rung in rungs if rung[:2] >= start[1]]
        else:
            names = [name for name in expand(who) if name in rungs or not name[0].isdigit()]
        found += [command for name in names for command in expand(f"{name} {rest}")]
    return found


def seconds_of(command: str) -> float:
    """A first estimate."""
    if power := re.search(r"--power (\d+)", command):
        return 2 * float(power[1]) + 6  # the rung and cuBLAS, each after a second's rest, and a check
    if "--soak" in command:
        return SOAK
    return PER_LINE * next((lines for option, lines in LINES.items() if option in command), 1)
