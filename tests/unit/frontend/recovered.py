"""Functions that come back from their bytecode as they were written, and such that do not."""

FORMS = [
    "def f(x): return x",
    "def f(): pass",
    "def f(a, /, b, *c, d, **e): return a",
    "def f(x, y):\n a, b = (x if y else g(x), y)",
    "def f(x, y):\n a.b, c[0] = (x, x and y)",
    "def f(x, y):\n a, b, c = (0 < x < y, (n := g(x)), y)\n return a",
    "def f(x, y):\n a, b = (g(y), [q for q in x if q])\n return a",
    "def f(x, y):\n a = b = x\n assert y, 'no'",
    "def f(x, y):\n while x in y:\n  try:\n   a = [q for q in y]\n  except Exception:\n   x += 1",
    "def f(x): return -x + ~x * (not x) - +x",
    "def f(x, y): return x @ y ** 2 // 3 % x << 1 >> 2 & 3 | y ^ 5",
    "def f(x, y): return x is y, x is not y, x in y, x not in y, x < y, x != y",
    "def f(x, y): return x[y], x[1:y], x[:], x[::2], x[1:, ...]",
    "def f(x): return x.a.b(x)(1, *x, k=2, **x)",
    "def f(x): return g(*x, **x)",
    "def f(x): return [1, x], (x,), {x, 2}, {1: x, **x}, [*x, 2], {*x}, {}",
    "def f(x): return [1, 2, 3, 4], {1, 2, 3, 4}",
    'def f(x): return f"a{x}b{x!r:>{x}}c", f"{x}"',
    "def f(x, y): return x and y or (not x)",
    "def f(x, y): return x if x and y else y if y else 3",
    "def f(x, y): return x < y < 3 <= x",
    "def f(x, y): return g(x or y, 1 if x else 2)",
    "def f(x): return lambda y, z=x: y if z else x",
    "def f(x): return [i for i in x if i], {i for i in x}, {i: j for i, j in x}",
    "def f(x): return [i + j for i in x for j in i if j]",
    "def f(x): return sum((i for i in x if i > 2))",
    "def f(x): return [[j for j in i] for i in x]",
    "def f(x): return [v() if callable(v) else list(v) for v in x]",
    "def f(x): return [y for i in x if (y := g(i))], y, sum(((d := i) * d for i in x))",
    "def f(x): return lambda: None",
    "def f(self, args): return self.g(*args), self.h(x=1), args.g(), self.k(**args)",
    """
    def f(x):
        _, _, a = x
        for _, _, b in x:
            a += b
        return [c for _, _, c in a]
    """,
    """
    def f(x):
        y = z = x
        a, b = x
        (a, (b, *c)) = x
        a, b = b, a
        x.y = x[0] = x
        x[1:2] = 3
        return a
    """,
    """
    def f(x):
        x += 1
        x.y -= 2
        x[0] *= 3
        x[1:2] /= 4
        del x.y, x
    """.replace("del x.y, x", "del x.y"),
    """
    def f(x):
        global y
        y = x
        del y
    """,
    """
    def f(x):
        if (n := g(x)) and n > 3:
            return n
        return (m := x) + m
    """,
    """
    def f(x):
        if x > 0:
            y = 1
        elif x < -1:
            y = 2
        else:
            y = 3
        return y
    """,
    """
    def f(x, y):
        if x and y or (x > 3 and (not y)):
            return 1
        return 2
    """,
    """
    def f(x, y):
        if not x:
            x = 1
        if x < y < 3:
            x = 2
        if x is None:
            x = 3
        if x is not None:
            y = 4
        return x
    """,
    """
    def f(x):
        if x:
            if g(x):
                return 1
        return 2
    """,
    """
    def f(x):
        while x < 3:
            x = g(x)
        return x
    """,
    """
    def f(x):
        while x and g(x):
            if x == 2:
                break
            x = g(x)
        else:
            x = 4
        return x
    """,
    """
    def f(x):
        while True:
            x = g(x)
            if x:
                break
        return x
    """,
    """
    def f(x):
        for i in x:
            for j in i:
                if j:
                    return j
                g(j)
            if i:
                break
        else:
            x = 1
        return x
    """,
    """
    def f(x):
        for i in x:
            if i < 0:
                continue
            if not i:
                return i
            x = x + i
        return x
    """,
    """
    def f(x):
        for i, (a, b) in x:
            if a:
                g(b)
    """,
    """
    def f(x):
        try:
            g(x)
        except (A, B) as e:
            h(e)
        except C:
            return 1
        except:
            raise
        else:
            k()
        return 2
    """,
    """
    def f(x):
        try:
            g(x)
        finally:
            h(x)
        return 2
    """,
    """
    def f(x):
        try:
            return g(x)
        except A:
            x = 1
        finally:
            h(x)
        return x
    """,
    """
    def f(x):
        for i in x:
            try:
                g(i)
            except A:
                break
        return x
    """,
    """
    def f(x):
        with x as y:
            g(y)
        with x:
            return 1
    """,
    """
    def f(x):
        assert x, 'message'
        assert x and g(x)
        raise A(x) from None
    """,
    """
    def f(x):
        import a.b as c
        from d import e as g, h
        import i
        return c, g, h, i
    """,
    """
    def f(x):

        @g
        @h(1)
        def inner(y, z=1, *, k=2):
            nonlocal x
            x = y
            return x
        return inner
    """,
    """
    def f(x):

        def g(y: int, *a: 'str', k: list[int]=None, **kw: x) -> list:
            return y
        return g
    """,
    """
    def f(x):
        for i in x:
            y = (yield i)
            yield
        yield from x
        return y
    """,
]

LEFT_CLAUSES = [  # clauses of ``finally`` that some paths leave, or all
    "def f(x):\n try: y = g()\n finally:\n  if y: return 1\n return y",
    "def f(x):\n try: g()\n except K: return 2\n finally:\n  x = h()\n  if x: return k(x)",
    "def f(x):\n try: return x < 1\n finally: raise E(x)",
    "def f(x):\n try: g()\n finally:\n  c = h()\n  return",
    "def f(x):\n for i in x:\n  try: g()\n  finally:\n   if i: continue\n   if h(): break\n   k()",
    "def f(x):\n for i in x:\n  try: return g()\n  finally:\n   if i: continue\n   if h(): break\n   k()",
    "def f(x):\n try: b = g(x)\n except:\n  try: x[0] = h()\n  finally: pass",
]

NAMES_AND_CHAINS = [  # values with a name inside of conditions; chained comparisons within other conditions
    "def f(x): return 1 if -10 < g(x) < h(x) < 100 else 2",
    "def f(x):\n if g(x) < (n := h(x)) < k(x): return n",
    "def f(x):\n while g(x) < (n := h(x)) < 3: k(n)",
    "def f(x): return g(x) or (c := h(x))",
    "def f(x): return ((c := x.b) if not x.c else g(x))",
    "def f(x, y): return (x or y) or g(x)",
    "def f(x): return (c := g(x)) < (d := h(x)) < x",
]

GUESSED = [
    """
    def f(x):
        for i in x:
            if g(i):
                break
        else:
            return 1
        return h(i)
    """,
    """
    def f(x):
        for i in x:
            if g(i) == 3:
                break
            if i:
                continue
            h()
        else:
            return "else"
        return k(x), i
    """,
    """
    def f(x):
        while True:
            try:
                y = g(x)
            except E:
                return
            h(y)
    """,
    """
    def f(x):
        while True:
            try:
                yield x
            except E as e:
                yield e
    """,
    """
    def f(x):
        try:
            while True:
                g(x)
                h(x)
        except E:
            pass
        return x
    """,
    """
    def f(x):
        try:
            y = x.y
        except E:
            pass
        else:
            return y()
        return x.z
    """,
    """
    def f(x):
        y = None
        try:
            if x is None:
                y = g(x)
            for i in x:
                if h(i):
                    return i
        finally:
            if y:
                y.close()
        return None
    """,
    """
    def f(x):
        for i in x:
            try:
                y = g(i)
            except E:
                h()
                continue
            finally:
                for k in x:
                    g(k)
            y()
    """,
]
"""Those that can be read in more than one way."""

GROUPS = [
    """
    def f(x):
        try:
            g(x)
        except* A as e:
            h(e)
        except* (B, C):
            k()
        return x
    """,
    """
    def f(x):
        try:
            return g(x)
        except* A:
            raise
    """,
    """
    def f(x):
        try:
            try:
                y = g(x)
            except* A.b as e:
                for i in e.exceptions:
                    if i:
                        break
                    h(i)
            else:
                m()
            finally:
                k()
        except E:
            y = 3
        return y
    """,
    """
    def f(x):
        try:
            y = g(x)
        except* A as e:
            raise B from e
        return y
    """,
]
"""``except*``."""

CLASSES = [
    """
    def f(x, y):

        @deco
        @d2(1)
        class A(B, C, metaclass=M, k=3):
            '''doc'''
            n: int = 3
            k = n + y
            z: str
            __q = 3

            def __init__(self, __a, *, __b=2):
                self.q = super().m
                self.__p = __a + self.__q

            @property
            def __private(self):
                return self.__p

            @staticmethod
            def s(x=k):
                return [x for i in x]
            for i in range(3):
                if i:
                    n = i

            class Inner:
                pass
        return A
    """,
    """
    def f(x):
        if x.sum() > 0:

            class A:
                v = 1
        else:

            class A(NamedTuple):
                a: int
                b: float = 3.0

                def s(self):
                    return self.a + self.b
        return A.v
    """,
    """
    def f(x):

        class A:
            global G
            G = 3
            l = lambda self: self.__v
            h = {k: v for k, v in x}
            try:
                g(x)
            except E:
                pass
            k = 1
        del A
    """,
]
"""Class statements that come back as they were written."""

MATCHES = [
    """
    def f(x, a, b):
        match a:
            case K.l if not a:
                c = h(b)
            case [1, b] if g(x):
                b = b
    """,
    """
    def f(x, a, b):
        if a and b:
            if g(a):
                match x:
                    case 1 | 2 if not a:
                        a += 1
                    case _:
                        b = b
        else:
            assert a, b
    """,
    """
    def f(x):
        match x:
            case 1: a()
            case 2: b()
            case _: c()
        return 3
    """,
    """
    def f(x):
        match x:
            case 1: a()
            case 2: b()
        return 3
    """,
    """
    def f(x):
        match x:
            case 1: return a
            case 2: return b
            case _: return c
    """,
    """
    def f(x):
        match x:
            case [a, b]: return a
            case {"k": v, **rest}: return v, rest
            case P(1, b=q): return q
        return 0
    """,
    """
    def f(x):
        match x:
            case P(a): return a
    """,
    """
    def f(x):
        match x:
            case 1 if g(): a()
            case _ if z: c()
            case _: d()
    """,
    """
    def f(x):
        match x:
            case _ if x > 5: r = 1
            case [a, b] if a: r = 2
            case _ if x and a: r = 3
            case n: r = n
        return r
    """,
    """
    def f(x):
        match x:
            case [a, *b] if a: return a
            case [1, *_, q]: return q
            case (1 | 2) as z: return z
            case y if y > 2: return y
            case None: k()
            case w: return w
    """,
    """
    def f(x):
        match x:
            case [1, {"k": v, **rest}, *_] | (v, rest): return v
            case P(1, b=q) as z if q: g()
            case None: pass
            case _: h()
        return 3
    """,
    """
    def f(x):
        for i in x:
            match i:
                case 1: continue
                case 2: break
                case 3: g()
            h()
        return 1
    """,
    """
    def f(x):
        while x:
            match x:
                case [a, 1]: x = a
                case (a, 2): x = a + 1
                case _: return 5
    """,
    """
    def f(x):
        match x:
            case 1:
                match y:
                    case [2]: return 3
            case "a" | b"c" | 1.5: return 4
            case True | False: return 6
        k()
    """,
    """
    def f(x):
        match x:
            case 1 | 2: return 1
        return 2
    """,
    """
    def f(x):
        match x:
            case [1 | 2, (3 | 4) as y, *z]: return y, z
            case {"a": {"b": [c, d]}, 1: e}: return c, d, e
    """,
    """
    def f(x):
        global G
        match x:
            case [G]: return 1
            case [Point(x=0, y=0) | Point(y=1), *rest]: return rest
    """,
    """
    def f(x):
        try:
            match x:
                case 1: a()
                case [y]: b(y)
        except E:
            pass
        with q:
            match x:
                case 1: a()
                case [y]: b(y)
    """,
]
"""``match`` statements that come back as they were written."""

REFUSED = [
    ("def f(x):\n class A:\n  async def m(self): await self\n return A", "GET_AWAITABLE"),
    ("def f(x):\n class A(*x): pass\n return A", "class"),
    ("async def f(x): return x", "asynchronous"),
]
