"""User code in backward graphs: a ``bprop`` or a hook whose graph is made before it is known whether it will run.

The forward pass of a branch, of a loop, or of a whole compiled function takes its backward graph along, for tapes that
look at it later. Such a graph gives values. A program that does more in it (prints, writes, raises, decides, draws
random numbers) does so when the gradient is computed, once for each time and never if it is not: plain Python does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.tensor.alias import fresh_stamp

from ..rules.errors import INTERNAL, Uncapturable
from ..session.session import Session
from ..values.world import Snapshot, World, contents


def call_enclosed(session: Session, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``fn(*args, **kwargs)`` within a backward graph.

    Raises:
        Uncapturable: it does more than give values.
    """
    world, scope = session.world, session.builder.current
    before, now = world.snapshot(), fresh_stamp()
    try:
        result = session.driver.calls.call(fn, args, kwargs)
    except (Uncapturable, *INTERNAL):
        raise
    except Exception as exc:
        raise _refusal("raises") from exc
    if session.builder.current is not scope:
        raise _refusal("decides by the value of a tensor")
    what = _done(world, before, now)
    if what is not None:
        raise _refusal(what)
    return result


def _refusal(what: str) -> Uncapturable:
    return Uncapturable(
        f"a function of the user's on gradients (bprop, hook) that {what}, where its graph is made in advance"
    )


def _done(world: World, before: Snapshot, now: int) -> str | None:
    """What the program did besides computing values since the snapshot, which was taken at the time ``now``."""
    if world.checked is not before.checked:
        return "may raise or have no end"
    if world.token is not before.token:
        return "prints"
    if world.offset is not before.offset:
        return "draws random numbers"
    if any(alias.serial < now and before.store.get(alias) is not held for alias, held in world.binder.store.items()):
        return "writes to tensors"
    same = before.overlay.keys() == world.overlay.keys() and all(
        held[1] is before.overlay[key][1] for key, held in world.overlay.items()
    )
    if not same or any(_differ(contents(obj), held) for obj, held in before.containers.values()):
        return "writes to objects"
    if any(_differ(frame.locals, held) for frame, held in before.locals.items()):
        return "writes to variables of another function"
    return None


def _differ(a: Any, b: Any) -> bool:
    if len(a) != len(b):
        return True
    if isinstance(a, dict):
        return any(k not in b or b[k] is not v for k, v in a.items())
    if isinstance(a, set):
        return bool(a != b)
    return any(x is not y for x, y in zip(a, b, strict=True))
