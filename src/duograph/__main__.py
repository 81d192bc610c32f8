"""``python -m duograph``: runs MindSpore programs unmodified, the demonstration, and the tools.

What stands behind the name of a program belongs to the program. Commands are parsed by `argparse`; those with many
options (`demo`, `launch`, `opt`) have parsers of their own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from duograph.base.config import launched

USAGE = """\
python -m duograph PROGRAM [ARGUMENT ...]   run a MindSpore script or notebook unmodified
       python -m duograph -m MODULE [ARGUMENT ...]
       python -m duograph -c CODE [ARGUMENT ...]
       python -m duograph COMMAND ...              one of the commands below"""

OTHERS = {
    "demo": ("duograph.demo.digits:main", "train two networks in three modes and compare the bits"),
    "launch": ("duograph.distributed.launch:launch", "run a program on N processes"),
    "reduce": ("duograph.debug.hunt.command:main", "minimize a failing graph, or replay its failure"),
    "opt": ("duograph.debug.opt:main", "run passes on MindIR text"),
}
"""Commands with parsers of their own: what runs them, and what they do."""


def main(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit status."""
    first = arguments[0] if arguments else ""
    if first in OTHERS:
        module, _, function = OTHERS[first][0].partition(":")
        return int(getattr(import_module(module), function)(list(arguments[1:])))
    if first in ("-h", "--help", "--version", "explain", "doctor"):
        return _command(arguments)
    if not first or arguments in (["-m"], ["-c"]):
        said = f"duograph: argument expected for the {first} option" if first else _parser().format_usage()
        print(said, file=sys.stderr)
        return 2
    return _run(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m duograph", usage=USAGE)
    parser.add_argument("--version", action="store_true", help="show the version")
    commands = parser.add_subparsers(prog=parser.prog, title="commands", dest="command", metavar="COMMAND")
    explain = commands.add_parser(
        "explain", help="run a program, then report what was compiled, what was not, and why",
        description="Runs a program, then reports on stderr what was compiled, what was not, and why.",
        usage="python -m duograph explain [--full] [--html FILE] [--profile] [--trace FILE] "
        "(PROGRAM | -m MODULE | -c CODE | demo) [ARGUMENT ...]",
    )  # fmt: skip
    explain.add_argument("--full", action="store_true", help="include guards and graphs")
    explain.add_argument("--html", metavar="FILE", help="also write an HTML report")
    explain.add_argument("--profile", action="store_true", help="also profile time and memory")
    explain.add_argument("--trace", metavar="FILE", help="also write a timeline for Perfetto")
    explain.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="a module, and its arguments")
    explain.add_argument("-c", dest="code", nargs=argparse.REMAINDER, help="code, and its arguments")
    explain.add_argument("program", nargs=argparse.REMAINDER, help="a script or notebook, and its arguments")
    doctor = commands.add_parser("doctor", help="show versions, processor, cache and settings, and run a self-test")
    doctor.add_argument(
        "--variables", action="store_true", help="print the reference page of all environment variables"
    )
    for name, (_, text) in OTHERS.items():
        commands.add_parser(name, help=text)
    return parser


def _command(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.version:
        from duograph import __version__

        print(f"duograph {__version__}")
        return 0
    if options.command == "doctor":
        from duograph.compat.doctor import told

        return told(options.variables)
    from duograph.compat.explain import explain

    program = options.module or options.code or options.program
    if not program:
        print("duograph explain: a program is needed (python -m duograph explain --help)", file=sys.stderr)
        return 2
    flag = ["-m"] if options.module else ["-c"] if options.code else []
    return explain([*flag, *program], options.full, options.html, options.profile, options.trace)


def _run(arguments: Sequence[str]) -> int:
    from duograph.compat.run import NoProgram, hide_runner_frames, run_program

    hide_runner_frames()
    if launched() is not None:
        from duograph.distributed.ending import begin

        begin()
    try:
        run_program(arguments)
    except NoProgram as error:
        print(f"duograph: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
