"""Compares what two trees compile: see `scripts/replay` and ``CONTRIBUTING.md``."""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.replay.compare import Comparison, Recording

ROOT = Path(__file__).parents[2]
RECORDER = "tests/replay/record.py"
MOST_FAILURES = 0.02
"""Of the entries, that may fail in both trees: two trees of which nothing runs are not the same."""


class Impossible(Exception):
    """There is nothing to compare."""


def git(*arguments: str) -> bytes:
    """What a git command says.

    Raises:
        Impossible: it fails.
    """
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=False)
    if done.returncode:
        raise Impossible(done.stderr.decode().strip())
    return done.stdout


def lay_out(base: str, folder: Path) -> Path:
    """The tree of a commit, in ``folder``."""
    if not git("ls-tree", "--name-only", base, RECORDER):
        oldest = git("log", "--diff-filter=A", "--format=%h", "--", RECORDER).decode().split()
        since = f"the oldest base is {oldest[-1]}" if oldest else "no commit has one yet"
        raise Impossible(f"{base} cannot record itself ({RECORDER} is not in it): {since}")
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=git("archive", base), check=True)
    return folder


def recorded(tree: Path, folder: Path, patterns: list[str]) -> Recording:
    """The recording of a tree, by its own recorder, in a process that sees no other tree.

    Raises:
        Impossible: it fails.
    """
    if not (folder / "conditions").exists():
        # what is found in the cache on disk is not compiled, so it would not be recorded
        environment = {**os.environ, "MS_COMPILER_CACHE_ENABLE": "0"}
        environment |= {"PYTHONPATH": f"{tree}/src", "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "tests.replay.record", str(folder), *patterns]
        if subprocess.run(command, cwd=tree, env=environment, check=False).returncode:
            raise Impossible(f"{tree} could not be recorded")
    return Recording(folder)


def compare(base: Recording, now: Recording, lines: int) -> int:
    """Prints what is different, and the numbers to the other stream: of equal trees the output is empty.

    Raises:
        Impossible: the recordings have too little in common, or too little in them.
    """
    if base.conditions != now.conditions:
        raise Impossible(f"recorded under different conditions:\n{base.conditions}\n{now.conditions}")
    comparison = Comparison(base, now)
    for line in comparison.report(lines):
        print(line)
    print(comparison.summary(), file=sys.stderr)
    failures = now.failures() if comparison.is_same else []
    if failures:
        print("\n".join(["failed in both trees, so not compared:", *failures]), file=sys.stderr)
    if len(failures) > MOST_FAILURES * len(now.entries):
        raise Impossible(f"{len(failures)} of {len(now.entries)} entries failed")
    return 0 if comparison.is_same else 1


def _kept(options: argparse.Namespace, commit: str) -> Path | None:
    """Where the recording of a commit stays, if it is to; by all that `conditions` tells apart."""
    if options.keep is None:
        return None
    case = hashlib.sha256(repr((sys.version, options.patterns)).encode()).hexdigest()[:8]
    return options.keep.absolute() / f"{commit[:12]}-{case}"


def main() -> int:
    """Command line: 0 if the trees compile the same, 1 if not, 2 if that could not be found out."""
    parser = argparse.ArgumentParser(prog="scripts/replay", description=__doc__)
    parser.add_argument("base", metavar="BASE", help="the commit that the working tree is compared with")
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help="regular expressions: only entries with one")
    parser.add_argument("--lines", type=int, default=60, help="most lines shown of each text; 0: all (default: 60)")
    parser.add_argument("--keep", type=Path, help="a folder where recordings stay: bases are recorded only once")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="duograph-replay-") as temporary:
            place = Path(temporary)
            commit = git("rev-parse", "--verify", f"{options.base}^{{commit}}").decode().strip()
            base = recorded(
                lay_out(commit, place / "base"), _kept(options, commit) or place / "there", options.patterns
            )
            now = recorded(ROOT, place / "here", options.patterns)
            return compare(base, now, options.lines)
    except Impossible as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
