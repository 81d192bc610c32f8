"""Statements of random programs."""

# ruff: noqa: E501 - templates read better in rows

from __future__ import annotations

from collections.abc import Callable

from .grammar import ASSERTIONS, CONTAINERS, EXCEPTIONS, EXPRESSIONS, IN_PLACE, PRINTS, RISKY
from .phrases import Phrases


class Statements(Phrases):
    """Writes statements of every sort at the end of the program."""

    def statement(self) -> None:
        """One statement of any sort."""
        self.budget -= 1
        simple = [
            (9, self.assign),
            (2, self.augmented),
            (4, self.in_place),
            (6, self.containers),
            (2, self.prints),
            (2, self.risky),
            (1, self.view),
            (1, self.foreign),
        ]
        compound = [
            (6, self.if_), (2, self.while_), (4, self.for_), (6, self.try_), (2, self.nested), (1, self.with_), (1, self.match_),
            (1.5, self.stray), (1, self.unpack), (1, self.walrus), (0.7, self.asserts), (0.6, self.raises), (0.7, self.closure),
            (0.5, self.generator), (0.3, self.delete), (0.5, self.recursion), (0.7, self.while_counting), (0.5, self.batched),
            (0.5, self.partials), (0.5, self.methods), (0.7, self.made_by_native_code),
            (0.8, self.collecting),
        ]  # fmt: skip
        table = simple if self.budget < 0 or self.indent > 4 else simple + compound
        self.rng.choices([s for _, s in table], [w for w, _ in table])[0]()

    def block(self, most: int = 3, before: str = "") -> dict[str, str]:
        """An indented block; the variables after it are given back, those before it are restored."""
        env = dict(self.env)
        self.indent += 1
        if before:
            self.put(before)
        for _ in range(self.rng.randint(1, most)):
            self.statement()
        self.indent -= 1
        after, self.env = self.env, env
        return after

    def merge(self, *envs: dict[str, str]) -> None:
        """Variables after paths that end with ``envs``."""
        merged = {}
        for name in envs[0]:
            kinds = {e.get(name) for e in envs}
            if len(kinds) == 1:
                merged[name] = envs[0][name]
            elif None not in kinds:
                merged[name] = "t" if kinds <= set("tfibcs") else "any"
            elif self.rng.random() < 0.04:
                merged[name] = "any"
        self.env = merged

    def assign(self) -> None:
        """A name gets a value."""
        kind = self.rng.choice(["t"] * 8 + list("ffibssnnnnrrqzzllmmddueo") + ["any", "c"])
        value = self.expr(kind, 2 if self.rng.random() < 0.7 else 3)
        name = self.target(kind)
        self.put(f"{name} = {value}")
        self.env[name] = kind

    def augmented(self) -> None:
        """Augmented assignment."""
        kind = self.rng.choice([k for k in "tnnrzlm" if any(n not in self.fixed for n in self.names(k))] or ["n"])
        self.put(
            self.fill(
                {"t": "{T} += {t}", "z": "{Z} += {z}", "l": "{L} += [{t}]", "m": "{M} += [{n}]", "r": "{R} *= {r}"}.get(
                    kind,
                    self.rng.choice(["{N0} += {n}", "{N0} -= {n}", "{N0} //= {n}", "{N0} *= {n}"]).replace(
                        "{N0}", self._number()
                    ),
                )
            )
        )

    def _number(self) -> str:
        names = [n for n, k in self.env.items() if k == "n" and n not in self.fixed]
        return self.rng.choice(names or self._made("n"))

    def in_place(self) -> None:
        """Tensors written in place."""
        self.put(self.fill(self.rng.choice(IN_PLACE)))

    def containers(self) -> None:
        """Containers, objects and globals changed."""
        self.put(self.fill(self.rng.choice(CONTAINERS)))

    def prints(self) -> None:
        """Text."""
        self.put(self.fill(self.rng.choice(PRINTS)))

    def risky(self) -> None:
        """What may raise, its result used or not."""
        value = self.fill(self.rng.choice(RISKY))
        if self.rng.random() < 0.5:
            self.put(value)
        else:
            name = self.fresh()
            self.put(f"{name} = {value}")
            self.env[name] = "any"

    def foreign(self) -> None:
        """Something that no graph does: the function is cut there."""
        self.put(
            self.fill(
                self.rng.choice(
                    ["time.sleep(0)", "opaque({any})", "{T} = opaque({t})", "{L} = opaque({l})", "began = time.time()"]
                )
            )
        )

    def asserts(self) -> None:
        """An assertion."""
        self.put(self.fill(self.rng.choice(ASSERTIONS)))

    def raises(self) -> None:
        """An exception under a condition."""
        self.put(f"if {self.expr('q')}:")
        self.indent += 1
        self.put(
            self.fill(
                self.rng.choice(
                    [
                        "raise ValueError({n})",
                        "raise Wrong({n})",
                        "raise KeyError({z})",
                        "raise StopIteration",
                        "raise IndexError",
                    ]
                )
            )
        )
        self.indent -= 1

    def view(self) -> None:
        """A view, written to."""
        name = self.fresh()
        source = self.rng.choice(self.names("t") or ["STATE"])
        self.put(
            self.fill(
                f"{name} = {source}"
                + self.rng.choice(
                    ["[0]", "[1:]", "[::2]", ".T", ".reshape(-1)", "[...]", "[None]", "[-1:]", ".expand_dims(0)"]
                    + ["[{n}:]", "[..., {n}::-2]", "[:{n}]"]
                )
            )
        )
        self.env[name] = "t"
        if self.rng.random() < 0.4:
            further = ["[..., None]", "[::-1]", "[{n}:]", "[..., {n}]", ".T", "[None, 1:]", "[..., {n}::-3]"]
            self.put(self.fill(f"{name} = {name}{self.rng.choice(further)}"))
        self.put(
            self.fill(
                f"{name}"
                + self.rng.choice(
                    [
                        " += {n}",
                        ".add_({n})",
                        "[0] = {n}",
                        "[...] = {n}",
                        " *= {t}",
                        ".mul_({n})",
                        "[..., -1] *= {n}",
                        "[{n}:] = {n}",
                    ]
                )
            )
        )

    def if_(self) -> None:
        """Branches."""
        self.put(f"if {self.expr('q', 3)}:")
        envs = [self.block()]
        while self.rng.random() < 0.2:
            self.put(f"elif {self.expr('q')}:")
            envs.append(self.block(2))
        if self.rng.random() < 0.6:
            self.put("else:")
            envs.append(self.block())
        else:
            envs.append(dict(self.env))
        self.merge(*envs)

    def while_(self) -> None:
        """A loop that ends."""
        counter = self.fresh()
        self.put(f"{counter} = 0")
        self.env[counter] = "n"
        self.fixed.add(counter)
        self.put(
            f"while {counter} < {self.rng.choice(['2', '3', '4'])} and {self.expr('q')}:"
            if self.rng.random() < 0.6
            else f"while {counter} < 3:"
        )
        self.loops += 1
        self.merge(self.block(3, f"{counter} += 1"), dict(self.env))
        self.loops -= 1
        self.orelse()

    def while_counting(self) -> None:
        """A loop whose test changes something."""
        count, calls, held, last = (self.fresh() for _ in range(4))
        self.put(f"{calls} = [0]")
        self.put(f"def {count}():")
        self.put(f"    {calls}[0] += 1")
        self.put(f"    return {calls}[0]")
        self.put(f"{held} = {self.expr('f')}")
        test = self.rng.choice([
            f"{count}() + {held}.sum() < {self.expr('n')} + 6", f"({last} := {count}()) * {held}.sum() < 9",
            f"{held}.add_(1).sum() < 12", "STATE.add_(1).sum() < 9", f"({last} := Box({count}())).value + {held}.max() < 5",
            f"not LOG.append({count}()) and {held}.sum() < 7",
        ])  # fmt: skip
        self.put(f"while {test} and {count}() < 9:")
        self.env.update({held: "f", calls: "m"})
        self.loops += 1
        self.merge(self.block(2, f"{held} = {held} + {self.rng.choice(['1', '0.5', calls + '[0]'])}"), dict(self.env))
        self.loops -= 1
        self.orelse()

    def collecting(self) -> None:
        """A list that a loop makes longer which a tensor ends, and what is done with it then."""
        held, found, result, k = (self.fresh() for _ in range(4))
        any_ = self.expr("any")
        element = self.rng.choice([
            held, f"{held} * 2", f"{held}.sum()", f"float({held}.sum())", f"len({found})", f"({held}.max(), len({found}))",
            f"({held} > 1, ({held}.sum(), 0.5))", self.expr("t"), self.expr("n"), any_,
        ])  # fmt: skip
        self.put(f"{held}, {k} = {self.expr('f')}, 0")
        self.put(f"{found} = {self.rng.choice(['[]', '[]', 'list()', 'LOG', f'[{held}.sum()]', f'[{any_}]'])}")
        loop, end = self.rng.choice([
            (f"while {held}.sum() < 50 and {k} < 12:", f"{k} += 1"),
            (f"while {held}.sum() < 50 and len({found}) + {k} < 12:", f"{k} += 1"),
            (f"for {k} in range(12):", f"if {held}.sum() > 60: break"),
            (f"for {k} in range(abs({self.expr('n')}) % 9 + 7):", f"if {held}.sum() > 60: break"),
        ])  # fmt: skip
        append = f"{found}.append({element})" if self.rng.random() < 0.7 else f"if {any_}: {found}.append({element})"
        lines = [f"{held} = {held}.abs() * 1.5 + 1", end, append]
        self.rng.shuffle(lines)
        for line in (loop, f"    {lines[0]}", f"    {lines[1]}"):
            self.put(line)
        self.env.update({held: "f", found: "l"})
        self.loops += 1
        self.merge(self.block(1, lines[2]), dict(self.env))
        self.loops -= 1
        self.put(f"{result} = " + self.rng.choice([
            found, f"len({found})", f"({found}, {held})", f"{found}[-1:]", f"[{k} for {k} in {found}]", f"bool({found})",
            f"ops.stack({found})", f"{found}[-1] if {found} else {held}", f"sum({found})", f"{found}.copy()", f"{found}[0]",
        ]))  # fmt: skip
        self.env[result] = "any"

    def batched(self) -> None:
        """A function under `vmap` that writes to tensors of its own."""
        name, result = self.fresh(), self.fresh()
        self.put(f"def {name}(a, b={self.expr('n', 1)}):")
        self.put(f"    c = {self.rng.choice(['a * 1', 'a + b', 'ops.zeros_like(a)', 'a[...] * 2'])}")
        for _ in range(self.rng.randint(1, 3)):
            self.put(
                "    "
                + self.rng.choice([
                    "c[0] = b", "c[-1] += a[0]", "c[..., -1] *= 2", "c += a", "c.mul_(a)", "c[1:] = 0", "d = c[::-1]; d[0] = b",
                    "c[c > 1] = b", "d = c.reshape(-1); d.add_(1)", "c[b % 2] = a[0]", "c.clamp_(-1, b)",
                ])
            )  # fmt: skip
        self.put("    return c")
        call = self.rng.choice([
            f"ms.vmap({name})({{t}})", f"ms.vmap(ms.vmap({name}))({{t}})", f"ms.grad(lambda a: ms.vmap({name})(a).sum())({{f}})",
            f"ms.vmap(lambda a: ms.grad(lambda b: {name}(b).sum())(a))({{f}})", f"ms.vmap({name}, in_axes=(0, None))({{t}}, {{n}})",
            f"ms.vmap({name}, -1, -1)({{t}})", f"ms.vmap(ms.jit({name}))({{t}})",
        ])  # fmt: skip
        self.put(f"{result} = {self.fill(call)}")
        self.env[result] = "any"

    def partials(self) -> None:
        """Partials, of partials too, called, looked at, and used as keys across a break."""
        name, held, result = self.fresh(), self.fresh(), self.fresh()
        self.put(f"{name} = lambda a, b=1, c=2: a * b + c")
        self.put(
            self.fill(
                f"{held} = functools.partial(functools.partial({name}, {{t}}), {self.rng.choice(['2', 'c=3', '{n}, c={n}'])})"
            )
        )
        self.put(self.fill(f"{held} = functools.partial({held}, c={{n}})") if self.rng.random() < 0.5 else "pass")
        looks = f"{held}(), {held}.func is {name}, len({held}.args), sorted({held}.keywords), {held}.args[0]"
        if self.rng.random() < 0.5:
            self.put(f"{result} = {{{held}: 1}}")
            self.put(self.rng.choice(["time.sleep(0)", "opaque(1)", "pass"]))
            self.put(f"{result}[{held}] += 1")
            looks = f"{result}[{held}], {held} in {result}, next(iter({result})) is {held}, {looks}"
        self.put(f"{result} = [{looks}]")
        self.env[result] = "any"

    def methods(self) -> None:
        """Bound methods, class methods and callables with a break, plain and compiled."""
        name, result = self.fresh(), self.fresh()
        self.put(f"class {name}:")
        self.put(f"    gain = {self.expr('n', 1)}")
        self.put("    def __call__(self, a):")
        self.put(f"        a = a * self.gain\n{'    ' * (self.indent + 2)}{self.rng.choice(['time.sleep(0)', 'pass'])}")
        self.put("        return a + 1")
        self.put(f"    @{self.rng.choice(['classmethod', 'property', 'staticmethod'])}")
        self.put(f"    def other(cls=None, a=1): {self.rng.choice(['time.sleep(0)', 'pass'])}; return a")
        call = self.rng.choice([
            f"{name}()({{t}})", f"ms.jit({name}())({{t}})", f"ms.jit({name}().__call__)({{t}})", f"{name}().other",
            f"[ms.jit({name}().__call__)(a) for a in {{l}}]", f"list(map({name}(), {{l}}))",
        ])  # fmt: skip
        self.put(f"{result} = {self.fill(call)}")
        self.env[result] = "any"

    def for_(self) -> None:
        """A loop over something."""
        name, other = self.fresh(), self.fresh()
        form, kinds = self.rng.choice([
            (f"{name} in range({self.rng.choice(['2', '3', '4'])})", "n"), (f"{name} in range(abs({self.expr('n')}) % 4)", "n"),
            (f"{name} in {self.expr('t')}", "t"), (f"{name} in {self.expr('l')}", "any"), (f"{name} in {self.expr('m')}", "n"),
            (f"{name}, {other} in enumerate({self.expr('l')})", "n,any"), (f"{name}, {other} in {self.expr('d')}.items()", "any,any"),
            (f"{name}, {other} in zip({self.expr('m')}, {self.expr('t')})", "n,t"), (f"{name} in {self.expr('z')}", "z"),
            (f"{name} in gen({self.expr('t')}, {self.expr('n')})", "t"), (f"{name} in ITEMS", "n"), (f"{name} in sorted({self.expr('e')})", "n"),
            (f"{name} in reversed(range(3))", "n"), (f"{name} in (1, 2, 4)", "n"), (f"{name} in {self.expr('t')}.shape", "n"),
        ])  # fmt: skip
        self.put(f"for {form}:")
        before = dict(self.env)
        self.env.update(zip((name, other), kinds.split(",")))
        self.loops += 1
        after = self.block()
        self.loops -= 1
        self.env = before
        self.merge(after, before)
        self.orelse()

    def orelse(self) -> None:
        """The else of a loop."""
        if self.rng.random() < 0.2:
            self.put("else:")
            self.merge(self.block(2), dict(self.env))

    def stray(self) -> None:
        """break, continue, return."""
        if self.loops and self.rng.random() < 0.8:
            self.put(f"if {self.expr('q')}:")
            self.put("    " + self.rng.choice(["break", "break", "continue"]))
        elif self.rng.random() < 0.7:
            self.put(f"if {self.expr('q')}:")
            self.put(f"    return {self.expr('any')}")
        else:
            self.assign()

    def try_(self) -> None:
        """Handlers of exceptions."""
        self.put("try:")
        self.indent += 1
        env = dict(self.env)
        for _ in range(self.rng.randint(0, 1)):
            self.statement()
        self.rng.choice([self.risky, self.risky, self.risky, self.raises, self.asserts, self.statement])()
        for _ in range(self.rng.randint(0, 2)):
            self.statement()
        self.indent -= 1
        tried, self.env = self.env, env
        envs = [tried]
        handlers = self.rng.choice([1, 1, 1, 2, 0])
        for at in range(handlers):
            kind = self.rng.choice(EXCEPTIONS[:6] if at < handlers - 1 else EXCEPTIONS)
            name = " as e" if self.rng.random() < 0.3 else ""
            self.put(f"except {kind}{name}:")
            envs.append(
                self.block(
                    2, self.rng.choice(["LOG.append(type(e).__name__)", "print(type(e).__name__)"]) if name else ""
                )
            )
            if self.rng.random() < 0.1:
                self.put("    raise")
        if handlers and self.rng.random() < 0.3:
            self.put("else:")
            envs[0] = self.block(2)
        final = not handlers or self.rng.random() < 0.25
        self.merge(*envs)
        if final:
            self.put("finally:")
            self.merge(self.block(2), dict(self.env))

    def with_(self) -> None:
        """A context manager."""
        self.put(
            self.fill(
                self.rng.choice(
                    [
                        "with Quiet({X}):",
                        "with Quiet({X}) as manager:",
                        "with contextlib.suppress({X}):",
                        "with contextlib.nullcontext({n}) as held:",
                        "with Quiet(), Quiet({X}):",
                    ]
                ).replace("{X}", self.rng.choice(EXCEPTIONS))
            )
        )
        self.merge(self.block(), dict(self.env))

    def match_(self) -> None:
        """A match statement."""
        subject, patterns = self.rng.choice([
            (self.expr("n"), ["0", "1 | 2", "int()", "k if k > {n}"]), (self.expr("u"), ["(Tensor(), 1)", "(a, int())", "(a, b)", "()"]),
            (self.expr("any"), ["None", "Tensor()", "int() | float()", "str()", "[a, *b]", "{{'a': a}}", "Box(value=3)"]),
            (self.expr("l"), ["[]", "[a]", "[a, b]", "[a, *_]"]), (self.expr("z"), ["'a'", "'b' | ''", "k if k in TABLE"]),
        ])  # fmt: skip
        self.put(f"match {subject}:")
        self.indent += 1
        envs = [dict(self.env)]
        for pattern in self.rng.sample(patterns, self.rng.randint(1, len(patterns))):
            self.put(f"case {self.fill(pattern)}:")
            envs.append(self.block(2))
        self.put("case _:")
        envs.append(self.block(1))
        self.indent -= 1
        self.merge(*envs)

    def function(self, head: str, env: dict[str, str], last: Callable[[], str], most: int = 2) -> None:
        """A nested function."""
        self.put(head)
        outer, self.env = self.env, {**self.env, **env}
        loops, self.loops = self.loops, 0
        hidden, self.fixed = self.fixed, {*self.fixed, *outer}
        self.indent += 1
        self.inner += 1
        for _ in range(self.rng.randint(0, most)):
            self.statement()
        self.put(last())
        self.inner -= 1
        self.indent -= 1
        self.env, self.loops, self.fixed = outer, loops, hidden

    def nested(self) -> None:
        """A nested function, called."""
        name, a, n = self.fresh(), self.fresh(), self.fresh()
        self.function(
            f"def {name}({a}, {n}={self.expr('n')}):",
            {a: "t", n: "n"},
            lambda: f"return {self.expr(self.rng.choice('ttnu'))}",
        )
        result = self.fresh()
        call = self.fill(
            self.rng.choice(
                [
                    f"{name}({{t}})",
                    f"{name}({{t}}, {{n}})",
                    f"[{name}({{t}}), {name}({{t}}, {{n}})]",
                    f"ms.grad(lambda a: {name}(a).sum())({{f}})",
                    f"list(map({name}, {{l}}))",
                    f"ms.jit({name})({{t}})",
                    f"ms.vmap({name})({{t}})",
                    f"{name}({n}={{n}}, **{{{{'{a}': {{t}}}}}})",
                ]
            )
        )
        self.put(f"{result} = {call}")
        self.env[result] = "any"

    def closure(self) -> None:
        """A function that changes a variable around it."""
        names = [n for n, k in self.env.items() if n.startswith("v") and n not in self.fixed]
        if not names:
            self.assign()
            return
        name, held = self.fresh(), self.rng.choice(names)
        self.put(f"def {name}():")
        self.put(f"    nonlocal {held}")
        self.put(f"    {held} = {self.expr(self.env[held] if self.env[held] in EXPRESSIONS else 'any')}")
        self.put(f"    return {self.expr('any', 1)}")
        if self.rng.random() < 0.3:
            self.put(f"for _ in range({self.expr('n')} % 3):")
            self.put(f"    LOG.append({name}())")
        else:
            self.put(self.rng.choice([f"{name}()", f"LOG.append({name}())", f"{name}(); {name}()"]))

    def generator(self) -> None:
        """A generator of its own."""
        name = self.fresh()
        self.put(f"def {name}():")
        self.put(f"    for a in range({self.expr('n')} % 4):")
        self.put(f"        LOG.append(a)\n{'    ' * (self.indent + 2)}yield {self.expr('t', 1)} + a")
        result = self.fresh()
        self.put(
            f"{result} = "
            + self.rng.choice(
                [
                    f"list({name}())",
                    f"sum({name}())",
                    f"next({name}(), None)",
                    f"[a for a in {name}() if a.sum() > 1]",
                    f"max({name}(), key=lambda a: a.sum(), default=0)",
                ]
            )
        )
        self.env[result] = "any"

    def recursion(self) -> None:
        """A nested function that calls itself."""
        if self.rng.random() < 0.5:
            self.recursion_by_values()
            return
        name = self.fresh()
        self.put(f"def {name}(n, a):")
        self.put(
            f"    return a if n < 1 {self.rng.choice(['', 'or a.sum() > 9 '])}else {name}(n - 1, {self.rng.choice(['a + n', 'a * 2', 'a[1:]', 'a - a.sum()'])})"
        )
        result = self.fresh()
        self.put(f"{result} = {name}({self.expr('n')} % 5, {self.expr('t')})")
        self.env[result] = "t"

    def recursion_by_values(self) -> None:
        """One that ends by values and sees what the program changes, called twice."""
        name, held, result = self.fresh(), self.fresh(), self.fresh()
        before, after = self.rng.choice([
            (f"{held} += 1", f"{held} -= 1"), (f"{held} += 1", "pass"), ("LOG.append(a.sum())", "LOG.pop()"), ("pass", "pass"),
            ("BOX.value += 1", "BOX.value -= 1"), ("TABLE['hits'] += 1", "pass"), ("STATE.add_(1)", "STATE.add_(-1)"),
        ])  # fmt: skip
        seen = self.rng.choice([held, held, "BOX.value", "len(LOG)", "STATE.sum()", "TABLE['hits']", self.expr("n", 1)])
        self.put(f"{held} = {self.expr('n')}")
        self.put(f"def {name}(a, b=None):")
        self.put(f"    nonlocal {held}")
        self.put("    if not -50 < a.sum() < 50 or a.sum() == 0:")
        self.put(f"        return {self.rng.choice(['a', 'a', 'b if b is not None else a', held])}")
        self.put(f"    {before}")
        self.put(f"    c = {name}(a * 3 + {seen}, {self.rng.choice(['b', 'b', 'a'])})")
        self.put(f"    {after}")
        self.put(f"    return {self.rng.choice(['c', 'c', 'c + 1'])}")
        self.put(f"{result} = [{name}({self.expr('f', 1)}, {self.expr('t', 1)})]")
        self.statement()
        self.put(f"{result}.append({name}({self.expr('f', 1)}))")
        self.env[result], self.env[held] = "l", "n"

    def made_by_native_code(self) -> None:
        """A list in what native code makes, which some paths change."""
        made, result = self.fresh(), self.fresh()
        make, held = self.rng.choice([
            ("collections.defaultdict(list)", "['a']"), ("collections.defaultdict(list, a=[])", "['a']"),
            ("Settings({r})", ".names"), ("copy.deepcopy(Settings({r}, {n}))", ".names"), ("copy.copy([[{n}], [{t}]])", "[0]"),
            ("copy.deepcopy({{'a': [{n}]}})", "['a']"), ("types.SimpleNamespace(a=list({m}))", ".a"), ("dict.fromkeys('ab', [{n}])", "['a']"),
            ("copy.deepcopy(types.SimpleNamespace(a=[{t}]))", ".a"), ("list(map(list, [({n},), ({t},)]))", "[1]"), ("{{}}", ".setdefault('a', [])"),
            ("collections.OrderedDict(a=[{n}], b={t})", "['a']"), ("collections.deque([[{n}], {t}])", "[0]"), ("dataclasses.asdict(SETTINGS)", "['names']"),
        ])  # fmt: skip
        while "{" in (plain := make.replace("{{", "").replace("}}", "")):
            kind = plain[plain.index("{") + 1]
            make = make.replace(f"{{{kind}}}", self.expr(kind, 1).replace("{", "{{").replace("}", "}}"), 1)
        self.put(f"{made} = {make.replace('{{', '{').replace('}}', '}')}")
        for _ in range(self.rng.randint(1, 3)):
            change = self.rng.choice([".append({t})", ".append({n})", ".extend({m})", ".append('a')"])
            for kind in "tnm":
                change = change.replace(f"{{{kind}}}", self.expr(kind, 1))
            if self.rng.random() < 0.7:
                self.put(f"if {self.expr('q')}:")
                change = f"    {change}"
            self.put(change.replace(".", f"{made}{held}.", 1))
        self.put(f"{result} = list({made}{held})")
        self.env[result] = "l"

    def unpack(self) -> None:
        """Several targets."""
        a, b = self.fresh(), self.fresh()
        form, kinds = self.rng.choice(
            [
                ("{a}, {b} = {t0}, {n0}", "t,n"),
                ("{a}, *{b} = {l0}", "any,l"),
                ("{a} = {b} = {t0}", "t,t"),
                ("{a}, {b} = {u0}", "t,n"),
                ("({a}, _), {b} = {u0}, {n0}", "any,n"),
                ("{a}, {b} = {m0}[:2]", "n,n"),
                ("[{a}, {b}] = {t0}", "t,t"),
                ("{a}, {b} = {b0}, {a0}", "any,any"),
            ]
        )
        for kind in "tnlum":
            form = form.replace(f"{{{kind}0}}", self.expr(kind))
        form = form.replace("{a0}", self.expr("any")).replace("{b0}", self.expr("any"))
        self.put(form.replace("{a}", a).replace("{b}", b))
        self.env.update(zip((a, b), kinds.split(",")))

    def walrus(self) -> None:
        """An assignment inside of a condition."""
        name = self.fresh()
        self.put(f"if ({name} := {self.expr('n')}) > {self.expr('n')}:")
        self.env[name] = "n"
        self.merge(self.block(2), dict(self.env))

    def delete(self) -> None:
        """A variable that is gone."""
        names = [n for n in self.env if n.startswith("v") and n not in self.fixed]
        if names and not self.loops and not self.inner and self.indent == 1:
            name = self.rng.choice(names)
            self.put(f"del {name}")
            del self.env[name]
