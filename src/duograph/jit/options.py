"""Options of ``jit``, in both generations of its signature.

MindSpore 2.6 and later: ``jit(function, *, capture_mode, jit_level, dynamic, fullgraph, backend, **options)``.
Before: ``jit(fn, mode, input_signature, hash_args, jit_config, compile_once)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duograph.base.notices import nearest, no_effect, unknown_option

CAPTURE_MODES = ("ast", "bytecode", "trace")
BACKENDS = ("", "ms_backend", "native", "interpreter", "GE")
_MODES = {"PSJit": "ast", "PIJit": "bytecode"}
_KNOWN = {
    "exec_order": ("bfs", "dfs"),
    "disable_format_transform": (True, False),
    "infer_boost": ("on", "off"),
    "auto_offload": None,
    "ge_options": None,
    "options": None,
}


_ACTED_ON = ("jit_level", "jit_syntax_level", "print_after_all", "loop_unrolling")
_SETTINGS = (
    "exc_mode", "exec_mode", "debug_level", "infer_boost", "backend", "task_sink", "print_tb",
    "print_bb", "print_cfg", "interpret_captured_code", "compile_with_try", "specialize_scalar",
    "specialize_containers", "specialize_tensor", "max_inline_depth", "infer_primitive", "strict_trace",
    "perf_statistics", "enable_dynamic_shape", "limit_graph_size", "limit_graph_count", "relax_guard_count",
    "allowed_inline_modules", "auto_jit_func_filter", "subgraph_break_opt", "reuse_graph",
    "replace_nncell_by_construct", "LOG_GRAPH_BREAK", "LOG_PERF", "LOG_GUARD_PERF", "auto_jit", "auto_jit_by_func",
    "auto_jit_cell", "auto_grad", "auto_cleanup_cache", "compile_by_trace", "enable_guard", "print_guard",
    "print_reuse_graph", "max_loop_unrolling", "max_prune_case", "max_trace", "trace_flag", "trace_prune", "graph_conv",
    "expand_graph_input", "expand_graph_output", "eliminate_redundant_args", "static_graph_bytes_min", "symbol",
    "perf_statistics_count", "perf_statistics_scale_10000x", "infer_primitive_max", "test_graph_ir",
    "feature_break_at_inlined_function", "enable_eliminate_unused_operation", "enable_optimize_for_attr_item",
)  # fmt: skip
"""Settings of MindSpore that change how it compiles, not what is computed."""
_WHY = "it changes how MindSpore compiles, not what is computed"


@dataclass(frozen=True, slots=True)
class JitOptions:
    """What a compiled function was asked to be."""

    capture_mode: str = "ast"  # what is preferred: `frontend.load.LOADERS`
    jit_level: str = ""  # what the context says, else O1
    dynamic: int = 0
    strict: bool | None = None  # None: what the context says
    backend: Any = ""  # a name, or a function of the user
    signature: tuple[Any, ...] | None = None
    is_pijit: bool = False  # ``mode="PIJit"``: under GRAPH_MODE it counts as absent
    report: bool = False  # PIJit's print_after_all: print what was captured, or why it was not, after each capture
    check_numerics: bool = False  # calls are plain, with every operator looked at (`tensor.numerics`)
    debug: bool = False  # calls are stepped through
    unrolls: bool = False  # PIJit's loop_unrolling: loops whose end is known are unrolled, however long
    is_exact: bool = False  # what it gives are the very objects that Python would give: a program goes on with them


def parse(
    capture_mode: Any, jit_level: Any, dynamic: Any, fullgraph: Any, backend: Any, mode: Any, input_signature: Any,
    jit_config: Any, options: dict[str, Any], check_numerics: Any = False, debug: Any = False,
) -> JitOptions:  # fmt: skip
    """Checks every option; the errors are MindSpore's.

    Raises:
        TypeError: ``fullgraph``, ``check_numerics`` or ``debug`` is not a bool, or an option has the wrong type.
        ValueError: a value is not one of the allowed ones, or ``jit_config`` has a setting that does not exist.
        RuntimeError: the backend is unknown.
    """
    if mode is not None:
        if mode not in _MODES:
            raise ValueError(f"For 'jit', the parameter 'mode' must be one of {list(_MODES)}, but got {mode!r}.")
        capture_mode = _MODES[mode]
    if capture_mode not in CAPTURE_MODES:
        raise ValueError(
            f"For 'jit', the parameter 'capture_mode' must be one of {list(CAPTURE_MODES)}, but got {capture_mode!r}."
        )
    if jit_level not in ("", "O0", "O1", "O2"):
        raise ValueError(f"For 'jit', the parameter 'jit_level' must be one of ['O0', 'O1'], but got {jit_level!r}.")
    if isinstance(dynamic, bool) or dynamic not in (0, 1):
        raise ValueError(f"For 'jit', the parameter 'dynamic' must be one of [0, 1], but got {dynamic!r}.")
    if not isinstance(fullgraph, bool):
        raise TypeError(f"For 'jit', the parameter 'fullgraph' must be a bool, but got {type(fullgraph).__name__}.")
    if not isinstance(check_numerics, bool):
        raise TypeError(
            f"For 'jit', the parameter 'check_numerics' must be a bool, but got {type(check_numerics).__name__}."
        )
    if not isinstance(debug, bool):
        raise TypeError(f"For 'jit', the parameter 'debug' must be a bool, but got {type(debug).__name__}.")
    if not callable(backend) and (not isinstance(backend, str) or backend not in BACKENDS):
        known = [b for b in BACKENDS if b]
        raise RuntimeError(f"For 'jit', the backend {backend!r} is not known; there are {known}, or a function.")
    _check_options(options)
    level, strict = _from_config(jit_config, jit_level, True if fullgraph else None)
    signature = None
    if input_signature is not None:
        signature = tuple(input_signature) if isinstance(input_signature, list | tuple) else (input_signature,)
    settings = getattr(jit_config, "jit_config_dict", jit_config) or {}
    report = bool(settings.get("print_after_all"))
    return JitOptions(
        capture_mode,
        level,
        int(dynamic),
        strict,
        backend,
        signature,
        mode == "PIJit",
        report,
        check_numerics,
        debug,
        bool(settings.get("loop_unrolling")),
    )


def _from_config(jit_config: Any, level: str, strict: bool | None) -> tuple[str, bool | None]:
    """Settings of a `JitConfig`, or of the dict of options that PIJit takes."""
    if jit_config is None:
        return level, strict
    settings = getattr(jit_config, "jit_config_dict", jit_config)
    if not isinstance(settings, dict):
        raise TypeError(f"For 'jit', 'jit_config' must be a JitConfig or a dict, but got {type(jit_config).__name__}.")
    if settings is jit_config:  # a JitConfig has checked its own
        for name in settings:
            if name in _SETTINGS:
                no_effect(f"jit(jit_config={{{name!r}: ...}})", _WHY, 5)
            elif name not in _ACTED_ON:
                raise ValueError(
                    f"For 'jit', 'jit_config' has no setting {name!r}{nearest(name, (*_ACTED_ON, *_SETTINGS))}"
                )
    syntax = settings.get("jit_syntax_level")
    if syntax in ("STRICT", "LAX"):
        strict = syntax == "STRICT"
    return settings.get("jit_level") or level, strict


def _check_options(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name not in _KNOWN:
            unknown_option("jit", name, [*_KNOWN, "capture_mode", "jit_level", "fullgraph", "dynamic"], 5)
            continue
        allowed = _KNOWN[name]
        if allowed is None:
            no_effect(f"jit({name}=...)", _WHY, 5)
            continue
        if isinstance(allowed[0], bool) and not isinstance(value, bool):
            raise TypeError(f"For 'jit', the option {name!r} must be a bool, but got {type(value).__name__}.")
        if value not in allowed:
            raise ValueError(f"For 'jit', the option {name!r} must be one of {list(allowed)}, but got {value!r}.")
        no_effect(f"jit({name}=...)", _WHY, 5)
