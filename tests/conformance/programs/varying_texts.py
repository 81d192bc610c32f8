"""Texts that are others in each call: what is only handed on is not looked at, and what is looked at is its own."""

import collections
import dataclasses

import duograph as ms
from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.0])
TAGS = [(X, f"t{i}", f"u{i % 3}") for i in (1, 2, 3, 3, 4, 0)]
MIXED = [(X * i, tag) for i, tag in enumerate(["a", "b", "", None, "c", 3, "d", "a", b"e", "f"])]


@dataclasses.dataclass
class Record:
    y: object
    tag: str


class Log:
    def __init__(self):
        self.tags, self.last = collections.deque(maxlen=2), ""


@program(calls=TAGS)
def a_tag_that_is_handed_on(x, tag, other):
    y = (x * 2).tanh()
    return y, tag, {"tag": tag, "all": [tag, (other, tag)]}, Record(y, other), tag is None, isinstance(tag, str)


@program(calls=TAGS)
def a_tag_within_texts(x, tag, other):
    return x * 2, f"{tag}-{other:>5}", "%s|%r" % (tag, other), "{}{!r:.3}".format(tag, other), "-".join([tag, other])


@program(calls=TAGS)
def a_tag_on_one_path(x, tag, other):
    if x.sum() > 1:
        return x + 1, tag
    return x, f"{other}!"


@program(calls=TAGS, captured=False)
def a_tag_that_is_looked_at(x, tag, other):
    y = x * 2 if tag == "t3" else x * 3
    return y, tag.upper(), len(other), {tag: y, other: x}, other in ("u1", tag), tag[::-1], tag < other


@program(calls=TAGS)
def one_that_is_looked_at_and_one_that_is_not(x, tag, other):
    return (x * 2 if other == "u1" else x * 3), tag, other


@program(calls=[(T([3.0 * k]), tag) for k, tag in enumerate("abcd")])
def a_tag_that_goes_along_a_loop(x, tag):
    seen, last = "none", tag
    while x.sum() < 10:
        x, seen = x + 4, last
    return x, seen


@program(calls=TAGS)
def a_tag_in_what_is_raised(x, tag, other):
    try:
        if x.ndim == 1:
            raise ValueError(tag, 3)
    except ValueError as error:
        y = x * 2
        return y, error.args, other
    return x


@program(calls=TAGS)
def a_tag_that_leaves_in_an_exception_error(x, tag, other):
    if x.sum() > 1:
        raise KeyError(tag, f"{other}?")
    return x


@program(calls=TAGS)
def a_tag_along_a_gradient(x, tag, other):
    def loss(x, tag):
        return (x * x).tanh().sum(), tag, f"{other}?"

    return ms.value_and_grad(loss, has_aux=True)(x, tag)


@program(calls=TAGS, grad=0)
def a_tag_beside_what_is_differentiated(x, tag, other):
    y = (x * x).tanh()
    return (y * y - x).sum(), tag, {"k": f"{tag}{other}"}


@program(calls=TAGS)
def a_number_that_a_text_is_not(x, tag, other):
    try:
        return x * 2, "%d" % f"{tag}"
    except TypeError as error:
        return x * 3, str(error)


@program(calls=TAGS)
def the_class_of_a_text(x, tag, other):
    made = f"{tag}{other}"
    return x * 2, tag.__class__, made.__class__.__name__, hasattr(tag, "parts"), getattr(tag, "none", 5)


@program(calls=[(T([float(k)]),) for k in range(4)])
def the_class_of_a_text_of_a_tensor(x):
    made = f"{float(x.sum())}"
    try:
        shown = "%d" % made
    except TypeError as error:
        shown = str(error)
    return x * 2, made.__class__, hasattr(made, "parts"), shown


@program(calls=MIXED)
def texts_and_other_things(x, tag):
    return x * 2, tag


@program(calls=[(Log(), X, f"t{i}") for i in range(5)], captured=False)
def tags_that_an_object_keeps(log, x, tag):
    before, log.last = log.last, tag
    log.tags.append(tag)
    return x * 2, before, log.last, list(log.tags)


@program(calls=[(X, [f"{i}{j}" for j in range(3)], {"id": f"i{i}", "path": (f"p{i}",)}) for i in range(5)])
def tags_in_containers(x, tags, batch):
    batch["seen"], old = batch["id"], batch["path"]
    tags[0] = batch["id"]
    return x + len(tags), [t for t in tags], old, {**batch}


@program(calls=[(X, f"t{i}") for i in range(5)], COUNT="none")
def a_tag_in_a_global_name(x, tag):
    global COUNT
    before, COUNT = COUNT, tag
    return x * 2, before


COUNT = "none"


@program(build=True, calls=[(X, f"t{i}") for i in range(5)])
def a_tag_in_a_closure():
    last = "none"

    def f(x, tag):
        nonlocal last
        before, last = last, tag + "!"
        return x * 2, before

    return f
