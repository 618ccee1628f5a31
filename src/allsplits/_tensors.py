"""Tensors of torch as input, known by the name of their class: torch is never imported for a look.

On the host a tensor is an array of the same memory. bfloat16, which numpy does not have, is widened
to float32, which loses nothing; gradients stay behind.
"""

from typing import Any

from allsplits.exceptions import InvalidTypeError


def is_tensor(values: Any) -> bool:
    """Whether it is a torch.Tensor, a Parameter or another class made of one."""
    return any(
        base.__name__ == "Tensor" and base.__module__ == "torch" for base in type(values).__mro__
    )


def is_on_gpu(values: Any) -> bool:
    """Whether it is a tensor in the memory of a GPU that CUDA uses."""
    return is_tensor(values) and bool(values.is_cuda)


def to_array(values: Any, name: str = "X") -> Any:
    """A tensor as an array on the host, copied if it is elsewhere; anything else as it is."""
    if not is_tensor(values):
        return values
    check_dense(name, values)
    kind = values.dtype
    if kind.is_floating_point and kind.itemsize < 4 and str(kind) != "torch.float16":
        values = values.float()
    return values.numpy(force=True)


def check_dense(name: str, tensor: Any) -> None:
    """Raise if a tensor does not store every entry."""
    if str(tensor.layout) != "torch.strided":
        raise InvalidTypeError(
            f"{name} must be a dense tensor; got {tensor.layout}: pass {name}.to_dense(), or a "
            "sparse matrix of scipy"
        )
