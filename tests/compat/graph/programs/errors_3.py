"""What goes wrong: exceptions of the program, wrong arguments, shapes, names."""

from mindspore import Tensor


def case_cast_bad(jit):
    @jit
    def foo(x):
        return x.astype("nothing")

    return foo(Tensor([[1.0]]))
