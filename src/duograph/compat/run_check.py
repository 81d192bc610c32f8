"""`run_check`: does the installation work?"""

from __future__ import annotations

from .alias import MINDSPORE_VERSION

__all__ = ["run_check"]


def run_check() -> None:
    """Multiplies two tensors, dynamically and compiled, and says whether the results are right.

    Examples:
        >>> import duograph as ms
        >>> ms.run_check()  # doctest: +ELLIPSIS
        MindSpore version:  2.10.0
        The result of multiplication calculation is correct, MindSpore has been installed on platform [CPU] ...
    """
    import duograph as ms

    x, y = ms.Tensor([[1.0, 2.0, 3.0]]), ms.Tensor([[4.0, 5.0, 6.0]])
    expected = [[4.0, 10.0, 18.0]]
    right = (x * y).asnumpy().tolist() == expected == ms.jit(lambda a, b: a * b)(x, y).asnumpy().tolist()
    print("MindSpore version: ", MINDSPORE_VERSION)
    if not right:
        raise RuntimeError("run_check: the result of the multiplication is wrong")
    print(
        "The result of multiplication calculation is correct, MindSpore has been installed on platform [CPU] "
        "successfully!"
    )
