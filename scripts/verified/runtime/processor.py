"""Who made this machine's processor, where what is fast depends on it."""

import functools
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
AMD = "AuthenticAMD"


@functools.cache
def vendor() -> str:
    """What the processor calls its maker, such as "AuthenticAMD" or "GenuineIntel"; "" where Linux does not say it."""
    try:
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("vendor_id")), "")
