"""``python -m duograph``: scripts, code, modules and notebooks run as Python would run them."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from tests.seeds.conftest import run_duograph, run_python

PROGRAM = "import sys, mindspore as ms\nprint(__name__, sys.argv[1:], ms.Tensor([1.0]) + 1)\n"


def test_script(tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 5\n")
    script = tmp_path / "script.py"
    script.write_text(PROGRAM + "import neighbour, os\nprint(neighbour.value, os.path.basename(__file__))\n")
    assert run_duograph(str(script), "a", "-b") == "__main__ ['a', '-b'] [2.]\n5 script.py\n"


def test_code():
    assert run_duograph("-c", PROGRAM, "x") == "__main__ ['x'] [2.]\n"


def test_module(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    assert run_duograph("-m", "package.program", "y") == "__main__ ['y'] [2.]\n"


def test_folder_with_main(tmp_path):
    (tmp_path / "__main__.py").write_text(PROGRAM)
    assert run_duograph(str(tmp_path)) == "__main__ [] [2.]\n"


WITHOUT_IPYTHON = pytest.mark.skipif(find_spec("IPython") is not None, reason="IPython runs these lines")


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": kind, "source": list(lines)} for kind, *lines in cells]})


def test_notebook(tmp_path):
    file = tmp_path / "book.ipynb"
    text = notebook(
        ("markdown", "# Title"),
        ("code", "import mindspore as ms\n", "x = ms.Tensor([1.0])\n", "x"),
        ("code", "@ms.jit\n", "def f(v):\n", "    return v * 2\n", "print(f(x), len(f.explain().fallbacks))"),
        ("code", "f(x);None"),
    )
    file.write_text(text)
    assert run_duograph(str(file)) == "Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])\n[2.] 0\n"


@WITHOUT_IPYTHON
def test_notebook_magics_are_skipped_aloud(tmp_path):
    file = tmp_path / "book.ipynb"
    file.write_text(notebook(("code", "%matplotlib inline\n", "!pip install x\n", "print(1)")))
    done = run_python("-m", "duograph", str(file))
    assert done.stdout == "1\n" and "skipped '%matplotlib inline'" in done.stderr and "!pip" in done.stderr


@WITHOUT_IPYTHON
def test_notebook_lines_that_measure_and_those_that_are_missed(tmp_path):
    file = tmp_path / "book.ipynb"
    cells = ["%%timeit\nx = 1\n", "if True:\n    %time y = x + 1\nprint(y)", "t = '''\n% no magic\n'''\nt", "y?", "y;"]
    file.write_text(notebook(*[("code", cell) for cell in cells], ("code", "display(y)\n")))
    done = run_python("-m", "duograph", str(file))
    assert (done.returncode, done.stdout) == (0, "2\n'\\n% no magic\\n'\n2\n")
    for cell in ("%%bash\nls", "files = !ls", "n = %sql select"):
        file.write_text(notebook(("code", "print(1)"), ("code", cell)))
        done = run_python("-m", "duograph", str(file))
        assert (done.returncode, done.stdout) == (1, "1\n")
        first = cell.partition("\n")[0]
        assert done.stderr == (
            f"duograph: <book.ipynb, cell 2>, line 1: {first!r} is not Python and needs IPython: pip install ipython\n"
        )


@pytest.mark.skipif(find_spec("IPython") is None, reason="IPython is not installed")
def test_notebook_magics_are_those_of_ipython(tmp_path):
    file = tmp_path / "book.ipynb"
    cells = ["x = 1\n%time y = x + 1\n", "%%capture out\nprint('hidden')", "!echo from shell", "f = !echo a b\nf[0]"]
    file.write_text(notebook(*[("code", cell) for cell in cells], ("code", "print(y, out.stdout.strip())")))
    done = run_python("-m", "duograph", str(file))
    assert done.returncode == 0 and "Wall time" in done.stdout
    assert done.stdout.splitlines()[-3:] == ["from shell", "'a b'", "2 hidden"]


def test_exit_status_and_traceback(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit(3)\n")
    assert run_python("-m", "duograph", str(script)).returncode == 3
    script.write_text("def f():\n    1 / 0\nf()\n")
    done = run_python("-m", "duograph", str(script))
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and lines[0].startswith("Traceback") and lines[-1].startswith("ZeroDivisionError")
    assert "script.py" in lines[1] and "duograph" not in done.stderr.replace(str(tmp_path), "")


@pytest.mark.parametrize("arguments", [("missing.py",), ("--nope",), ("-c",), ()])
def test_wrong_command_lines(arguments):
    done = run_python("-m", "duograph", *arguments)
    assert done.returncode == 2 and not done.stderr.startswith("Traceback")


def test_explain(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import mindspore as ms\n@ms.jit\ndef f(x):\n    return x * 2\n@ms.jit\ndef g(x):\n"
        "    return ms.Tensor(x.asnumpy())\nprint(f(ms.Tensor([1.0])), f(ms.Tensor([[1.0]])), g(ms.Tensor([1.0])))\n"
    )
    done = run_python("-m", "duograph", "explain", str(script))
    assert done.returncode == 0 and done.stdout == "[2.] [[2.]] [1.]\n"
    assert f"f ({script}:2): 2 compiled versions" in done.stderr
    assert f"g ({script}:5): 0 compiled versions" in done.stderr and "asnumpy" in done.stderr
    assert "recompiled: x was" in done.stderr
    assert run_python("-m", "duograph", "explain").returncode == 2


def test_explain_sees_methods_and_graph_mode(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import mindspore as ms\nfrom mindspore import nn\n"
        "class A(nn.Cell):\n    @ms.jit\n    def construct(self, x):\n"
        "        return x + 1\nclass B(nn.Cell):\n    def construct(self, x):\n        return x * 2\n"
        "x = ms.Tensor([1.0])\na, b = A(), B()\na(x)\nms.set_context(mode=ms.GRAPH_MODE)\nb(x)\n"
    )
    done = run_python("-m", "duograph", "explain", str(script))
    assert done.returncode == 0, done.stderr
    assert f"A.construct ({script}:4): 1 compiled version" in done.stderr
    assert f"B.construct ({script}:8): 1 compiled version" in done.stderr


def test_version_and_help():
    import duograph

    assert run_duograph("--version") == f"duograph {duograph.__version__}\n"
    assert "demo" in run_duograph("--help")
