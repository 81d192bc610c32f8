"""``python -m duograph``: runs MindSpore programs unmodified, the demonstration, and the graph tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from duograph.base.config import launched

USAGE = """\
usage: python -m duograph PROGRAM [ARGUMENT ...]   run a MindSpore script or notebook unmodified
       python -m duograph -m MODULE [ARGUMENT ...]
       python -m duograph -c CODE [ARGUMENT ...]
       python -m duograph launch -n N PROGRAM ...  run on N processes (`launch --help`)
       python -m duograph demo                     train two networks in three modes, with the same bits
       python -m duograph explain PROGRAM ...      run (also -m MODULE), then tell what was compiled, what not, and why
       python -m duograph opt FILE ...             run passes on MindIR text
       python -m duograph --version"""


def main(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit status."""
    match list(arguments):
        case [] | ["-h" | "--help"]:
            print(USAGE)
            return 0 if arguments else 2
        case ["--version"]:
            from duograph import __version__

            print(f"duograph {__version__}")
            return 0
        case ["demo", *rest]:
            from duograph.demo.digits import main as demo

            return demo(rest)
        case ["launch", *rest]:
            from duograph.distributed.launch import launch

            return launch(rest)
        case ["opt", *rest]:
            from duograph.debug.opt import main as opt

            return opt(rest)
        case ["explain", *rest]:
            from duograph.compat.explain import main as explain

            return explain(rest)
        case ["-m" | "-c"]:
            print(f"duograph: argument expected for the {arguments[0]} option\n{USAGE}", file=sys.stderr)
            return 2
        case _:
            return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    from duograph.compat.run import hide_runner_frames, run_code, run_module, run_script

    hide_runner_frames()
    if launched() is not None:
        from duograph.distributed.ending import begin

        begin()
    first, *rest = arguments
    if first == "-m":
        run_module(rest[0], rest[1:])
    elif first == "-c":
        run_code(rest[0], rest[1:])
    elif first.startswith("-"):
        print(f"duograph: unknown option {first}\n{USAGE}", file=sys.stderr)
        return 2
    else:
        try:
            run_script(first, rest)
        except FileNotFoundError as error:
            if str(error) != f"no such file: {first!r}":
                raise
            print(f"duograph: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
