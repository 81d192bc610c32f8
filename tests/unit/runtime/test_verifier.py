"""LLVM's verifier accepts every text that the runtime's modules and a sample of kernels are compiled from.

`compile_texts` runs it only where ``DUOGRAPH_VERIFY`` asks for it: it costs a tenth of a compilation. A text that the
parser takes and the verifier does not is undefined behaviour of LLVM: code, or the end of the process.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

import duograph
from duograph.base.config import config, set_config
from duograph.runtime.machine.llvm import TextError, compile_text
from tests.unit.runtime.processes import python

PROGRAM = """
    import duograph as ms
    from duograph.runtime.machine import llvm
    from tests.replay import corpus

    compile_one, texts = llvm._compile, []

    def verified(text, target, check, optimisation):
        assert check
        texts.append(text)
        return compile_one(text, target, check, optimisation)

    llvm._compile = verified
    corpus.start()
    entries = corpus.entries()
    operators = [name for name in entries if name.startswith("ops/")]
    for name in [*MODELS, *operators[::30]]:
        entries[name]()
    print("\\n".join(line for text in texts for line in text.splitlines() if line[:1] == "@"))
    print(len(texts), "texts")
"""
MODELS = ["models/LeNet", "models/LSTM", "models/loop", "models/digits mlp, step"]


def module_symbols() -> set[str]:
    """The names of all hand-written modules: the first argument of each ``Module(...)`` in the runtime."""
    found = set()
    for path in (Path(duograph.__file__).parent / "runtime").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Module", "asm.Module"):
                (symbol,) = [a.value for a in node.args[:1] if isinstance(a, ast.Constant)]
                found.add(symbol)
    return found


def test_texts_are_verified(tmp_path: Path) -> None:
    program = f"MODELS = {MODELS!r}\n{textwrap.dedent(PROGRAM)}"
    printed = python(program, DUOGRAPH_VERIFY="pass", DUOGRAPH_CACHE_DIR=str(tmp_path))
    *globals_, count = printed.splitlines()
    defined = {name for line in globals_ for name in re.findall(r"^@(\w+) = (?!external)", line)}
    assert module_symbols() - defined == set()
    assert int(count.split()[0]) > 50


def test_what_only_the_verifier_refuses() -> None:
    text = "define i64 @f(i1 %c) {\nbr i1 %c, label %a, label %b\na:\n%x = add i64 1, 2\nbr label %b\nb:\nret i64 %x\n}"
    before = config().verify
    set_config(verify="pass")
    try:
        with pytest.raises(TextError, match="does not dominate"):
            compile_text(text)
    finally:
        set_config(verify=before)
