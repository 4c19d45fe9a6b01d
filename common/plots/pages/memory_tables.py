"""Tables of what it costs to bring data in: the records of the program `memory`."""

from __future__ import annotations

from common.plots.figures import figure
from common.plots.pages.markdown import markdown, measured
from common.plots.records.error import ResultError
from common.plots.records.results import Results

PARTS = {
    "steps": (
        *("to_device_pageable", "to_device_pinned", "to_host_pageable", "to_host_pinned", "pin"),
        *("read_device", "read_mapped", "read_managed_first", "read_managed_again", "read_managed_prefetched"),
    ),
    "whole": (
        *("whole_pageable", "whole_pinned", "whole_overlapped", "whole_mapped"),
        *("whole_managed", "whole_managed_prefetched"),
    ),
}
BASE = "whole_pinned"  # of the second table


def memory(results: Results, part: str) -> str:
    """`steps`, each on its own, or the `whole`, beside copies from and to pinned memory."""
    if part not in PARTS:
        raise ResultError(f"unknown part '{part}'; there are: {', '.join(PARTS)}")
    records = [results.ways[way] for way in PARTS[part] if way in results.ways]
    if not records:
        return "*Not recorded yet: `build/bin/memory`.*"
    base = results.ways.get(BASE) if part == "whole" else None
    rows = []
    for record in records:
        row = [f"`{record['way']}`", record["what"], figure(record["median_us"] / 1e3), figure(record["gbps"])]
        if part == "whole":
            row.append(f"×{figure(record['median_us'] / base['median_us'])}" if base else "")
        rows.append(row)
    header = ["way", "what", "ms", "GB/s"] + ([f"time beside `{BASE}`"] if part == "whole" else [])
    sizes = "/".join(sorted({f"{record['bytes'] / 2**20:.0f} MiB" for record in records}))
    links = ", ".join(sorted({record["link"] for record in records if record.get("link")}))
    table = markdown(header, rows, measured(results, sizes, links, "medians"))
    return table.replace("|:--|--:|", "|:--|:--|", 1)
