"""``python -m duograph``: scripts, code, modules and notebooks run as Python would run them."""

from __future__ import annotations

import json

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


def test_notebook_magics_are_skipped_aloud(tmp_path):
    file = tmp_path / "book.ipynb"
    file.write_text(notebook(("code", "%matplotlib inline\n", "!pip install x\n", "print(1)")))
    done = run_python("-m", "duograph", str(file))
    assert done.stdout == "1\n" and "skipped '%matplotlib inline'" in done.stderr and "!pip" in done.stderr


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
