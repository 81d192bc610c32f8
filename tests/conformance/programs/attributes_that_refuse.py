"""Attributes whose class refuses what is set, or changes it: when the program sets it, and not where it has ended."""

from duograph import Parameter, nn
from tests.conformance.harness import T, program

X = T([1.0, -2.0])


class Slotted:
    __slots__ = ("a",)

    @property
    def fixed(self):
        return 1


SLOTTED = Slotted()


@program(calls=[(X, which) for which in range(5)], captured=False)
def attributes_that_cannot_be_set(x, which):
    try:
        if which == 0:
            x.T = 1
        elif which == 1:
            x.T += 1
        elif which == 2:
            x.shape = (2, 1)
        elif which == 3:
            SLOTTED.fixed = 2
        else:
            del SLOTTED.a
    except AttributeError as error:
        return str(error)
    return "set"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.weight = Parameter(T([2.0, 3.0]), name="weight")
        self.register_buffer("mean", T([0.5, 0.5]))

    def construct(self, x, which):
        seen = []
        try:
            if which == 0:
                self.act = 5
            elif which == 1:
                self.weight = 3
            elif which == 2:
                self.mean = "none"
            elif which == 3:
                self.weight.requires_grad = "no"
            elif which == 4:
                self.weight.name = 5
            elif which == 5:
                self.weight.name = " renamed "
                seen.append(self.weight.name)
            elif which == 6:
                del self.nothing
            elif which == 7:
                setattr(self, 3, 3)
        except (TypeError, ValueError, AttributeError) as error:
            seen.append(str(error))
        return self.act(x) * self.weight, seen


@program(calls=[(X, which) for which in range(8)], captured=False, build=True)
def cells_that_refuse_an_attribute():
    return Net()


class Counting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", T([0.0, 0.0]))
        self.weight = Parameter(T([2.0, 3.0]), name="weight")
        self.calls = 0

    def construct(self, x):
        self.calls += 1
        self.mean = self.mean * 0.5 + x
        self.weight.requires_grad = self.calls % 2 == 0
        return self.mean, self.calls


@program(calls=[(X,), (X * 2,), (X * 3,)], build=True)
def cells_that_keep_an_attribute():
    return Counting()
