"""Peak memory of a program in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

__all__ = ["GIB", "answer_of"]

GIB = 2.0**30

_PEAK = """
import json, resource, time

def peak():
    # On Linux ru_maxrss starts at what the parent held when it started this process, VmHWM at 0.
    try:
        with open("/proc/self/status") as status:
            return 1024 * next(int(line.split()[1]) for line in status if "VmHWM" in line)
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def answer_of(program: str) -> Any:
    """Run a program that may call ``peak()`` (bytes) and sets ``answer``; return the answer."""
    source = f"{_PEAK}\n{program}\nprint(json.dumps(answer))"
    command = [sys.executable, "-c", source]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(run.stdout)
