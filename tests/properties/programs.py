"""Random Python programs over tensors, as source text.

`generate` writes a module: some globals, a helper and a function ``f(x, y, i, k, flag, xs, d)``. Every expression
has a *kind*, so that programs mostly run; loops are bounded by counters, so that they end:

======  ==========================================    ======  =====================================
``v``   float32 ``[n]``                               ``k``   Python int
``m``   float32 ``[2, n]``                            ``p``   Python float
``s``   float32 scalar tensor                         ``q``   Python or tensor condition
``i``   int64 ``[n]``                                 ``l``   list of two or more ``v``
``j``   int64 scalar tensor                           ``d``   dict with keys ``"a"`` and ``"b"`` of ``v``
``b``   bool ``[n]``                                  ``t``   tuple ``(v, s)``
``h``   float16 ``[n]``                               ``w``   float64 ``[n]``
``z``   str                                           ``any`` something, or None
======  ==========================================    ======  =====================================

A *numeric* program has no side effects and overwrites no values: it has a gradient, which all modes must agree on.
"""

# ruff: noqa: E501 - tables of templates read better in rows

from __future__ import annotations

import random
from collections.abc import Callable

HEADER = """\
import numpy as np
import duograph as ms
from duograph import Parameter, Tensor, nn, ops

COUNT = 0
LOG = []
TABLE = {"hits": 0}
W = Parameter(Tensor([0.5, -0.25, 1.0, 0.125]), name="w")


class Box:
    pass


BOX = Box()
BOX.value = 1
BOX.state = Tensor([0.0])


class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([1.5, -0.5]), name="weight")
        self.steps = 0
        self.last = None

    def construct(self, x):
        return x * self.weight[0] + self.weight[1]


LAYER = Layer()


def helper(x, n=1):
    if x.sum() > 0.5:
        return ops.tanh(x) * n
    for _ in range(n % 3):
        x = x * 0.5
    return -x


def early(x):
    if x.max() > 1:
        return None
    if x.min() < -1:
        return 1.5
    return x.sum()
"""
NUMERIC = """

def gradient(x, y, i, k, flag, xs, d):
    return ms.grad(f, (0, 1))(x, y, i, k, flag, xs, d)


def second(x, y, i, k, flag, xs, d):
    def slope(x, y):
        return ms.grad(f, 0)(x, y, i, k, flag, xs, d).sum()

    return ms.grad(slope, (0, 1))(x, y)
"""
ARGUMENTS = {"x": "v", "y": "m", "i": "i", "k": "k", "flag": "q", "xs": "l", "d": "d"}

# Templates of expressions by kind: letters in braces are expressions of that kind. `!` marks effects.
EXPRESSIONS: dict[str, list[str]] = {
    "v": [
        "({v} + {v})", "({v} - {v})", "({v} * {v})", "({v} * {p})", "({v} + {s})", "({k} - {v})",
        "ops.tanh({v})", "(-{v})",
        "ops.sin({v})", "{m}.sum(0)", "{m}[{01}]", "ops.where({b}, {v}, {v})", "{v}.clip(-2, 2)", "ops.relu({v})",
        "{v}.abs()", "{l}[{01}]", "{l}[-1]", "{i}.astype(ms.float32)", "ops.maximum({v}, {v})", "ops.cumsum({v}, 0)",
        "({v} if {q} else {v})", "{h}.astype(ms.float32)", "ops.softmax({v}, -1)", "{d}['a']", "{d}.get('b')",
        "ops.concat(({v}, {v}))[: x.shape[0]]", "ops.stack(({v}, {v})).mean(0)", "helper({v}, {k})", "helper({v})",
        "({v} / ({v}.abs() + 1))", "{t}[0]", "LAYER({v})", "({m} @ {v}).sum() * {v}", "ops.flip({v}, (0,))",
        "{w}.astype(ms.float32)", "sum({l})", "[{v}, {v}][{k} % 2]", "(lambda a, b={p}: a * b)({v})", "({v} * {j})",
        "ops.sort({v})[0]", "{v}.masked_fill({b}, {p})", "{v}.reshape(-1)",
        "({v} + {i})", "ops.zeros_like({v})", "ops.exp(-{v}.abs())", "ops.gather({v}, {i} % x.shape[0], 0)",
        "ops.sqrt({v}.abs() + 1)", "max([{v}, {v}], key=lambda a: a.sum())", "{v}[{j} % x.shape[0]] * {v}",
        "ops.conv1d({m}.expand_dims(0), ops.ones((1, 2, 1)) * {s})[0, 0]", "({v} ** 2)", "{m}[{b2}].sum() * {v}",
    ],
    "m": [
        "({m} + {v})", "({m} * {s})", "ops.stack(({v}, {v}))", "ops.tanh({m})", "({m} @ {m}.T @ {m} * 0.1)",
        "{m}.reshape(-1, 2).T", "({v}.expand_dims(0) * ops.ones((2, 1)))", "({m} - {m})", "{m}.T.T",
        "({m} if {q} else {m})", "ops.stack([a * 2 for a in {l}[:2]])", "ops.softmax({m}, 0)", "({m} * {p})",
        "ops.stack([r * {p} for r in {m}])",
    ],
    "s": [
        "{v}.sum()", "{v}.mean()", "{v}[0]", "{v}[-1]", "{v}.max()", "({s} * {s})", "({v} * {v}).sum()", "{m}.mean()",
        "{m}[1, 0]", "ops.sin({s})", "({s} + {k})", "({s} - {p})", "({s} if {q} else {s})", "{t}[1]", "{v}.prod()",
        "({s} if {s} > {s} else {v}[0])", "{v}.min()", "({p} * {s})", "ops.abs({s})", "{m}.sum(1)[{01}]",
        "sum([a.sum() for a in {l}], {v}.sum())", "{v}.std()", "({s} / ({s} * {s} + 1))",
    ],
    "i": ["({i} + {k})", "({i} % 3)", "({i} * {i})", "({i} - {j})", "({i} // 2)", "{b}.astype(ms.int64)",
          "ops.abs({i})"],
    "j": ["{i}.sum()", "{i}[0]", "({j} + {k})", "{v}.argmax()", "({j} % 5)", "({j} * 2)", "{i}.max()", "{b}.sum()"],
    "b": ["({v} > {p})", "({v} > {v})", "ops.logical_and({b}, {b})", "(~{b})", "({i} == {k})", "({v} <= {s})"],
    "b2": ["({m}.sum(1) > {p})", "({m}.mean(1) > 0)"],
    "h": ["{v}.astype(ms.float16)", "({h} * {h})", "({h} + {p})", "ops.tanh({h})", "({h} * {k})"],
    "w": ["{v}.astype(ms.float64)", "({w} * {w})", "({w} + {v})", "({w} * {p})", "({w} + {h})"],
    "k": ["{N}", "({k} + {N})", "x.shape[0]", "len({l})", "({k} % 3)", "y.ndim", "int({j})", "({k} * 2)", "({k} - 1)",
          "({k} if {q} else {k})", "{j}.item()", "max({k}, {N})", "abs({k})", "({k} // 2)", "min({k}, {k})",
          "[{k}, {k}, 7][{N} % 3]", "(1 if {b}.any() else 2)", "len([a for a in {l} if a.sum() > 0])",
          "{m}.shape[1]"],
    "p": ["0.5", "1.5", "-0.75", "0.0", "({k} * 0.5)", "float({s})", "({p} + 1)", "({p} * {p})", "{s}.item()",
          "({p} if {q} else {p})", "0.25", "2.0", "min({p}, 1.0)", "round({p}, 2)"],
    "q": ["({s} > {p})", "({s} < {s})", "({k} > {N})", "({j} > {N})", "({q} and {q})", "({q} or {q})", "(not {q})",
          "flag", "({k} in (1, 2))", "{b}.any()", "{b}.all()", "(0 < {s} < 1)", "({v}.sum() > 0)", "({v}.mean() > 0.3)",
          "({k} % 2 == 0)", "({p} > 0.4)", "(x is xs[0])", "(x.shape[0] > 3)", "({j} == {k})",
          "any(a.sum() > 1 for a in {l})",
          "({s} != 0)", "isinstance({any}, Tensor)", "({any} is None)", "all([{q}, {q}])", "({k} < {k} < 5)"],
    "l": ["[{v}, {v}]", "[{v}, {v}, {v}]", "[a * {p} for a in {l}]", "({l} + [{v}])", "list({l})", "([{v}] * 2)",
          "[ops.tanh(a) if a.sum() > 0 else a for a in {l}]", "{l}[::-1]", "[a + n for n, a in enumerate({l})]",
          "([a + b for a, b in zip({l}, {l})] + [{v}, {v}])", "list(map(lambda a: a * 2, {l}))",
          "({l} if {q} else {l})"],
    "d": ["{{'a': {v}, 'b': {v}}}", "dict(a={v}, b={v})", "{{**{d}, 'a': {v}}}", "{{n: a * 2 for n, a in {d}.items()}}",
          "dict({d})"],
    "t": ["({v}, {s})", "({t} if {q} else {t})", "(*[{v}], {s})", "tuple([{v}, {s}])"],
    "z": ["'a'", "f'{{{s}}}'", "f'{{{k}}}-{{{p}:.2f}}'", "str({v})", "({z} + '!')", "('p' if {q} else 'n')",
          "repr({j})",
          "'%s' % ({i},)", "f'{{{v}}}'"],
    "any": ["None", "{v}", "{s}", "{k}", "({v} if {q} else None)", "({k} if {q} else {p})", "early({v})", "{z}",
            "({s} and {s})", "({s} or {k})", "({s} and {p})", "({k} or {s})", "({v} if {q} else {m})",
            "({l} if {q} else ({s}, {k}))", "{t}", "({s} if {q} else {k})", "({q} and {any})", "({q} or {any})"],
}  # fmt: skip
LEAVES = {
    "v": ["x", "x", "xs[0]", "d['a']"], "m": ["y"], "s": ["x.sum()", "x[0]", "y.mean()"], "i": ["i"], "j": ["i[0]"],
    "b": ["(x > 0)"], "b2": ["(y.sum(1) > 0)"], "h": ["x.astype(ms.float16)"], "w": ["x.astype(ms.float64)"],
    "k": ["k", "1", "2", "3"], "p": ["0.5", "1.25", "-1.0"], "q": ["flag", "(x.sum() > 0)", "(k > 1)", "True"],
    "l": ["xs"], "d": ["d"], "t": ["(x, x[0])"], "z": ["'z'"], "any": ["None"],
}  # fmt: skip


class Writer:
    """Writes one function body, statement by statement."""

    def __init__(self, rng: random.Random, numeric: bool) -> None:
        self.rng = rng
        self.numeric = numeric
        self.lines: list[str] = []
        self.indent = 1
        self.env: dict[str, str] = dict(ARGUMENTS)
        self.loop = 0  # how many loops of this function are around the statement
        self.fixed: list[str] = []  # counters, which only their loops assign
        self.count = 0
        self.budget = rng.randint(4, 14)
        self.inner = 0  # how many nested functions are around the statement

    # -- helpers ---------------------------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self, letter: str = "a") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def expr(self, kind: str, depth: int = 2) -> str:
        """An expression of ``kind``."""
        rng = self.rng
        names = [n for n, kd in self.env.items() if kd == kind]
        if names and rng.random() < (0.75 if depth <= 1 else 0.35):
            return rng.choice(names)
        if depth <= 0:
            return rng.choice(names or LEAVES[kind])
        return self.fill(rng.choice(EXPRESSIONS[kind]), depth - 1)

    def fill(self, template: str, depth: int = 1) -> str:
        """``template`` with expressions in place of the kinds in braces."""
        out, at = [], 0
        while at < len(template):
            c = template[at]
            if template[at : at + 2] in ("{{", "}}"):
                out.append(c)
                at += 2
            elif c == "{":
                end = template.index("}", at)
                kind, _, spec = template[at + 1 : end].partition(":")
                if kind == "01":
                    out.append(self.rng.choice("01"))
                elif kind == "N":
                    out.append(self.rng.choice("0123"))
                else:
                    out.append(self.expr(kind, depth) + (":" + spec if spec else ""))
                at = end + 1
            else:
                out.append(c)
                at += 1
        return "".join(out)

    def name(self, kind: str) -> str:
        """A name to assign a value of ``kind`` to: one of that kind, or a new one."""
        own = [
            n
            for n, kd in self.env.items()
            if kd == kind and n not in self.fixed and (not self.numeric or n not in "xy")
        ]
        if own and self.rng.random() < 0.6:
            return self.rng.choice(own)
        return self.fresh()

    def block(self, body: Callable[[], None] | None = None, most: int = 3) -> dict[str, str]:
        """An indented block; gives the kinds of variables after it and restores those before it."""
        before = dict(self.env)
        self.indent += 1
        mark = len(self.lines)
        if body is not None:
            body()
        for _ in range(self.rng.randint(1, most)):
            self.statement()
        if len(self.lines) == mark:
            self.put("pass")
        self.indent -= 1
        after, self.env = self.env, before
        return after

    def merge(self, *envs: dict[str, str]) -> None:
        """Variables known after paths that end with ``envs``; of different kinds: `any`."""
        merged: dict[str, str] = {}
        for n in envs[0]:
            kinds = {e.get(n) for e in envs}
            if len(kinds) == 1:
                merged[n] = envs[0][n]
            elif None not in kinds or self.rng.random() < 0.04:
                merged[n] = "any"
        self.env = merged

    # -- statements ------------------------------------------------------------------------------------------------

    def statement(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            return self.assign()
        pure = [
            (8, self.assign), (2, self.augmented), (2, self.unpack), (6, self.if_), (3, self.while_), (3, self.for_),
            (2, self.for_rows), (2, self.nested), (1, self.try_), (1, self.assert_), (2, self.stray), (1, self.lambda_),
            (1, self.walrus),
        ]  # fmt: skip
        effects = [
            (5, self.in_place), (3, self.view_write), (3, self.containers), (2, self.globals_), (2, self.print_),
            (2, self.parameters), (2, self.random), (2, self.attributes), (1, self.alias),
        ]  # fmt: skip
        table = pure if self.numeric else pure + effects
        self.rng.choices([s for _, s in table], [weight for weight, _ in table])[0]()
        return None

    def assign(self) -> None:
        kinds = "vvvvvmmssssiijbhwkkppqllddtz"
        kind = self.rng.choice(kinds) if self.rng.random() < 0.93 else "any"
        if self.numeric and kind in "hz":
            kind = "v"
        value = self.expr(kind, 3)
        name = self.name(kind)
        if name in self.fixed:
            name = self.fresh()
        self.put(f"{name} = {value}")
        self.env[name] = kind

    def augmented(self) -> None:
        kinds = [kind for kind in "vmskp" if any(kd == kind for n, kd in self.env.items() if n not in self.fixed)]
        if self.numeric:
            kinds = ["k", "p"]
        kind = self.rng.choice(kinds)
        name = self.name(kind)
        if name not in self.env:
            self.put(f"{name} = {self.expr(kind)}")
            self.env[name] = kind
        self.put(f"{name} {self.rng.choice(['+=', '-=', '*='])} {self.expr(kind if kind in 'kp' else 'p')}")

    def unpack(self) -> None:
        a, b = self.fresh(), self.fresh()
        form = self.rng.randrange(5)
        if form == 0:
            self.put(f"{a}, {b} = {self.expr('v')}, {self.expr('s')}")
        elif form == 1:
            self.put(f"{a}, {b} = {self.expr('t')}")
        elif form == 2:
            self.put(f"{a}, *{b} = {self.expr('l')}")
        elif form == 3:
            self.put(f"{a}, {b} = {self.expr('m')}")
        else:
            one, two = self.name("v"), self.name("v")
            if one in self.env and two in self.env:
                self.put(f"{one}, {two} = {two}, {one}")
            return
        self.env[a] = "v"
        if form != 2:
            self.env[b] = "v" if form == 3 else "s"

    def if_(self) -> None:
        self.put(f"if {self.expr('q', 2)}:")
        envs = [self.block(self.maybe_leave)]
        if self.rng.random() < 0.25:
            self.put(f"elif {self.expr('q', 2)}:")
            envs.append(self.block())
        if self.rng.random() < 0.6:
            self.put("else:")
            envs.append(self.block())
        else:
            envs.append(dict(self.env))
        self.merge(*envs)

    def maybe_leave(self) -> None:
        """Now and then a return, break, continue or raise at the start of a branch."""
        r = self.rng.random()
        if r < 0.12 and not self.inner:
            self.return_()
        elif r < 0.16:
            text = self.rng.choice(["'bad'", f"f'bad {{{self.expr('s', 0)}}}'", f"'k', {self.expr('k', 0)}"])
            self.put(f"raise {self.rng.choice(['ValueError', 'RuntimeError'])}({text})")
        elif r < 0.3 and self.loop:
            self.put(self.rng.choice(["break", "continue"]))

    def return_(self) -> None:
        kind = "s" if self.numeric else self.rng.choice(["v", "s", "k", "t", "any", "l", "d", "z"])
        value = self.expr(kind)
        self.put("return " + (f"{value}.sum()" if self.numeric else value))

    def while_(self) -> None:
        counter = self.fresh("c")
        if self.rng.random() < 0.5:
            self.put(f"{counter} = 0")
            test, step = f"{counter} < {self.rng.randint(2, 5)}", f"{counter} += 1"
        else:
            self.put(f"{counter} = i.sum() * 0")
            test, step = f"{counter} < {self.rng.randint(2, 5)}", f"{counter} = {counter} + 1"
        more = self.expr("q") if self.rng.random() < 0.8 else ""
        self.loop += 1
        self.put(f"while {test} and {more}:" if more else f"while {test}:")
        self.fixed.append(counter)
        after = self.block(lambda: self.put(step))
        self.loop -= 1
        if self.rng.random() < 0.2:
            self.put("else:")
            self.block()
        self.merge(dict(self.env), after)

    def for_(self) -> None:
        n = self.fresh("n")
        bound = self.rng.choice(
            ["range(2)", "range(3)", "range(40)", f"range({self.expr('k', 1)} % 4)", "range(int(i.max()) % 6)",
             "range(5, 0, -2)", "range(1, 4)", f"range({self.expr('k', 1)} % 50)"]
        )  # fmt: skip
        self.put(f"for {n} in {bound}:")
        self.loop += 1
        self.fixed.append(n)
        after = self.block(lambda: self.env.__setitem__(n, "k"), most=2)
        self.loop -= 1
        if self.rng.random() < 0.2:
            self.put("else:")
            self.block()
        self.merge(dict(self.env), after)

    def for_rows(self) -> None:
        n = self.fresh("r")
        form = self.rng.randrange(5)
        kinds = {n: "v"}
        if form == 0:
            self.put(f"for {n} in {self.expr('m')}:")
        elif form == 1:
            self.put(f"for {n} in {self.expr('l')}:")
        elif form == 2:
            self.put(f"for {n} in {self.expr('v')}:")
            kinds = {n: "s"}
        elif form == 3:
            e = self.fresh("e")
            self.put(f"for {e}, {n} in enumerate({self.expr('l')}):")
            kinds = {n: "v", e: "k"}
        else:
            e = self.fresh("e")
            self.put(f"for {e}, {n} in {self.expr('d')}.items():")
            kinds = {n: "v", e: "z"}
        self.loop += 1
        after = self.block(lambda: self.env.update(kinds), most=2)
        self.loop -= 1
        self.merge(dict(self.env), after)

    def nested(self) -> None:
        g, a, saved = self.fresh("g"), self.fresh("u"), dict(self.env)
        self.put(f"def {g}({a}):")
        loop, self.loop, self.inner = self.loop, 0, self.inner + 1
        written = [n for n, kd in self.env.items() if kd == "v" and n not in ARGUMENTS and not n.startswith(("u", "r"))]
        names = [written[0]] if written and not self.numeric and self.rng.random() < 0.4 and self.inner == 1 else []

        def start() -> None:
            if names:
                self.put(f"nonlocal {names[0]}")
            for n in [n for n in self.env if n not in names]:
                self.fixed.append(n)  # a name assigned here would be local
            self.env[a] = "v"

        fixed = list(self.fixed)
        self.block_with_return(start)
        self.env, self.loop, self.inner, self.fixed = saved, loop, self.inner - 1, fixed
        for _ in range(self.rng.randint(1, 2)):
            if self.rng.random() < 0.4:
                self.assign()
            name = self.name("v")
            self.put(f"{name} = {g}({self.expr('v')})")
            self.env[name] = "v"

    def block_with_return(self, start: Callable[[], None]) -> None:
        self.indent += 1
        start()
        for _ in range(self.rng.randint(0, 2)):
            self.statement()
        if self.rng.random() < 0.3:
            self.put(f"if {self.expr('q')}:")
            self.put(f"    return {self.expr('v')}")
        self.put(f"return {self.expr('v')}")
        self.indent -= 1

    def try_(self) -> None:
        self.put("try:")
        body = self.block()
        self.put(self.rng.choice(["except ValueError as error:", "except (ValueError, RuntimeError) as error:"]))
        handler = self.block(lambda: self.put(f"{self.name_of_any()} = str(error)"))
        if self.rng.random() < 0.3:
            self.put("finally:")
            self.block()
        self.merge(dict(self.env), body, handler)

    def name_of_any(self) -> str:
        name = self.fresh()
        self.env[name] = "z"
        return name

    def assert_(self) -> None:
        self.put(f"assert {self.expr('s', 1)} > -{self.rng.choice(['1', '50', '500'])}, {self.expr('z', 1)}")

    def stray(self) -> None:
        """Uses a value whose type differs between paths."""
        names = [n for n, kd in self.env.items() if kd == "any"]
        if not names:
            return self.assign()
        n, a = self.rng.choice(names), self.name("v")
        kind = self.rng.choice(["Tensor", "float", "int", "(int, float)"])
        self.put(f"{a} = {n} * {self.expr('v')} if isinstance({n}, {kind}) and getattr({n}, 'ndim', 0) < 1 else x")
        self.env[a] = "v"
        return None

    def lambda_(self) -> None:
        g, name = self.fresh("g"), self.fresh()
        self.env["a"] = "v"
        body = self.expr("v")
        del self.env["a"]
        self.put(f"{g} = lambda a: {body}")
        self.assign()
        self.put(f"{name} = {g}({self.expr('v')})")
        self.env[name] = "v"

    def walrus(self) -> None:
        name, other = self.fresh(), self.fresh()
        self.put(f"{other} = {self.expr('p')} if ({name} := {self.expr('s')}) > {self.expr('p')} else 0.5")
        self.env[name], self.env[other] = "s", "p"

    # -- statements with effects -----------------------------------------------------------------------------------

    def in_place(self) -> None:
        form = self.rng.choice([
            "{v}.add_({p})", "{v}.mul_({p})", "{v}.add_({v})", "{V}[0] = {p}", "{V}[{01}] = {s}", "{V}[1:] = {p}",
            "{V}[{b}] = {p}", "{M}[{01}] = {v}", "{M}[:, 0] = {s}", "{V}[-1] += {p}", "{M} += {p}",
            "{V} *= {s}", "{V} -= {v}",
            "{V}[{j} % x.shape[0]] = {p}", "{V}.zero_()", "{V}.copy_({v})", "{M}[0].mul_({p})",
            "{V}[...] = {s}", "{V}.fill_({p})",
            "{V}[{k} % 2] = {s}", "xs[0] += {p}", "{M}[{01}, 1:] *= {p}",
        ])  # fmt: skip
        for kind in ("V", "M"):
            names = [n for n, kd in self.env.items() if kd == kind.lower()]
            form = form.replace(f"{{{kind}}}", self.rng.choice(names))
        if form.startswith("{v}"):
            names = [n for n, kd in self.env.items() if kd == "v"]
            form = self.rng.choice(names) + form[3:]
        self.put(self.fill(form))

    def view_write(self) -> None:
        name = self.fresh("q")
        m = self.rng.choice([n for n, kd in self.env.items() if kd == "m"])
        v = self.rng.choice([n for n, kd in self.env.items() if kd == "v"])
        make = self.rng.choice([f"{m}[0]", f"{m}.T", f"{m}.reshape(-1)", f"{v}[1:]", f"{m}[:, 1]",
                                f"{v}.view(-1)", f"{m}[1]",
                                f"{v}[None]", f"{m}.transpose(1, 0)", f"{m}.split(1)[0]",
                                f"{v}.expand_dims(0)"])  # fmt: skip
        self.put(f"{name} = {make}")
        if self.rng.random() < 0.4:
            self.statement()
        self.put(
            f"{name}" + self.fill(self.rng.choice([".add_({p})", "[0] = {p}", ".mul_({s})", " += {p}", "[-1] = {s}"]))
        )
        if self.rng.random() < 0.4:
            self.statement()

    def containers(self) -> None:
        lists = [n for n, kd in self.env.items() if kd == "l"]
        dicts = [n for n, kd in self.env.items() if kd == "d"]
        name = self.rng.choice(lists)
        other = self.rng.choice(dicts)
        self.put(self.fill(self.rng.choice([
            f"{name}.append({{v}})", f"{name}[{{01}}] = {{v}}", f"{name}.insert(0, {{v}})", f"{name}[-1] = {{v}}",
            f"{name}.extend([{{v}}])", f"{name}.reverse()", f"{name} += [{{v}}]", f"{other}['a'] = {{v}}",
            f"{other}['b'] = {other}['a'] * {{p}}", f"{other}.update(a={{v}})",
            f"{other}['a'], {other}['b'] = {{v}}, {{v}}",
            f"{name}[0].add_({{p}})", f"{name}.append({name}.pop())", f"{other}.setdefault('c', {{v}})",
        ])))  # fmt: skip

    def globals_(self) -> None:
        self.put(self.fill(self.rng.choice([
            "LOG.append({k})", "LOG.append({s})", "TABLE['hits'] += 1", "TABLE['last'] = {v}", "TABLE['hits'] += {k}",
            "LOG.append('x')", "TABLE[{k}] = {p}", "LOG[:] = [1]", "LOG.append({z})",
        ])))  # fmt: skip

    def print_(self) -> None:
        self.put(self.fill(self.rng.choice(["print({s})", "print('v', {v})", "print({k}, {p})", "print({z})",
                                            "print({j}, sep='|', end=';')", "print({any})", "print({t})",
                                            "print({b})"])))  # fmt: skip

    def parameters(self) -> None:
        self.put(self.fill(self.rng.choice([
            "ops.assign(W, W * {s})", "ops.assign_add(W, ops.ones(4) * {p})", "W.add_({p})",
            "ops.assign(LAYER.weight, LAYER.weight + {s})", "W[0] = {s}", "ops.assign_sub(W, W * 0.5)",
            "LAYER.weight.mul_({p})",
            "W.mul_({s})",
        ])))  # fmt: skip

    def random(self) -> None:
        name = self.name("v")
        self.put(f"{name} = " + self.fill(self.rng.choice([
            "ops.rand(x.shape[0])", "ops.dropout({v}, 0.5)", "ops.randn(x.shape[0]) * {p}", "{v} * ops.rand(1)",
            "ops.rand(2, x.shape[0])[0]", "{v} + ops.randint(0, 5, (1,))",
        ])))  # fmt: skip
        self.env[name] = "v"

    def attributes(self) -> None:
        self.put(self.fill(self.rng.choice([
            "BOX.value = {k}", "BOX.value += 1", "BOX.state = {v}", "LAYER.steps += 1", "LAYER.last = {v}",
            "BOX.extra = {any}",
            "BOX.state = BOX.state + {s}", "LAYER.steps = {k}", "BOX.pair = ({k}, {s})", "BOX.items = [{v}]",
        ])))  # fmt: skip

    def alias(self) -> None:
        kind = self.rng.choice("vmld")
        name = self.fresh()
        self.put(f"{name} = {self.rng.choice([n for n, kd in self.env.items() if kd == kind])}")
        self.env[name] = kind


def generate(seed: int, numeric: bool = False) -> str:
    """The source of a random module with a function ``f``."""
    writer = Writer(random.Random(seed), numeric)
    if not numeric and writer.rng.random() < 0.3:
        writer.put("global COUNT")
        writer.put("COUNT += 1")
        if writer.rng.random() < 0.5:
            writer.env["COUNT"] = "k"
    for _ in range(writer.rng.randint(2, 5)):
        writer.statement()
    if numeric:
        writer.put(f"return {writer.expr('s')}.sum() + {writer.expr('v')}.sum() + {writer.expr('m')}.mean()")
    else:
        values = [
            writer.expr(writer.rng.choice(["v", "m", "s", "k", "p", "any", "i", "l", "d", "z"])) for _ in range(2)
        ]
        writer.put(f"return {', '.join([*values, *writer.rng.sample(sorted(writer.env), 2)])}")
    body = "\n".join(writer.lines)
    return f"{HEADER}\n\ndef f({', '.join(ARGUMENTS)}):\n{body}\n" + (NUMERIC if numeric else "")
