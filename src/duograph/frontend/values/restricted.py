"""Values with which a program may do little: what their class does not define is refused."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from ..rules.errors import Uncapturable

_BINARY = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift"
_OTHERS = (
    "eq ne lt le gt ge hash bool index int float complex str repr format neg pos abs invert round trunc floor ceil "
    "reduce_ex copy deepcopy call len iter next contains getitem setitem delitem enter exit"
)


class Restricted:
    """Base class of such values.

    Attributes:
        why: what the program may not do, for the reason.
    """

    __slots__ = ()
    why: ClassVar[str] = ""

    def refuse(self, *_: Any) -> NoReturn:
        """Answers whatever else is asked.

        Raises:
            Uncapturable: always.
        """
        raise Uncapturable(self.why)

    def make_python_object(self, collector: Any) -> Any:
        """A recipe of what leaves the program."""
        self.refuse()

    def __getattr__(self, name: str) -> NoReturn:
        self.refuse()


def _refuse(self: Restricted, *_: Any) -> NoReturn:
    self.refuse()


for _name in _BINARY.split():
    setattr(Restricted, f"__{_name}__", _refuse)
    setattr(Restricted, f"__r{_name}__", _refuse)
for _name in _OTHERS.split():
    setattr(Restricted, f"__{_name}__", _refuse)
