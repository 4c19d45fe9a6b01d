"""The chapters' explanatory pictures. What a kernel's warp requests is drawn from the addresses that the simulator traced
(common/tools/record_traces.py); what is worked out instead, such as an access that no kernel makes, says so.
"""

from __future__ import annotations

from common.plots.pictures import (
    banks,
    four_roles,
    fp8,
    fragments,
    gemm,
    inside,
    norm,
    norm_gemm,
    precision,
    roles,
    split,
    tcgen05,
    timeline,
    tma,
)
from common.plots.pictures.access import access_03, access_of_rung, vector
from common.plots.pictures.warp_reduction import warp_reduction
from common.plots.records.results import Results

PICTURES = {  # worked out
    "warp_reduction": warp_reduction,
    "tiling_02": gemm.tiling,
    "vector_03": vector,
    "precision_formats": precision.precision_formats,
    "sparse_metadata": precision.sparse_metadata,
    "layout_07": tma.layout_07,
    "multicast_08": roles.multicast_08,
    "split_k": split.split_k,
    "fp8_sums_08": fp8.fp8_sums,
    "memory_map_09": tcgen05.memory_map_09,
    "pair_09": tcgen05.pair_09,
    "scales_09": tcgen05.scales_09,
}
TRACED = {  # of the traces
    "access_00_naive": lambda results: access_of_rung(results, "00_naive", along="m"),
    "access_01_coalesced": lambda results: access_of_rung(results, "01_coalesced", along="n"),
    "access_03_vectorized": access_03,
    "banks_02": banks.banks_02,
    "banks_03": banks.banks_03,
    "banks_05": banks.banks_05,
    "banks_06": banks.banks_06,
    "timeline_04": timeline.timeline_04,
    "timeline_09": four_roles.timeline_09,
    "fragments_05": fragments.fragments_05,
    "norm_rows": norm.norm_rows,
}


def all_pictures(results: Results) -> dict:
    """File name → figure; without traces, only what needs none."""
    traced = {name: lambda draw=draw: draw(results) for name, draw in TRACED.items()} if results.traces else {}
    noted = {f"inside_{rung[:2]}": lambda rung=rung: inside.inside(results, rung) for rung in sorted(results.inside)}
    measured = {"norm_gemm_08": lambda: norm_gemm.norm_gemm_08(results)}
    return {**PICTURES, **measured, **traced, **noted}
