"""Buffers and state dictionaries of Cells."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from . import _OF_CELLS as __capture__  # noqa: F401 (read by capture)

EXTRA_STATE = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What `Cell.load_state_dict` found missing and superfluous."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class CellState:
    """Buffers and state dictionaries; mixed into `Cell`, which keeps buffers in ``_buffers``."""

    _buffers: OrderedDict[str, Tensor | None]
    _transient_buffers: set[str]

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that belongs to the state of the Cell but is not a Parameter.

        Args:
            name (str): its attribute name.
            tensor (Tensor): the tensor, or None.
            persistent (bool): whether it is part of `state_dict`. Default ``True``.

        Raises:
            KeyError: the name is empty, taken or contains a dot.
            TypeError: an argument has the wrong type.
        """
        if not isinstance(name, str):
            raise TypeError(f"buffer name should be a string, but got {type(name)}")
        if "." in name:
            raise KeyError('buffer name can\'t contain "."')
        if name == "":
            raise KeyError('buffer name can\'t be empty string ""')
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor)}' object to buffer '{name}' (mindspore Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._transient_buffers.discard if persistent else self._transient_buffers.add)(name)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their paths.

        Args:
            prefix (str): put before the paths. Default ``""``.
            recurse (bool): whether buffers of children follow. Default ``True``.
            remove_duplicate (bool): whether a buffer with two names appears once. Default ``True``.
        """
        walk = self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]  # type: ignore[attr-defined]
        seen: set[int] = set()
        for path, cell in walk:
            for name, buffer in cell._buffers.items():
                if buffer is None or (remove_duplicate and id(buffer) in seen):
                    continue
                seen.add(id(buffer))
                yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this Cell and (with ``recurse``) of all below."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as ``"backbone.mask"``.

        Raises:
            AttributeError: there is nothing at the path, or no buffer.
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)  # type: ignore[attr-defined]
        if not hasattr(cell, name):
            raise AttributeError(f"{type(cell).__name__} has no attribute `{name}`")
        if name not in cell._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return cell._buffers[name]

    # -- state ---------------------------------------------------------------------------------------------------

    def get_extra_state(self) -> Any:
        """Further state to put in `state_dict`; override together with `set_extra_state`."""
        raise RuntimeError("`get_extra_state` is not implemented by this Cell.")

    def set_extra_state(self, state: Any) -> None:
        """Takes what `get_extra_state` gave."""
        raise RuntimeError("`set_extra_state` is not implemented by this Cell.")

    def state_dict(
        self, *args: Any, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by path.

        Args:
            destination (dict): where to put them. Default ``None``: a new dictionary.
            prefix (str): put before the paths. Default ``""``.
            keep_vars (bool): kept for other frameworks' programs; the values are the live Parameters anyway.

        Returns:
            dict from path to Parameter or Tensor.
        """
        if args:
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and not prefix else prefix
        state: dict[str, Any] = OrderedDict() if destination is None else destination
        for hook in self._state_hooks["state_dict_pre"].values():  # type: ignore[attr-defined]
            hook(self, prefix, keep_vars)
        for name, param in self._params.items():  # type: ignore[attr-defined]
            if param is not None:
                state[prefix + name] = param
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._transient_buffers:
                state[prefix + name] = buffer
        if type(self).get_extra_state is not CellState.get_extra_state:
            state[prefix + EXTRA_STATE] = self.get_extra_state()
        for name, cell in self._cells.items():  # type: ignore[attr-defined]
            if cell is not None:
                cell.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_hooks["state_dict"].values():  # type: ignore[attr-defined]
            hook(self, state, prefix, {})
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Copies values from a `state_dict` into parameters and buffers.

        Args:
            state_dict (dict): from path to Tensor.
            strict (bool): whether missing and superfluous keys are an error. Default ``True``.

        Returns:
            namedtuple of ``missing_keys`` and ``unexpected_keys``.

        Raises:
            TypeError: ``state_dict`` is no dictionary.
            RuntimeError: keys (with ``strict``) or shapes do not match.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        state = OrderedDict(state_dict)
        missing: list[str] = []
        errors: list[str] = []
        known: set[str] = set()
        self._load(state, "", missing, known, errors, strict)
        unexpected = [key for key in state if key not in known]
        if strict:
            if unexpected:
                errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join(f'"{k}"' for k in unexpected) + ".")
            if missing:
                errors.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in missing) + ".")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return IncompatibleKeys(missing, unexpected)

    def _load(
        self, state: dict[str, Any], prefix: str, missing: list[str], known: set[str], errors: list[str], strict: bool
    ) -> None:
        for hook in self._state_hooks["load_state_dict_pre"].values():  # type: ignore[attr-defined]
            hook(self, state, prefix, {}, strict, missing, [], errors)
        own = {n: p for n, p in self._params.items() if p is not None}  # type: ignore[attr-defined]
        own.update({n: b for n, b in self._buffers.items() if b is not None and n not in self._transient_buffers})
        for name, target in own.items():
            key = prefix + name
            known.add(key)
            if key not in state:
                missing.append(key)
                continue
            value = state[key]
            if not isinstance(value, Tensor):
                errors.append(f'While copying the parameter named "{key}", expected Tensor but got {type(value)}.')
            elif tuple(value.shape) != tuple(target.shape):
                errors.append(
                    f"size mismatch for {key}: copying a param with shape {tuple(value.shape)} from checkpoint, "
                    f"the shape in current model is {tuple(target.shape)}."
                )
            else:
                target.copy_(value)
        if type(self).set_extra_state is not CellState.set_extra_state:
            known.add(prefix + EXTRA_STATE)
            if prefix + EXTRA_STATE in state:
                self.set_extra_state(state[prefix + EXTRA_STATE])
            else:
                missing.append(prefix + EXTRA_STATE)
        for name, cell in self._cells.items():  # type: ignore[attr-defined]
            if cell is not None:
                cell._load(state, f"{prefix}{name}.", missing, known, errors, strict)
        for hook in self._state_hooks["load_state_dict"].values():  # type: ignore[attr-defined]
            hook(self, IncompatibleKeys(missing, []))


def named_values(save_obj: Any) -> list[tuple[str, Any]]:
    """What a checkpoint consists of: of a Cell its parameters and persistent buffers; of a dictionary its items; of a
    list its Parameters and ``{"name": ..., "data": ...}``."""
    if isinstance(save_obj, CellState):
        cell: Any = save_obj
        pairs: list[tuple[str, Any]] = [(p.name, p) for _, p in cell.parameters_and_names()]
        return pairs + [(name, buffer) for name, buffer in cell.named_buffers() if name in cell.state_dict()]
    if isinstance(save_obj, dict):
        return list(save_obj.items())
    return [(p.name, p) if isinstance(p, Parameter) else (p["name"], p["data"]) for p in save_obj]
