"""The text of random programs, up to expressions: names, templates filled with expressions, arguments of the calls."""

# ruff: noqa: E501 - templates read better in rows

from __future__ import annotations

import random

from .grammar import BETWEEN, DTYPES, EXPRESSIONS, LEAVES

ALSO = {"t": "fibcs", "n": "q", "any": "nrzqfisbumldt", "q": "s", "l": "m"}
"""Kinds that may stand for another."""


class Phrases:
    """What one program has so far."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.env: dict[str, str] = {}
        self.fixed: set[str] = set()
        self.loops = self.inner = self.count = 0
        self.budget = 0
        self.parameters: list[str] = []
        self.inputs = ""
        self.between = ""
        self.dtypes = [self.rng.choice(DTYPES) for _ in range(2)] + ["float32", "int64"]

    # -- the arguments, and the world outside ----------------------------------------------------------------------

    def number(self, kind: str) -> str:
        """A literal."""
        rng = self.rng
        if kind == "n":
            return str(
                rng.choice([0, 1, 2, 3, 4, 5, -1, -2, 7] if rng.random() < 0.94 else [10, -9, 2**31, 2**63, 255])
            )
        if kind == "r":
            return rng.choice(
                ["0.0", "0.5", "-1.5", "2.0", "1.25", "-0.0", "3.7", "float('nan')", "float('inf')", "1e30"][
                    : 7 if rng.random() < 0.8 else 10
                ]
            )
        if kind == "q":
            return rng.choice(["True", "False"])
        return rng.choice(["'a'", "'b'", "'hits'", "'2'", "''", "'value'"])

    def tensor(self, dtype: str, shape: tuple[int, ...]) -> str:
        """A tensor as text."""
        rng = self.rng
        if 0 in shape:
            return f"Tensor(np.zeros({shape}), ms.{dtype})"

        def item() -> str:
            if dtype == "bool_":
                return rng.choice(["True", "False"])
            if "int" in dtype:
                low = 0 if dtype.startswith("u") else -3
                return str(rng.randint(low, 5) if rng.random() < 0.95 else 2 ** (int(dtype.strip("uint")) - 1) - 1)
            text = str(rng.randint(-12, 12) / 4)
            if rng.random() < 0.04:
                text = rng.choice(["float('nan')", "float('inf')", "-0.0", "1e4"])
            return text + " + 1j" if dtype.startswith("complex") and rng.random() < 0.5 else text

        def nested(shape: tuple[int, ...]) -> str:
            return item() if not shape else "[" + ", ".join(nested(shape[1:]) for _ in range(shape[0])) + "]"

        return f"Tensor({nested(shape)}, ms.{dtype})"

    def make_inputs(self) -> None:
        """Parameters, and six calls: numbers change, shapes change once, and the first call comes again."""
        rng = self.rng
        names = "xywv"
        kinds = [rng.choices("tnrzqldmue", [8, 8, 2, 2, 1.5, 1, 1, 1.5, 0.5, 0.5])[0] for _ in range(rng.randint(0, 2))]
        kinds = ["t", rng.choices("nrzqt", [7, 1, 1, 1, 3])[0], *kinds]
        shape_kinds = {
            name: rng.choice([(), ("n",), ("n",), ("n",), ("n",), ("m", "n"), ("m", "n"), ("n", "n")]) for name in names
        }
        dtypes = {name: rng.choice(self.dtypes) for name in names}
        sizes = [rng.choice([1, 2, 3, 3, 3, 4, 0]), rng.choice([2, 2, 3, 1])]
        other = [rng.choice([1, 2, 4, 5, 0]), rng.choice([2, 3])]
        self.parameters = [f"{k if k != 't' else names[i]}{i}" for i, k in enumerate(kinds)]
        views = [rng.random() < 0.1 for _ in kinds]
        odd = rng.random()

        def value(at: int, kind: str, n: int, m: int) -> str:
            name = names[at]
            shape = tuple({"n": n, "m": m}[a] for a in shape_kinds[name])
            dtype = dtypes[name]
            if kind == "t":
                text = self.tensor(dtype, shape)
                return f"{self.tensor(dtype, (2, *shape))}[1]" if views[at] and 0 not in shape else text
            item = self.tensor(dtype, (n,))
            match kind:
                case "l":
                    return f"[{item}, {self.tensor(dtype, (n,))}, {self.number('n')}]"
                case "d":
                    return f"{{'a': {item}, 'b': {self.tensor(dtype, (n,))}}}"
                case "m":
                    return f"[{', '.join(self.number('n') for _ in range(3))}]"
                case "u":
                    return f"({item}, {self.number('n')})"
                case "e":
                    return f"{{{self.number('n')}, 1}}"
            return self.number(kind)

        calls = []
        for call in range(5):
            n, m = other if call == 3 else sizes
            if call == 3 and odd < 0.12:
                for name in names:
                    dtypes[name] = rng.choice(DTYPES)
            elif call == 3 and odd < 0.2:
                shape_kinds = {name: rng.choice([(), ("n",), ("m", "n")]) for name in names}
            calls.append([value(at, kind, n, m) for at, kind in enumerate(kinds)])
            if call and rng.random() < 0.4:  # some things stay
                for at in range(len(kinds)):
                    if rng.random() < 0.5 and call != 3:
                        calls[-1][at] = calls[0][at]
        calls.append(calls[0])
        self.inputs = (
            "def inputs():\n    return [\n" + "".join(f"        ({', '.join(c)},),\n" for c in calls) + "    ]\n"
        )
        lines = []
        if rng.random() < 0.5:
            lines = rng.sample(BETWEEN, rng.randint(1, 3))
        named = sorted({line.split(" ")[0] for line in lines if line.split(" ")[0].isidentifier() and " = " in line})
        body = ([f"global {', '.join(named)}"] if named else []) + [
            f"if n == {rng.choice([1, 2, 4])}: {line}" if rng.random() < 0.4 else line for line in lines
        ]
        self.between = "def between(n):\n" + "".join(f"    {line}\n" for line in body or ["pass"])

    # -- text --------------------------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        """One line of the function."""
        self.lines.append("    " * self.indent + line)

    def fresh(self) -> str:
        """A new name."""
        self.count += 1
        return f"v{self.count}"

    def names(self, kind: str) -> list[str]:
        """Variables that may stand for ``kind``."""
        kinds = kind + ALSO.get(kind, "")
        return [n for n, k in self.env.items() if k == kind or k in kinds or (k == "t" and kind in "fibs")]

    def expr(self, kind: str, depth: int = 2) -> str:
        """An expression of ``kind``."""
        rng = self.rng
        names = self.names(kind)
        if names and rng.random() < (0.85 if depth <= 1 else 0.35):
            return rng.choice(names)
        if depth <= 0:
            return rng.choice(LEAVES[kind] if not names or rng.random() < 0.1 else names)
        if kind == "t":
            kind = rng.choices("tfib", [6, 2, 1, 1])[0]
        return self.fill(rng.choice(EXPRESSIONS[kind]), depth - 1)

    def fill(self, template: str, depth: int = 1) -> str:
        """``template`` with expressions in place of the kinds in braces."""
        out, at = [], 0
        if "f'''" in template:
            depth = 0  # no f-string within an f-string: versions of Python differ in what they allow
        while at < len(template):
            if template[at : at + 2] in ("{{", "}}"):
                out.append(template[at])
                at += 2
            elif template[at] == "{":
                end = template.index("}", at)
                out.append(self._part(*template[at + 1 : end].partition(":")[::2], depth))
                at = end + 1
            else:
                out.append(template[at])
                at += 1
        return "".join(out)

    def _part(self, kind: str, spec: str, depth: int) -> str:
        kind, bang, conversion = kind.partition("!")
        tail = (bang + conversion) + (":" + spec if spec else "")
        if kind == "N":
            return self.rng.choice(["0", "1", "2", "3", "4", "5"])
        if kind == "DT":
            return self.rng.choice(self.dtypes)
        if kind == "O":
            return self.rng.choice([n for n, k in self.env.items() if k == "o"] + ["BOX"])
        if len(kind) == 1 and kind.isupper():
            names = [n for n in self.names(kind.lower()) if n not in self.fixed] or self._made(kind.lower())
            return self.rng.choice(names)
        return self.expr(kind, depth) + tail

    def _made(self, kind: str) -> list[str]:
        """A new variable of ``kind``."""
        name = self.fresh()
        self.put(f"{name} = {self.expr(kind)}")
        self.env[name] = kind
        return [name]

    def target(self, kind: str) -> str:
        """A name to assign to."""
        own = [n for n, k in self.env.items() if k == kind and n not in self.fixed]
        return self.rng.choice(own) if own and self.rng.random() < 0.5 else self.fresh()
