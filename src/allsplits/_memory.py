"""What this machine can hold."""

import os


def physical_memory() -> int | None:
    """Bytes of memory that the machine has, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
