"""What a warp's access costs, from the addresses alone. The pictures and the chapters' figures are computed here."""

from __future__ import annotations


WARP = 32  # lanes
SECTOR = 32  # bytes: the unit in which L1 asks L2, and L2 asks memory
BANKS = 32  # of shared memory
BANK_WORD = 4  # bytes a bank delivers per wavefront


def sectors(addresses, width: int) -> list:
    """The distinct 32-byte sectors, in order, that lanes reading `width` bytes at these byte addresses touch."""
    touched = set()
    for address in addresses:
        touched.update(range(address // SECTOR, (address + width - 1) // SECTOR + 1))
    return sorted(touched)


def neighbours_share(addresses: list, distance: int) -> bool:
    """Does every active lane want the same as the lane whose number differs in this bit, if that one is active?"""
    pairs = ((address, addresses[lane ^ distance]) for lane, address in enumerate(addresses))
    return all(a == b or a is None or b is None for a, b in pairs)


def phases(addresses, width: int, fixed: bool = False) -> list:
    """The groups of lanes that shared memory serves together, each as lane → address. A wavefront delivers at most
    128 bytes, so 8-byte accesses go as two half-warps and 16-byte ones as four quarter-warps; but a load in which each
    lane wants the same as a neighbour goes in groups twice as large, unless it is one of matrices: stores and those
    have fixed groups. (Measured on an H200, as the simulator's counters are:
    common/simulator/tests/golden/wavefronts.txt.) An inactive lane's address is None."""
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"an access of {width} bytes: not 1, 2, 4, 8 or 16")
    addresses = list(addresses)
    if len(addresses) != WARP:
        raise ValueError(f"{len(addresses)} addresses: a warp has {WARP} lanes")
    if any(address % width for address in addresses if address is not None):
        raise ValueError(f"an access of {width} bytes must be aligned to {width} bytes")
    lanes = WARP * BANK_WORD // max(width, BANK_WORD)
    if lanes < WARP and not fixed and (neighbours_share(addresses, 1) or neighbours_share(addresses, 2)):
        lanes *= 2
    active = {lane: address for lane, address in enumerate(addresses) if address is not None}
    groups = ({l: a for l, a in active.items() if l // lanes == group} for group in range(WARP // lanes))
    return [group for group in groups if group]


def bank_words(addresses, width: int) -> dict:
    """bank → the distinct 4-byte words asked of it. Lanes that want the same word share it (a broadcast)."""
    words = {}
    for address in addresses:
        for word in range(address // BANK_WORD, (address + width - 1) // BANK_WORD + 1):
            words.setdefault(word % BANKS, set()).add(word)
    return words


def ideal_wavefronts(addresses, width: int, fixed: bool = False) -> int:
    """Those that as many bytes fill, 128 in each, or fewer where lanes share."""
    lanes = sum(address is not None for address in addresses)
    return min(wavefronts(addresses, width, fixed), -(-lanes * width // (BANKS * BANK_WORD)))


def wavefronts(addresses, width: int, fixed: bool = False) -> int:
    """Shared-memory wavefronts of one warp-wide access: per phase, as many as the busiest bank has distinct words."""
    groups = phases(addresses, width, fixed)
    return sum(max(map(len, bank_words(group.values(), width).values())) for group in groups)
