"""Records of what was traced: of memory accesses and timelines by the simulator, of warps by --trace on a GPU."""

from __future__ import annotations

from common.plots.records import memory
from common.plots.records.error import ResultError

STEPS = {  # of a timeline, and what each must have
    **{step: ("at", "until", "first", "count") for step in ("copy", "load", "store")},
    **{"commit": ("at", "group"), "wait": ("at", "below"), "barrier": ("at",)},
    **{step: ("at", "first") for step in ("expect", "arrive", "ask", "promise")},  # there
    "multiply": ("at", "until", "count"),
}


def check_trace(record: dict) -> None:
    """What the simulator counted for an access must be what its addresses cost."""
    for name in ("ptx", "file", "lines", "source", "space", "bytes", "addresses", "number", "of"):
        if name not in record:
            raise ResultError(f'a trace has no "{name}"')
    addresses, width = record["addresses"], record["bytes"]
    try:
        if record["space"] == "global":
            name, cost = "sectors", len(memory.sectors((a for a in addresses if a is not None), width))
        else:
            name, cost = "wavefronts", memory.wavefronts(addresses, width, in_fixed_groups(record))
            if record.get("ideal_wavefronts") != memory.ideal_wavefronts(addresses, width, in_fixed_groups(record)):
                raise ValueError(f"{record.get('ideal_wavefronts')} wavefronts are not ideal for them")
    except (TypeError, ValueError) as error:
        raise ResultError(f'"addresses": {error}') from None
    if record.get(name) != cost:
        raise ResultError(f'"{name}" is {record.get(name)}, but the addresses cost {cost}')


def check_timeline(record: dict) -> None:
    """Steps are known, and come in the order of time; so do groups of copies."""
    now = groups = 0
    for step in record.get("steps") or [{}]:
        names = STEPS.get(step.get("step"))
        if names is None or any(not isinstance(step.get(name), int) for name in names):
            raise ResultError(f"a timeline's step is {step}")
        if not now <= step["at"] <= step.get("until", step["at"]):
            raise ResultError(f"a timeline's step goes back in time: {step}")
        if step.get("group", groups) != groups or step.get("below", 0) > groups:
            raise ResultError(f"a timeline's groups of copies do not follow each other: {step}")
        now, groups = step["at"], groups + (step["step"] == "commit")


def check_inside(record: dict) -> None:
    """Of each warp the bars follow each other."""
    now = {warp["warp"]: float("-inf") for warp in record.get("warps", [])}
    if not now or not record.get("bars"):
        raise ResultError("it has no warps or no bars")
    for bar in record["bars"]:
        if len(bar) != 6 or bar[0] not in now:
            raise ResultError(f"a bar is {bar}")
        if bar[2] < now[bar[0]] - 0.01:
            raise ResultError(f"a bar goes back in time: {bar}")
        now[bar[0]] = bar[2] + bar[3]


def where(trace: dict) -> str:
    """gemm.cu:27, ld.global.u16"""
    return f"{trace['file'].split('/')[-1]}:{trace['lines'][0]}, {trace['ptx']}"


def in_fixed_groups(trace: dict) -> bool:
    """Of lanes, as memory.phases() has them."""
    return trace["ptx"].startswith(("st.", "ldmatrix."))
