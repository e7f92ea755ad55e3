"""Current resident memory of this process. The high-water mark would hide growth below an earlier peak."""

import gc
import resource


def resident_bytes() -> int:
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as status:
        return int(status.read().split()[1]) * resource.getpagesize()
