"""Primitives by family, one module each; and the name under which users find the operators.

Our own code imports from the modules (``from duograph.ops.arithmetic import add``). Every other name of this package
is public (``ops.add``, ``ops.Add``, ``ops.operations``): `api`, which stands above, fills `public_tables`, which is
asked when a name is first wanted. A few modules are called like a public function; `IN_FRONT` lists them: as
attributes of the package these names are the functions.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from importlib import import_module as _import_module
from importlib.machinery import ModuleSpec
from typing import Any

from duograph.base.public import keep_in_front as _keep_in_front
from duograph.base.public import own_names as _own_names
from duograph.base.slot import Slot as _Slot

IN_FRONT = frozenset({"cast", "einsum", "fft", "norm", "select", "sort"})
_OWN = {name[:-3] for name in os.listdir(os.path.dirname(__file__)) if name.endswith(".py")} - IN_FRONT

public_tables: _Slot[Callable[[], Any]] = _Slot("ops.public_tables")
"""Gives the module of the tables (`api.public_ops`)."""


class _PublicModules:
    """Finds ``duograph.ops.operations`` and the other public modules, which are made of the tables.

    Finder and loader. Their classes in `importlib.abc` would only cost: they load twenty modules.
    """

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith(f"{__name__}."):
            return None
        if fullname not in public_tables.value().MODULES:
            return None
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return public_tables.value().make_module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Everything was put into the module when it was made."""


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    if name in _OWN:
        return _import_module(f"{__name__}.{name}")
    return public_tables.value().lookup(name)


def __dir__() -> list[str]:
    return sorted({*_own_names(globals()), *public_tables.value().names()})


_keep_in_front(__name__, IN_FRONT)
sys.meta_path.append(_PublicModules())
