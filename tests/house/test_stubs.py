"""The stubs say what the packages show."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from tests.children import PATIENCE
from tests.house import typed
from tests.house.imports import SOURCE

ROOT = SOURCE.parents[1]


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("stubs", ROOT / "scripts" / "stubs.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_they_are_what_the_script_writes():
    command = [sys.executable, str(ROOT / "scripts" / "stubs.py"), "--check"]  # tests may have attached methods here
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, ""), f"run scripts/stubs.py\n{done.stderr}"


def test_every_public_name_is_in_one(script):
    for name in script.PACKAGES:
        package = importlib.import_module(name)
        declared = {a.asname or a.name for a in _imports(package)} | {*_named(package)}
        assert not {*script.public_names(package)} - declared, name


def test_no_other_file_is_a_stub(script):
    assert {*SOURCE.rglob("*.pyi")} == {file for file, _ in script.stubs()}


def test_what_is_declared_is_true():
    typed.known()


def _tree(package):
    stub = sys.modules[package.__name__].__file__ + "i"
    with open(stub, encoding="utf-8") as file:
        return ast.parse(file.read())


def _imports(package):
    return [a for s in _tree(package).body if isinstance(s, ast.ImportFrom | ast.Import) for a in s.names]


def _named(package):
    for s in _tree(package).body:
        if isinstance(s, ast.AnnAssign):
            yield s.target.id
        elif isinstance(s, ast.FunctionDef | ast.ClassDef):
            yield s.name
