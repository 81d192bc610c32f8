"""LLVM modules as text: several made one, and one made several that are compiled side by side.

A module is a sequence of entities (functions, declarations, variables, types, metadata), each of which has a name and
begins at the start of a line; a function ends with a line that begins with "}".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["merge", "split"]

_SYMBOL = r'@[\w.$-]+|@"[^"]*"'
_ENTITY = re.compile(
    rf"^(?:declare|define)\b[^@\n]*({_SYMBOL})"  # a function
    rf"|^([%!][\w.$-]+|{_SYMBOL})\s*="  # a variable, a type, metadata
    r"|^attributes (\#\d+)"
)
_MENTIONED = re.compile(_SYMBOL)
_LOCAL = re.compile(r"^(?:define|@\S+ =) (?:internal|private)\b")
_CONSTANT = re.compile(r"^@\S+ = (?:internal|private) (?:unnamed_addr )?constant\b")


def merge(texts: Iterable[str]) -> str:
    """Several modules as one text. What they have in common (declarations, constants, helpers) stands once.

    Raises:
        ValueError: two different functions, constants or attributes of one name.
    """
    entities: dict[str, str] = {}
    for text in texts:
        for name, entity in _entities(text):
            there = entities.setdefault(name, entity)
            if there == entity or entity.startswith("declare"):
                continue
            if not there.startswith("declare"):
                raise ValueError(f"two different definitions of {name}")
            entities[name] = entity
    return _join(entities.values())


def split(text: str, parts: int) -> list[str]:
    """One module as at most `parts` of about equal length, which together define what it defines.

    What only the module itself can see (internal functions and variables) stays with all that mention it; constants
    are copied. If the text is not one that can be divided, it is the only part.
    """
    if parts < 2:
        return [text]
    try:
        entities = dict(_entities(text))
    except ValueError:
        return [text]
    common = [entity for name, entity in entities.items() if name[0] != "@"]
    if parts < 2 or any(
        entity.startswith(("@", "module asm")) and not _is_local(entity) for entity in entities.values()
    ):
        return [text]
    mentions = {name: _mentioned(name, entity, entities) for name, entity in entities.items() if name[0] == "@"}
    groups = _groups(entities, mentions)
    bins: list[list[str]] = [[] for _ in range(min(parts, len(groups)))]
    lengths = [0] * len(bins)
    for group in sorted(groups, key=lambda names: -sum(len(entities[name]) for name in names)):
        lightest = lengths.index(min(lengths))
        bins[lightest] += group
        lengths[lightest] += sum(len(entities[name]) for name in group)
    return [_part(names, entities, mentions, common) for names in bins] if len(bins) > 1 else [text]


def _entities(text: str) -> Iterator[tuple[str, str]]:
    lines = iter(text.splitlines())
    for line in lines:
        match = _ENTITY.match(line)
        if match is None:
            if line.startswith(("target ", "source_filename")):
                yield line.split("=")[0], line
            elif line.strip() and not line.startswith(";"):
                raise ValueError(f"not the beginning of a declaration or definition: {line!r}")
            continue
        if line.startswith("define"):
            body = [line]
            while not body[-1].startswith("}"):
                body.append(next(lines, "}"))
            line = "\n".join(body)
        yield next(filter(None, match.groups())), line


def _join(entities: Iterable[str]) -> str:
    return "\n".join(entities) + "\n"


def _is_local(entity: str) -> bool:
    return _LOCAL.match(entity) is not None


def _mentioned(name: str, entity: str, entities: dict[str, str]) -> list[str]:
    return [other for other in dict.fromkeys(_MENTIONED.findall(entity)) if other != name and other in entities]


def _groups(entities: dict[str, str], mentions: dict[str, list[str]]) -> list[list[str]]:
    """The definitions that must stay together, constants and declarations left out."""
    leader = {name: name for name in mentions if _is_placed(entities[name])}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = name = leader[leader[name]]
        return name

    for name in leader:
        for other in mentions[name]:
            if other in leader and _is_local(entities[other]):
                leader[find(other)] = find(name)
    groups: dict[str, list[str]] = {}
    for name in leader:
        groups.setdefault(find(name), []).append(name)
    return list(groups.values())


def _is_placed(entity: str) -> bool:
    return not entity.startswith("declare") and not _CONSTANT.match(entity)


def _part(names: list[str], entities: dict[str, str], mentions: dict[str, list[str]], common: list[str]) -> str:
    """The text of a part: its definitions, copies of the constants and declarations of the rest they mention."""
    here = set(names)
    rest: dict[str, str] = {}
    work = list(names)
    while work:
        for other in mentions[work.pop()]:
            if other in here or other in rest:
                continue
            entity = entities[other]
            rest[other] = _declaration(entity) if entity.startswith("define") else entity
            if not entity.startswith("define"):
                work.append(other)
    order = [name for name in entities if name in here]
    return _join([*rest.values(), *(entities[name] for name in order), *common])


def _declaration(definition: str) -> str:
    """`declare` for the head of a definition, without its attributes."""
    head = definition.split("\n", 1)[0]
    depth = 0
    for place in range(head.index("@"), len(head)):
        depth += {"(": 1, ")": -1}.get(head[place], 0)
        if head[place] == ")" and depth == 0:
            return "declare" + head[len("define") : place + 1]
    raise ValueError(f"not the head of a function: {head!r}")
