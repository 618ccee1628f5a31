"""What a device's failures mean: too little memory, or a GPU that no longer answers."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from allsplits.exceptions import DeviceError

_FULL = ("out of memory", "DefaultCPUAllocator")
_GONE = ("CUDA", "CUBLAS", "cuBLAS", "HIP error", "Triton Error")

Given = ParamSpec("Given")
Found = TypeVar("Found")


def clear_errors(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """What it returns; failures of the device become errors that say what to do."""

    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        try:
            return function(*args, **kwargs)
        except RuntimeError as error:
            meaning = explain(error)
            if meaning is None:
                raise
            raise DeviceError(meaning) from error

    return called


def is_full(error: RuntimeError) -> bool:
    """Whether the device's memory did not suffice."""
    return any(mark in str(error) for mark in _FULL)


def explain(error: RuntimeError) -> str | None:
    """What a failure of the device means and what helps; None if it is something else."""
    said: Any = str(error).strip().partition("\n")[0]
    if isinstance(error, DeviceError):
        return None
    if is_full(error):
        return (
            "the memory of the device did not suffice for the neighbour search, which takes the "
            "samples, their tables of 6 bytes a value, and blocks of scores that were made as "
            f"small as they can be ({said}): free what else lies there, pass fewer samples or "
            "features, or use backend='exact', which searches on the host"
        )
    if any(mark in said for mark in _GONE):
        return (
            f"the GPU failed during the neighbour search ({said}): after this CUDA cannot be used "
            "in this process any more; start it again, or use backend='exact', which searches on "
            "the host"
        )
    return None
