"""`JitConfig`: how a Cell or function is compiled, in the spellings of every MindSpore 2.x version."""

from __future__ import annotations

from typing import Any

from duograph.base.notices import no_effect, unknown_option

from .settings import IGNORED, Setting, choice

__all__ = ["JitConfig"]

_ROWS: dict[str, Setting] = {
    "jit_level": Setting("", str, choice("jit_level", "", "O0", "O1", "O2")),
    "jit_syntax_level": Setting("", str, choice("jit_syntax_level", "", "STRICT", "COMPATIBLE", "LAX")),
    **IGNORED["compilation"],
}


class JitConfig:
    """Settings of a compilation.

    Args:
        jit_level (str): ``"O0"``: ops run one by one; ``"O1"``: fused; ``"O2"``: all optimisations; ``""``: the
            context's level. Default ``""``.
        exc_mode (str): ``"auto"``, ``"sink"`` or ``"no_sink"``; ``exec_mode`` is another spelling. Default ``"auto"``.
        jit_syntax_level (str): ``"STRICT"``, ``"LAX"`` or ``""`` (the context's). Default ``""``.
        debug_level (str): ``"RELEASE"`` or ``"DEBUG"``. Default ``"RELEASE"``.
        infer_boost (str): ``"on"`` or ``"off"``. Default ``"off"``.
        kwargs: ``exec_mode``, ``backend``, ``task_sink``; others are told in a warning.

    What changes how MindSpore compiles but not what is computed (``exc_mode``, ``debug_level``, ``infer_boost``,
    ``backend``, ``task_sink``) has no effect, and a warning says so once.

    Raises:
        ValueError: a value that the parameter does not accept.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph import JitConfig
        >>> JitConfig(jit_level="O1").jit_config_dict["jit_level"]
        'O1'
    """

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **kwargs: Any,
    ) -> None:
        if "exec_mode" in kwargs:
            choice("exec_mode", "auto", "sink", "no_sink")(kwargs["exec_mode"])
            exc_mode = kwargs.pop("exec_mode")
        self.jit_config_dict: dict[str, Any] = {
            **kwargs,
            "jit_level": jit_level,
            "exc_mode": exc_mode,
            "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level,
            "infer_boost": infer_boost,
        }
        for name, value in self.jit_config_dict.items():
            row = _ROWS.get(name)
            if row is None:
                unknown_option("JitConfig", name, _ROWS)
            elif row.check(value) != row.default and row.why:
                no_effect(f"JitConfig({name}=...)", row.why)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JitConfig) and self.jit_config_dict == other.jit_config_dict

    def __hash__(self) -> int:
        return hash(tuple(sorted((name, repr(value)) for name, value in self.jit_config_dict.items())))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self.jit_config_dict.items())
        return f"JitConfig({inner})"
