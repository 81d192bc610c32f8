"""Functions of statements within statements, as random programs have them, and with code that the compiler drops."""

NESTED = [
    "def f(x):\n while True: continue",
    "def f(x):\n if x:\n  while True: pass\n return x",
    "def f(x):\n assert None, [q for q in x]",
    "def f(x, y):\n for i in x:\n  y = x and i or y\n  assert i, 'no'",
    "def f(x, y):\n try: g()\n except (x if y else K): return 2",
    "def f(x, y):\n try: g()\n except* (x if y else K): h()",
    "def f(x, y):\n x[(n := y)] += 1\n (m := x).a -= n",
    "def f(x, y): return ((n := y + 1)), ((m := y) if x else (m := n))",
    "def f(x):\n try: y = 1\n finally:\n  try: raise E(x)\n  except K: x = h()\n return x, y",
    """
    def f(x, y):
        try:
            while not (x or y):
                x.a += y
        finally:
            try:
                x = g(y)
            except K:
                import os
            else:
                import os
    """,
    """
    def f(x, y):
        try:
            return x
        except K:
            while True:
                del y[x]
                if any(q for q in y):
                    break
        while x:
            while True:
                g()
                if x or y:
                    break
            y = x if y else h()
    """,
    """
    def f(x, y):
        while True:
            try:
                while True:
                    y = lambda v: v + x
                    if (n := g(x)) > 2:
                        break
            finally:
                x = h(y)
            if not (x or y):
                break
    """,
    """
    def f(x, y):
        for i, j in zip(x, y):
            while not (i or j):
                x.a = i
            try:
                try:
                    g(0)
                except (K, E):
                    continue
            except L:
                i = j = y
            else:
                while True:
                    if i > j:
                        break
    """,
    """
    def f(x, y):
        try:
            g()
        except K:
            if not (x or y):
                try:
                    y = x if y else g()
                except L:
                    n = x and not y
                else:
                    return x
                for i in y:
                    return i
        else:
            raise E(x)
    """,
    """
    def f(x, y):
        try:
            x = g()
        except K:
            with h(x) as w:
                match x:
                    case 1 | 2:
                        w.a = x
                    case [z, *_] if not (x or y):
                        return x
                    case _:
                        return x
    """,
    """
    def f(x, y):
        while x:
            try:
                g(x)
            except K:
                y += 1
            else:
                raise E(x)
            try:
                x = g(y)
            except K:
                x = 1
        return y
    """,
    """
    def f(x, y):
        try:
            while True:
                for i in x:
                    continue
                if x > y:
                    break
            while True:
                if x > y:
                    break
        finally:
            x = y
            match x:
                case 1 | 2:
                    g(x)
                case [z, *_] if not x:
                    del y[z]
        return x
    """,
    """
    def f(x, y):
        while True:
            with g(x) as w:
                x[w] = y
                continue
            h(x)
            if x > y:
                break
        return y
    """,
    """
    def f(x, y):
        try:
            g(x)
        except K:
            pass
        while True:
            try:
                h(y)
                break
            except L:
                pass
    """,
    """
    def f(x, y):
        try:
            y = [q for q in x if q]
            z = y
        finally:
            x = y if x else g(z)
            h(x)
        return x
    """,
]
DROPPED = [
    "def f(x):\n while g(x):\n  try: continue\n  except K: x = 1\n  else: y = lambda v: v + x",
    "def f(x):\n while not x:\n  break\n  x = (yield 1)",
    "def f(x):\n for i in x:\n  return i\n  z = 2\n return z",
    "def f(x):\n def g():\n  return 1\n  h(x)\n return g",
]
"""What only statements say that are not compiled: that a name is a variable, or shared, or the function a generator."""
