"""Runs the test-suites of packages, as they are and with everything compiled, and compares which tests pass."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGES = {"toolz": "toolz", "more-itertools": "more_itertools", "boltons": "boltons"}
"""Pure Python packages whose archive holds their tests: name in the index, name to import."""
KNOWN = {
    "tests/test_cacheutils.py::test_min_id_map": "versions keep the objects that they are about alive",
    "tests/test_tbutils.py::test_contextual": "it looks for the caller of a decorated caller, and finds the decorator",
}
"""Tests that end in another way, and why; docs/capture.md says so, too."""
_RESULT = re.compile(r"^(.*\S)\s+(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", re.MULTILINE)


def unpacked(name: str, folder: Path) -> Path:
    """The source archive of a package, from the package index, unpacked."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    subprocess.run([*command, name], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def results(source: Path, module: str, mode: str | None, seconds: float) -> dict[str, str]:
    """How each test ends; without a ``mode``: as the package is."""
    here = Path(__file__).resolve().parents[2]
    paths = [str(source), str(here / "src"), str(Path(__file__).parent)]  # ``tests`` is the package's
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "DUOGRAPH_CAPTURE_SECONDS": "0.5",
        "DUOGRAPH_COMPARE": "0",
    }
    plugin: list[str] = []
    if mode is not None:
        environment |= {"ZERO_CHANGE": module, "ZERO_CHANGE_MODE": mode}
        plugin = ["-p", "decorate_all"]
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-o", "addopts=", "--tb=short", *plugin]
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, timeout=seconds)
    found = dict(_RESULT.findall(done.stdout))
    if not found:
        raise SystemExit(f"no test of {module} ran:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    results.text = done.stdout  # type: ignore[attr-defined]
    return found


def main() -> int:
    """Command line; the status says whether anything differs that is not known."""
    parser = argparse.ArgumentParser(prog="scripts/zero_change", description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(PACKAGES))
    parser.add_argument("--mode", default="bytecode", help="of capture")
    parser.add_argument("--seconds", type=float, default=900, help="for one run of one test-suite")
    parser.add_argument("--verbose", action="store_true", help="shows the output of the compiled run")
    options = parser.parse_args()
    differ = 0
    for name in options.packages:
        with tempfile.TemporaryDirectory() as folder:
            source, module = unpacked(name, Path(folder)), PACKAGES.get(name, name)
            plain = results(source, module, None, options.seconds)
            ours = results(source, module, options.mode, options.seconds)
            if options.verbose:
                print(results.text)  # type: ignore[attr-defined]
        other = [test for test, result in plain.items() if ours.get(test) != result]
        passed = [sum(result == "PASSED" for result in found.values()) for found in (plain, ours)]
        print(f"{name}: {len(plain)} tests, {passed[0]} pass as they are, {passed[1]} with everything compiled")
        for test in other:
            print(f"    {test}: {plain[test]}, compiled {ours.get(test)}: {KNOWN.get(test, 'not known')}")
        differ += sum(test not in KNOWN for test in other)
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
