# Sourced by the other scripts: goes to the root of the repository and sets PYTHON to an interpreter that has this
# checkout and its development tools installed. An active virtual environment is used; otherwise .venv is made.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD

find_python() {  # the first interpreter that runs and is 3.11, 3.12 or 3.13
    local candidate
    for candidate in python3.11 python3.12 python3.13 python3 python \
        "$HOME"/.pyenv/versions/3.11*/bin/python "$HOME"/.pyenv/versions/3.1[23]*/bin/python; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "no CPython 3.11, 3.12 or 3.13 found" >&2
    return 1
}

if [[ -n "${VIRTUAL_ENV:-}" && -x "$VIRTUAL_ENV/bin/python" ]]; then
    PYTHON=$VIRTUAL_ENV/bin/python
else
    PYTHON=$ROOT/.venv/bin/python
    if [[ ! -x $PYTHON ]]; then
        interpreter=$(find_python)
        echo "making .venv with $("$interpreter" --version)" >&2
        "$interpreter" -m venv .venv
    fi
fi

# Install when a tool is missing, or `duograph` is not this checkout, or the list of dependencies is newer.
stamp=$("$PYTHON" -c 'import sys; print(sys.prefix)')/.duograph-installed
if [[ ! $stamp -nt pyproject.toml ]] || ! "$PYTHON" - <<'END' 2>/dev/null
import importlib.util as util, os, sys
modules = "pytest xdist pytest_timeout hypothesis scipy ruff mypy llvmlite".split()
spec = util.find_spec("duograph")
places = list(spec.submodule_search_locations or ()) if spec else []
here = os.path.realpath("src/duograph")
sys.exit(not (here in map(os.path.realpath, places) and all(map(util.find_spec, modules))))
END
then
    echo "installing duograph and its tools into $(dirname "$stamp")" >&2
    "$PYTHON" -m pip install --quiet --disable-pip-version-check -e '.[dev]' >&2
    touch "$stamp"
fi
