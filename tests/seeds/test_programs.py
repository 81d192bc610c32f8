"""Every code example of the five seed documents, unmodified (``programs/`` holds them word for word).

002 and 003 replace MindSpore's gradient of Mul, so they run in processes of their own.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tests.seeds.conftest import PROGRAMS, run_duograph

NETWORKS = ["000.py", *(f"{seed}_{number}.py" for seed in ("001", "004") for number in range(1, 7))]

_NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")


def numbers(text: str) -> list[float]:
    return [float(found) for found in _NUMBER.findall(text)]


def assert_close_text(actual: str, expected: str) -> None:
    """The same text, numbers to five digits: the documents say that the last digit depends on the platform."""
    assert _NUMBER.sub("#", actual).split() == _NUMBER.sub("#", expected).split()
    np.testing.assert_allclose(numbers(actual), numbers(expected), rtol=1e-5)


@pytest.mark.parametrize("swap", [False, True], ids=["as written", "other mode"])
@pytest.mark.parametrize("name", NETWORKS)
def test_network(run_program, name, swap):
    printed, names = run_program(name, swap)
    output = names["output"]
    assert output.shape == (64, 10) and str(output.dtype) == "Float32"
    rows = output.asnumpy()
    assert np.isfinite(rows).all() and np.abs(rows).max() > 0
    assert (rows == rows[0]).all(), "equal images give equal rows"
    assert printed == f"{rows}\n" and len(numbers(printed)) == 640, "all rows are printed"


def test_002():
    printed = run_duograph(str(PROGRAMS / "002.py"))
    exact = "[5. 7. 9.]\n[5. 7. 9.]\n[ 4. 10. 18.]\n[ 4. 10. 18.]\n"
    assert printed.startswith(exact)
    assert printed.endswith("[4. 5. 6.]\n")
    gradient = printed.removeprefix(exact).removesuffix("[4. 5. 6.]\n")
    assert_close_text(gradient, "[[4.5099998 2.7       3.6000001]\n [4.5099998 2.7       3.6000001]]\n")


def test_003():
    """The notebook shows what each cell printed."""
    cells = json.loads((PROGRAMS / "003.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    outputs = ["".join("".join(part["text"]) for part in cell["outputs"]) for cell in code]
    printed = run_duograph(str(PROGRAMS / "003.ipynb"))
    product, total, gradient, *nothing, mixed = outputs
    assert printed.startswith(product + total) and printed.endswith(mixed) and nothing == ["", ""]
    assert_close_text(printed.removeprefix(product + total).removesuffix(mixed), gradient)


def test_programs_are_verbatim_sources():
    """The programs name MindSpore and nothing of ours."""
    for path in PROGRAMS.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "duograph" not in text
        assert "mindspore" in text
