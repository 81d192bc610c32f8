"""Control flow of executables: `cond`, `while_loop`, `scan`, and calls.

Branches and bodies are regions of loop IR, written in place. What a branch or an iteration passes on is words: numbers
and handles themselves, tensors by their addresses, so that nothing is copied where a value only passes through.

A loop carry that is a tensor has one of three forms. *Same*: the body returns what it got. *In place*: the step that
makes the next value may overwrite the present one, and there is one memory for both. *Turns*: two memories take turns,
the first iteration reads the initial value where it is; the state is (present, next, the one after).

Calls become functions of their own if they are recursive or called more than once; see `programs.functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from duograph.core.dim import Symbol
from duograph.core.types import BOOL, INT, ScalarType, TensorType, TokenType, Type
from duograph.ir.control import call, call_named, cond, custom_vjp, while_loop
from duograph.ir.node import Apply, Graph, Node
from duograph.lower.loop.ir import Value

from .arena import Block
from .emit import Emitter, Scope, knows, may_overwrite
from .frame import ITERATIONS, LOOKED
from .interrupts import POLL
from .steps import Step
from .values import (
    ALIASES,
    NOTHING,
    Handle,
    Leaf,
    Memory,
    Number,
    Place,
    Tree,
    leaf_types,
    leaves_of,
    output_places,
    tree_of,
)

PATIENCE = 1 << 28
"""Cycles of the clock that a program runs before it asks whether it is to stop."""

LARGE = 1 << 16
"""Bytes of a value from which each iteration reads the clock; else every 64th does."""


class ControlEmitter(Emitter):
    """An `Emitter` that knows control operators."""

    def look(self, long: bool) -> None:
        """Every tenth of a second or so, asks Python whether somebody wants the program to stop (Ctrl-C).

        All loops and functions of a program share one count and one time, which nobody sets back: an inner loop that
        did would keep the loop around it from ever looking.

        Args:
            long: whether what comes between two looks takes long.
        """
        b = self.b
        count = b.load(self.ctx, ITERATIONS)
        b.store(self.ctx, ITERATIONS, b.add(count, 1))

        def clock() -> None:
            now = b.cycles()

            def ask() -> None:
                b.store(self.ctx, LOOKED, now)
                b.call(POLL, [], [])

            b.if_(b.gt(b.sub(now, b.load(self.ctx, LOOKED)), PATIENCE), ask)

        b.if_(b.eq(count & (0 if long else 63), 0), clock)
        b.leave()

    def control(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree:
        late = self._late_sizes(node, scope)
        if late is None:
            return self.host(node, operands, scope, f"the sizes that {node.op.name} gives are only known afterwards")
        if node.op is cond:
            return self._cond(node, operands, scope, late)
        if node.op is while_loop:
            return _Loop(self, node, operands, scope, counted=False).write()
        if node.op is call or node.op is custom_vjp:
            graph: Graph = node.attrs["graph" if node.op is call else "forward"]
            if node.op is call and self.build.is_function(graph):
                return self.call_function(node, graph, operands, scope)
            places = self._places_of_call(node, graph, scope)
            made = self.graph(graph, operands, scope.symbols, places)
            if not late:
                return made
            leaves = leaves_of(made)
            scope.symbols.update(zip(late, self._extents(leaves, late), strict=True))
            return tree_of(node.type, [_as(t, leaf) for t, leaf in zip(leaf_types(node.type), leaves, strict=True)])
        if node.op is call_named:
            return self.call_function(node, node.context.functions[node.attrs["name"]], operands, scope)
        return _Loop(self, node, operands, scope, counted=True).write()

    def call_function(self, node: Apply, graph: Graph, operands: list[Tree], scope: Scope) -> Tree:
        raise NotImplementedError

    def _places_of_call(self, node: Apply, graph: Graph, scope: Scope) -> dict[Place, Memory]:
        """Memory set aside for the results of a call is set aside for the steps that make them."""
        places: dict[Place, Memory] = {}
        for k, producer in enumerate(output_places(graph)):
            target = scope.places.get((node, k))
            if target is not None and producer is not None:
                places.setdefault(producer, target)
        return places

    def _late_sizes(self, node: Apply, scope: Scope) -> dict[Symbol, tuple[int, int]] | None:
        """The sizes that only the result of ``node`` tells, with leaf and axis; ``None`` if the code cannot hand them
        on: a loop carries what has one size, and functions are told where their results go."""
        if knows(scope.symbols, node.type):
            return {}
        if node.op not in (cond, call, custom_vjp) or (node.op is call and self.build.is_function(node.attrs["graph"])):
            return None
        late: dict[Symbol, tuple[int, int]] = {}
        for k, t in enumerate(leaf_types(node.type)):
            for axis, extent in enumerate(t.shape if isinstance(t, TensorType) else ()):
                if isinstance(extent, Symbol) and extent not in scope.symbols:
                    late.setdefault(extent, (k, axis))
        return late if knows({**scope.symbols, **late}, node.type) else None

    def _extents(self, leaves: Sequence[Leaf], late: dict[Symbol, tuple[int, int]]) -> list[Value]:
        """The sizes ``late`` of what the graph that was written last gives."""
        extents: list[Value] = []
        for k, axis in late.values():
            memory = leaves[k]
            assert isinstance(memory, Memory)
            extents.append(self.b.value(self.dim(memory.type.shape[axis], self.symbols)))
        return extents

    # ---- words ---------------------------------------------------------------------------------------------------

    def word(self, leaf: Leaf) -> Value:
        """A leaf as one machine word."""
        if isinstance(leaf, Memory):
            return self.address(leaf)
        assert isinstance(leaf, Number | Handle)
        return leaf.value

    def leaf(self, type: Type, word: Value, blocks: Sequence[Block]) -> Leaf:
        """The leaf that a word stands for."""
        if isinstance(type, TensorType):
            return Memory(type, None, address=word, blocks=tuple(dict.fromkeys(blocks)))
        if isinstance(type, ScalarType):
            return Number(type, word)
        return Handle(type, word)

    # ---- branches ------------------------------------------------------------------------------------------------

    def _cond(self, node: Apply, operands: list[Tree], scope: Scope, late: dict[Symbol, tuple[int, int]]) -> Tree:
        predicate, *args = operands
        assert isinstance(predicate, Number)
        types = leaf_types(node.type)
        graphs: list[Graph] = [node.attrs["then"], node.attrs["orelse"]]
        producers = [output_places(g) for g in graphs]
        targets: list[Memory | None] = []
        settled: list[bool] = []  # the result is in its target whichever branch is taken
        for k, t in enumerate(types):
            makers = [p[k] for p in producers]
            given = scope.places.get((node, k))
            if not isinstance(t, TensorType):
                targets.append(None)
                settled.append(False)
                continue
            if not knows(scope.symbols, t):
                makers = [None]
            if given is None and any(makers):
                given = self.new("cond", t, scope)
            targets.append(given)
            settled.append((node, k) in scope.places or all(makers))
        carried = [k for k, t in enumerate(types) if not settled[k] and not isinstance(t, TokenType)]
        blocks: list[list[Block]] = [[] for _ in types]

        def branch(i: int) -> Callable[[], list[Value]]:
            def write() -> list[Value]:
                places: dict[Place, Memory] = {}
                for producer, target in zip(producers[i], targets, strict=True):
                    if producer is not None and target is not None:
                        places.setdefault(producer, target)
                leaves = leaves_of(self.graph(graphs[i], args, scope.symbols, places))
                extents = self._extents(leaves, late)
                for k, leaf in enumerate(leaves):
                    target = targets[k]
                    if isinstance(leaf, Memory):
                        if settled[k] and target is not None and not leaf.is_at(target):
                            self.copy(target, leaf, scope.symbols)
                        elif not settled[k]:
                            blocks[k] += leaf.blocks
                return [*[self.word(leaves[k]) for k in carried], *extents]

            return write

        given_on = self.b.if_(self.b.ne(predicate.value, 0), branch(0), branch(1))
        scope.symbols.update(zip(late, given_on[len(carried) :], strict=True))
        words = iter(given_on)
        results: list[Leaf] = []
        for k, t in enumerate(types):
            target = targets[k]
            if isinstance(t, TokenType):
                results.append(NOTHING)
            elif settled[k]:
                assert target is not None
                results.append(target)
            else:
                results.append(self.leaf(t, next(words), blocks[k]))
        return tree_of(node.type, results)


def _as(type: Type, leaf: Leaf) -> Leaf:
    """``leaf`` with the names of ``type`` for its sizes."""
    return leaf.retyped(type) if isinstance(leaf, Memory) and isinstance(type, TensorType) else leaf


@dataclass(eq=False)
class _Carry:
    """One leaf of a loop's state."""

    type: Type
    initial: Leaf
    form: str  # same, in place, turns, word, nothing
    memory: tuple[Memory, ...] = ()

    @property
    def words(self) -> int:
        return {"turns": 3, "word": 1}.get(self.form, 0)


class _Loop:
    """A loop that is being written."""

    def __init__(self, e: ControlEmitter, node: Apply, operands: list[Tree], scope: Scope, counted: bool) -> None:
        self.e, self.node, self.scope, self.counted = e, node, scope, counted
        n = node.attrs["n_carry"]
        self.first = 1 if counted else 0
        if counted:
            assert isinstance(operands[0], Number)
            self.trips = operands[0].value
        rest = operands[self.first :]
        self.carry_types = [o.type for o in node.operands[self.first : self.first + n]]
        self.invariants = rest[n:]
        self.body: Graph = node.attrs["body"]
        self.producers = output_places(self.body)
        initial = [leaf for tree in rest[:n] for leaf in leaves_of(tree)]
        types = [t for c in self.carry_types for t in leaf_types(c)]
        simple = len(types) == n
        self.carries: list[_Carry] = []
        taken: set[Place] = set()
        for k, (t, leaf) in enumerate(zip(types, initial, strict=True)):
            param = self.body.params[self.first + k] if simple else None
            self.carries.append(self._carry(k, t, leaf, param, taken))

    def _carry(self, k: int, type: Type, initial: Leaf, param: Node | None, taken: set[Place]) -> _Carry:
        if isinstance(type, TokenType):
            return _Carry(type, initial, "nothing")
        if param is not None and _output_item(self.body, k) is param:
            return _Carry(type, initial, "same")
        if not isinstance(type, TensorType):
            return _Carry(type, initial, "word")
        assert isinstance(initial, Memory)
        place = self.producers[k]
        if param is not None and place is not None and place not in taken and self._overwrites(param, place):
            taken.add(place)
            return _Carry(type, initial, "in place")
        return _Carry(type, initial, "turns")

    def _overwrites(self, param: Node, place: Place) -> bool:
        """Whether the step that makes the next value of ``param`` may put it where the present one is."""
        steps = self.e.build.steps_of(self.body)
        makers = [i for i, step in enumerate(steps) if place in step.outputs and step.lowering is not None]
        if not makers:
            return False
        step = steps[makers[0]]
        c = step.lowering
        assert c is not None
        out = c.outs[step.outputs.index(place)]
        if out.type != param.type or param not in step.inputs:
            return False
        if any(param in s.operands for s in steps[makers[0] + 1 :]) or _seen_otherwise(self.body, param, steps):
            return False
        return all(may_overwrite(c, o, out) for o, n in zip(c.ins, step.inputs, strict=True) if n is param)

    # ---- writing -------------------------------------------------------------------------------------------------

    def write(self) -> Tree:
        e, b = self.e, self.e.b
        for k, carry in enumerate(self.carries):
            self._prepare(k, carry)
        state = [word for carry in self.carries for word in self._first_words(carry)]
        held = [m for carry in self.carries for m in carry.memory]
        for memory in held:
            for block in memory.blocks:
                block.refs += 1
        e.enter_loop()
        for memory in held:
            e.touch(memory)
        if self.counted:
            final = b.for_(0, self.trips, 1, lambda i, *words: self._iteration(words, i), state)
        else:
            final = b.while_(state, self._test, lambda *words: self._iteration(words, None))
        for memory in held:
            e.touch(memory)
        e.leave_loop()
        for memory in held:
            for block in memory.blocks:
                block.refs -= 1
        leaves = self._leaves(final)
        return tuple(_regrouped(self.carry_types, leaves))

    def _prepare(self, k: int, carry: _Carry) -> None:
        if carry.form not in ("turns", "in place"):
            return
        e = self.e
        assert isinstance(carry.type, TensorType) and isinstance(carry.initial, Memory)
        if carry.form == "turns":
            e.touch(carry.initial)
            carry.memory = (e.new("carry", carry.type, self.scope), e.new("carry", carry.type, self.scope))
            return
        target = self.scope.places.get((self.node, k))
        if target is None:
            target = e.new("carry", carry.type, self.scope)
        e.copy(target, carry.initial, self.scope.symbols)
        carry.memory = (target.retyped(carry.type),)

    def _first_words(self, carry: _Carry) -> list[Value]:
        if carry.form == "turns":
            assert isinstance(carry.initial, Memory)
            return [self.e.address(m) for m in (carry.initial, *carry.memory)]
        return [self.e.word(carry.initial)] if carry.form == "word" else []

    def _leaves(self, words: Sequence[Value]) -> list[Leaf]:
        """The present values, from the words of the state."""
        rest = list(words)
        leaves: list[Leaf] = []
        for carry in self.carries:
            mine, rest = rest[: carry.words], rest[carry.words :]
            if carry.form == "turns":
                assert isinstance(carry.initial, Memory)
                blocks = [*carry.initial.blocks, *[x for m in carry.memory for x in m.blocks]]
                leaves.append(self.e.leaf(carry.type, mine[0], blocks))
            elif carry.form == "word":
                leaves.append(self.e.leaf(carry.type, mine[0], ()))
            elif carry.form == "in place":
                leaves.append(carry.memory[0])
            else:
                leaves.append(carry.initial)
        return leaves

    def _args(self, words: Sequence[Value]) -> list[Tree]:
        return [*_regrouped(self.carry_types, self._leaves(words)), *self.invariants]

    def _test(self, *words: Value) -> Value:
        e = self.e
        result = e.graph(self.node.attrs["cond"], self._args(words), self.scope.symbols)
        assert isinstance(result, Number) and result.type == BOOL
        return e.b.ne(result.value, 0)

    def _iteration(self, words: Sequence[Value], counter: Value | None) -> list[Value]:
        e = self.e
        index = [] if counter is None else [Number(INT, counter)]
        mark = e.mark(self.body.output.type)
        places: dict[Place, Memory] = {}
        targets: list[Memory | None] = []
        at = 0
        for carry, place in zip(self.carries, self.producers, strict=True):
            target = None
            if carry.form == "in place":
                target = carry.memory[0]
            elif carry.form == "turns":
                blocks = [x for m in carry.memory for x in m.blocks]
                assert isinstance(carry.type, TensorType)
                target = Memory(carry.type, None, address=words[at + 1], blocks=tuple(blocks))
            if target is not None and place is not None:
                places.setdefault(place, target)
            targets.append(target)
            at += carry.words
        result = e.graph(self.body, [*index, *self._args(words)], self.scope.symbols, places)
        following: list[Value] = []
        at = 0
        for carry, target, leaf in zip(self.carries, targets, leaves_of(result), strict=True):
            mine = words[at : at + carry.words]
            at += carry.words
            if carry.form == "word":
                following.append(e.word(leaf))
            elif target is not None:
                assert isinstance(leaf, Memory)
                if not leaf.is_at(target):
                    e.copy(target, leaf, self.scope.symbols)
                if carry.form == "turns":
                    following += [mine[1], mine[2], mine[1]]
        e.cut(mark)
        e.look(any(not isinstance(block.nbytes, int) or block.nbytes > LARGE for block in e.blocks))
        return following


def _output_item(graph: Graph, k: int) -> Node:
    """The k-th item of the output of a body."""
    out = graph.output
    return out.operands[k] if isinstance(out, Apply) and out.op.name == "make_tuple" else out


def _seen_otherwise(graph: Graph, param: Node, steps: Sequence[Step]) -> bool:
    """Whether a parameter is returned, or goes on under another name, so that its memory must stay as it is."""
    for step in steps:
        if step.lowering is None and param in step.operands:
            op = step.nodes[0].op
            if op.name in ALIASES or op.structured:
                return True
    return graph.output is param or any(x is param for x in getattr(graph.output, "operands", ()))


def _regrouped(types: Sequence[Type], leaves: Sequence[Leaf]) -> list[Tree]:
    """Leaves as one tree for each of several types."""
    trees: list[Tree] = []
    at = 0
    for t in types:
        n = len(leaf_types(t))
        trees.append(tree_of(t, leaves[at : at + n]))
        at += n
    return trees
