"""Objects of classes that derive from Tensor: attributes of their own, of their class, and computed ones."""

import copy

import duograph as ms
from tests.conformance.harness import T, program

LOG = []


class _Times:
    def __get__(self, obj, kind=None):
        LOG.append("got")
        return obj * 7


class Tagged(ms.Tensor):
    """Tensors with a tag."""

    tag = "of the class"
    septuple = _Times()

    @property
    def twice(self):
        LOG.append("twice")
        return self * 2

    def scaled(self):
        return self * 3

    def __getattr__(self, name):
        if not name.startswith("length_of"):
            raise AttributeError(name)
        LOG.append(name)
        return len(name)


def _attributes(x):
    return x.tag, x.twice, x.scaled(), x.septuple, x.length_of_this


@program(build=True, captured=False, calls=[(False,), (True,), (True,), (False,)], LOG=[])
def attributes_of_a_derived_tensor():
    x = Tagged([1.0, -2.0])
    compiled = ms.jit(_attributes)

    def read(has_own):
        if has_own:
            x.tag, x.scaled, x.length_of_this = "its own", lambda: 5, 6
        elif "tag" in vars(x):
            del x.tag, x.scaled, x.length_of_this
        return compiled(x)

    return read


@program(build=True, captured=False, calls=[(T(1.0),), (T(2.0),), (T(3.0),)], LOG=[])
def attribute_of_the_class_of_an_argument_that_changes():
    class Kind(Tagged):
        tag = 1

    x = Kind([1.0, 2.0])

    def program(y):
        Kind.tag = Kind.tag + 1
        return x * y * x.tag

    return program


class Counted(ms.Tensor):
    """Makes itself in a way of its own."""

    def __init__(self, value):
        super().__init__(value)
        self.count = 1

    def more(self, by):
        self.count += by
        return self * self.count


@program(T([1.0, -2.0]), captured=False)
def derived_tensors_made_inside(x):
    y = Counted(x * 2)
    return y, y.more(2), y.count, Tagged(x), copy.deepcopy(y)


_COUNTED = Counted([3.0])


@program(T(2.0), captured=False)
def copy_of_a_derived_tensor(x):
    return x * 2, copy.deepcopy(_COUNTED)
