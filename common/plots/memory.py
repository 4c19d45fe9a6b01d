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


def phases(addresses, width: int) -> list:
    """The groups of lanes that shared memory serves together: a wavefront delivers at most 128 bytes, so 8-byte
    accesses go as two half-warps and 16-byte ones as four quarter-warps."""
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"an access of {width} bytes: not 1, 2, 4, 8 or 16")
    addresses = list(addresses)
    if any(address % width for address in addresses):
        raise ValueError(f"an access of {width} bytes must be aligned to {width} bytes")
    lanes = WARP * BANK_WORD // max(width, BANK_WORD)
    return [addresses[i : i + lanes] for i in range(0, len(addresses), lanes)]


def bank_words(addresses, width: int) -> dict:
    """bank → the distinct 4-byte words asked of it. Lanes that want the same word share it (a broadcast)."""
    words = {}
    for address in addresses:
        for word in range(address // BANK_WORD, (address + width - 1) // BANK_WORD + 1):
            words.setdefault(word % BANKS, set()).add(word)
    return words


def wavefronts(addresses, width: int) -> int:
    """Shared-memory wavefronts of one warp-wide access: per phase, as many as the busiest bank has distinct words."""
    return sum(max(map(len, bank_words(phase, width).values()), default=0) for phase in phases(addresses, width))
