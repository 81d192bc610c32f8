"""The thread pool's LLVM text; what it does and why stands in `pool.pool`.

Each word that threads write has two cache lines of its own (128 bytes: processors fetch lines in pairs).

    generation    number of regions so far; what workers wait on
    state         bit 31: the region is open; the rest: how many workers are inside
    slices        of each part of the range: beginning of its next chunk, its end
    sleepers      how many workers wait in the kernel, or are about to
    busy          1 while a region is under way or the pool is being changed
    job_*         the region's function, context, chunk, number of slices and floating-point mode
    wanted        how many workers there should be
    started       how many there are

Why a worker that reads an old `state` does no harm: it joins by exchanging exactly the value it read, and whatever
region that value belongs to by then, its job was written before the region was opened and stays until all are out.
"""

from __future__ import annotations

from duograph.lower.target import Target
from duograph.runtime.python.asm import Function, Memory, Module, Value

__all__ = ["MAX_THREADS", "NAMES", "pool_module"]

MAX_THREADS = 256

NAMES = (
    "dg_parallel",
    "dg_pool_configure",
    "dg_pool_release",
    "dg_pool_reset",
    "dg_pool_started",
    "dg_pool_stop",
    "dg_pool_take",
)
"""What the text exports."""

_LINES = 128
_SLICE = 128
_BODY = "void (ptr, i64, i64)"
_LOOP = "ptr fn, ptr ctx, i64 begin, i64 end, i64 chunk"
_FAULTS = (4, 5, 6, 7, 8, 11)
"""SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: a thread takes its own."""
_SETMASK = 2
_WAIT, _WAKE = 128, 129
"""Of futexes that other processes do not see."""
_FUTEX = {"x86-64": 202, "aarch64": 98}
_OPEN = -(1 << 31)
_LINGERS = 2000
"""Looks of the caller at workers that are still inside, before it gives up its core."""


def _memory(arch: str) -> dict[str, Memory]:
    apart, job = Memory("i32", align=_LINES), Memory("i64")
    return {
        "generation": apart, "state": apart, "slices": Memory("i64", (MAX_THREADS + 1) * _SLICE // 8, _LINES),
        "sleepers": apart, "busy": apart,
        "job_fn": Memory("ptr", align=_LINES), "job_ctx": Memory("ptr"), "job_chunk": job, "job_slices": job,
        "job_mode": Memory("i32" if arch == "x86-64" else "i64"),
        "wanted": apart, "started": Memory("i32", align=4), "spins": Memory("i32", align=4),
        "stopping": Memory("i32", align=4), "handles": Memory("i64", MAX_THREADS, _LINES),
    }  # fmt: skip


def pool_module(target: Target, threaded: bool) -> tuple[Module, list[Function]]:
    """The pool's functions; ``threaded`` needs Linux."""
    if not threaded:
        m = Module("dg_pool_words")
        return m, [_serial(m), *_without_threads(m)]
    m = Module("dg_pool_words", memory=_memory(target.arch))
    makers = (_parallel, _pool_take, _pool_stop, _pool_reset, _pool_release, _pool_configure, _pool_started)
    functions = [_serial(m), _take(m), _worker(m, target.arch), _start(m)]
    return m, functions + [make(m, target.arch) for make in makers]


# The loop ------------------------------------------------------------------------------------------------------------


def _serial(module: Module) -> Function:
    """``void serial(...)``: all chunks, on the calling thread."""
    f = Function("void", "serial", _LOOP, module)
    head, out = f.label("l", "i64"), f.label()
    (begin,) = f.place(head, f.arg("begin"))
    f.goto_unless(begin.lt(f.arg("end")), out)
    f.goto(head, _call_chunk(f, begin, f.arg("end")))
    f.place(out)
    f.ret()
    return f


def _call_chunk(f: Function, begin: Value, end: Value) -> Value:
    """Calls the body for the chunk at ``begin``; gives the beginning of the next."""
    after = begin + f.arg("chunk")
    f.call_at(_BODY, f.arg("fn"), f.arg("ctx"), begin, f.select(after.lt(end), after, end))
    return after


def _without_threads(module: Module) -> list[Function]:
    parallel = Function("void", "dg_parallel", _LOOP, module, linkage="")
    _run_serially(parallel)
    taken = Function("i32", "dg_pool_take", "i32 tries", module, linkage="")
    taken.ret(1)
    started = Function("i32", "dg_pool_started", "", module, linkage="")
    started.ret(0)
    idle = [("dg_pool_stop", ""), ("dg_pool_reset", ""), ("dg_pool_release", ""),
            ("dg_pool_configure", "i32 workers, i32 spins")]  # fmt: skip
    nothing = [Function("void", name, params, module, linkage="") for name, params in idle]
    for f in nothing:
        f.ret()
    return [parallel, taken, started, *nothing]


def _run_serially(f: Function) -> None:
    f.call("void", "serial", *[f.arg(name) for name in ("fn", "ctx", "begin", "end", "chunk")])
    f.ret()


# Workers -------------------------------------------------------------------------------------------------------------


def _take(module: Module) -> Function:
    """``void take(...)``: the chunks of slice ``own``, one after the other, then those left of the other slices."""
    f = Function("void", "take", "ptr fn, ptr ctx, i64 chunk, i64 own, i64 slices", module)
    each, head, empty = f.label("l", "i64"), f.label(), f.label()
    (k,) = f.place(each, 0)
    following = f.memory("slices").at((f.arg("own") + k).modulo(f.arg("slices")) * _SLICE)
    end = following.at(8).get()
    f.place(head)
    begin = following.change("add", f.arg("chunk"), "monotonic")
    f.goto_unless(begin.lt(end), empty)
    _call_chunk(f, begin, end)
    f.goto(head)
    f.place(empty)
    others = k + 1
    f.goto_if(others.lt(f.arg("slices")), each, others)
    f.ret()
    return f


def _worker(module: Module, arch: str) -> Function:
    """``ptr worker(ptr first)``: waits for a generation other than the last it saw, joins its region if that is open.

    Its argument is the present generation, and its number in the upper half.
    """
    f = Function("ptr", "worker", "ptr first", module)
    first = f.arg("first").to("i64")
    wait, spin, called, attempt, out = (f.label("l", *types) for types in (["i32"], ["i32"], [], [], []))
    start, own = first.to("i32"), first >> 32
    (last,) = f.place(wait, start)
    spins = f.memory("spins").get("monotonic")
    (i,) = f.place(spin, 0)
    generation = f.memory("generation").get("acquire")
    f.goto_if(generation.ne(last), called)
    _pause(f, arch)
    again = i + 1
    f.goto_if(again.below(spins), spin, again)
    sleepers = f.memory("sleepers")
    sleepers.change("add", 1, "seq_cst")
    _futex(f, arch, _WAIT, last, None, None, 0)
    sleepers.change("sub", 1, "seq_cst")
    f.goto(wait, last)
    f.place(called)
    f.goto_if(f.memory("stopping").get("acquire").ne(0), out)
    f.place(attempt)
    state = f.memory("state")
    before = state.get("monotonic")
    f.goto_unless(before.lt(0), wait, generation)
    f.goto_unless(state.replace(before, before + 1, "acquire"), attempt)
    fn, ctx, chunk, slices = (f.memory(f"job_{name}").get() for name in ("fn", "ctx", "chunk", "slices"))
    _set_mode(f, arch)
    f.call("void", "take", fn, ctx, chunk, own, slices)
    state.change("sub", 1, "release")
    f.goto(wait, generation)
    f.place(out)
    f.ret(None)
    return f


def _start(module: Module) -> Function:
    """``void start()``: starts the workers that are wanted and not there. The caller has set ``busy``."""
    f = Function("void", "start", "", module)
    blocked, before = f.space("i8", 256, align=16), f.space("i8", 256, align=16)
    f.api("sigfillset", blocked)
    for fault in _FAULTS:
        f.api("sigdelset", blocked, fault)
    f.api("pthread_sigmask", _SETMASK, blocked, before)
    generation = f.memory("generation").get().to("i64")
    wanted = f.memory("wanted").get()
    head, made, done = f.label("l", "i32"), f.label(), f.label()
    (n,) = f.place(head, f.memory("started").get())
    f.goto_unless(n.lt(wanted), done)
    handle, number = f.memory("handles").at(n.to("i64") * 8).pointer, n + 1
    argument = ((number.to("i64") << 32) | generation).to("ptr")
    f.goto_unless(f.api("pthread_create", handle, None, f.symbol("worker"), argument).ne(0), made)
    f.memory("wanted").set(n)  # the system gives no more threads: go on with those there are
    f.goto(done)
    f.place(made)
    f.goto(head, number)
    f.place(done)
    f.memory("started").set(n)
    f.api("pthread_sigmask", _SETMASK, before, None)
    f.ret()
    return f


# Regions -------------------------------------------------------------------------------------------------------------


def _parallel(module: Module, arch: str) -> Function:
    """``void dg_parallel(...)``: see `pool.pool`."""
    f = Function("void", "dg_parallel", _LOOP, module, linkage="")
    fn, ctx, begin, end, chunk = (f.arg(name) for name in ("fn", "ctx", "begin", "end", "chunk"))
    enter, serially, publish = f.label(), f.label(), f.label()
    length = end - begin
    is_short = length.at_most(chunk)
    wanted = f.memory("wanted").get("monotonic")
    f.goto_unless(is_short | wanted.eq(0), enter)
    f.place(serially)
    _run_serially(f)
    f.place(enter)
    f.goto_unless(f.memory("busy").replace(0, 1, "acquire"), serially)
    f.goto_unless(f.memory("started").get().lt(wanted), publish)
    f.call("void", "start")
    f.place(publish)
    f.memory("job_fn").set(fn)
    f.memory("job_ctx").set(ctx)
    f.memory("job_chunk").set(chunk)
    _publish_mode(f, arch)
    others = (length + -1).over(chunk)
    slices = _cut(f, others + 1)
    f.memory("state").set(_OPEN, "release")
    f.memory("generation").change("add", 1, "seq_cst")
    asleep = f.memory("sleepers").get("seq_cst")
    with f.if_(asleep.ne(0)):  # as many as there are chunks beside the caller's first
        woken = asleep.to("i64")
        _futex(f, arch, _WAKE, f.select(others.lt(woken), others, woken), None, None, 0)
    f.call("void", "take", fn, ctx, chunk, 0, slices)
    f.memory("state").change("and", _OPEN ^ -1, "acq_rel")
    _await_workers(f, arch)
    f.memory("busy").set(0, "release")
    f.ret()
    return f


def _cut(f: Function, chunks: Value) -> Value:
    """Cuts the range into slices of whole chunks, the first with one more if they are uneven; gives their number."""
    workers = f.memory("started").get().to("i64") + 1
    slices = f.select(chunks.lt(workers), chunks, workers)
    f.memory("job_slices").set(slices)
    each, extra = chunks.over(slices), chunks.rest(slices)
    cut, end = f.label("l", "i64", "i64"), f.arg("end")
    k, begin = f.place(cut, 0, f.arg("begin"))
    following = begin + (each + k.lt(extra).to("i64")) * f.arg("chunk")
    limit = f.select(end.lt(following), end, following)
    place = f.memory("slices").at(k * _SLICE)
    place.set(begin, "monotonic")
    place.at(8).set(limit)
    done = k + 1
    f.goto_if(done.lt(slices), cut, done, following)
    return slices


def _await_workers(f: Function, arch: str) -> None:
    """Waits until no worker is inside."""
    finish, patience, done = f.label("l", "i32"), f.label(), f.label()
    (i,) = f.place(finish, f.const("i32", 0))
    f.goto_if(f.memory("state").get("acquire").eq(0), done)
    again = i + 1
    f.goto_unless(again.below(_LINGERS), patience)
    _pause(f, arch)
    f.goto(finish, again)
    f.place(patience)  # a worker may have lost its core to us
    f.api("sched_yield")
    f.goto(finish, again)
    f.place(done)


# Controls ------------------------------------------------------------------------------------------------------------


def _pool_take(module: Module, arch: str) -> Function:
    """``i32 dg_pool_take(i32 tries)``: takes ``busy``, trying for a while; 0 if a region is still under way."""
    f = Function("i32", "dg_pool_take", "i32 tries", module, linkage="")
    head, again = f.label("l", "i32"), f.label()
    (i,) = f.place(head, 0)
    f.goto_unless(f.memory("busy").replace(0, 1, "acquire"), again)
    f.ret(1)
    f.place(again)
    f.api("sched_yield")
    tried = i + 1
    f.goto_if(tried.below(f.arg("tries")), head, tried)
    f.ret(0)
    return f


def _pool_stop(module: Module, arch: str) -> Function:
    """``void dg_pool_stop()``: ends all workers and waits for them. The caller has ``busy``."""
    f = Function("void", "dg_pool_stop", "", module, linkage="")
    join, out = f.label("l", "i32"), f.label()
    n = f.memory("started").get()
    f.goto_if(n.eq(0), out)
    f.memory("stopping").set(1, "release")
    f.memory("generation").change("add", 1, "seq_cst")
    _futex(f, arch, _WAKE, f.const("i64", (1 << 31) - 1), None, None, 0)
    (i,) = f.place(join, 0)
    f.api("pthread_join", f.memory("handles").at(i.to("i64") * 8).get(), None)
    joined = i + 1
    f.goto_if(joined.lt(n), join, joined)
    f.memory("started").set(0)
    f.memory("stopping").set(0, "release")
    f.place(out)
    f.ret()
    return f


def _pool_reset(module: Module, arch: str) -> Function:
    """``void dg_pool_reset()``: in the child of a fork, where no worker has come along, whatever the words say."""
    f = Function("void", "dg_pool_reset", "", module, linkage="")
    for name in ("started", "state", "sleepers", "stopping"):
        f.memory(name).set(0)
    f.memory("busy").set(0, "release")
    f.ret()
    return f


def _pool_release(module: Module, arch: str) -> Function:
    f = Function("void", "dg_pool_release", "", module, linkage="")
    f.memory("busy").set(0, "release")
    f.ret()
    return f


def _pool_configure(module: Module, arch: str) -> Function:
    """``void dg_pool_configure(i32 workers, i32 spins)``: the caller has ``busy`` and has stopped the workers."""
    f = Function("void", "dg_pool_configure", "i32 workers, i32 spins", module, linkage="")
    f.memory("wanted").set(f.arg("workers"), "monotonic")
    f.memory("spins").set(f.arg("spins"), "monotonic")
    f.ret()
    return f


def _pool_started(module: Module, arch: str) -> Function:
    f = Function("i32", "dg_pool_started", "", module, linkage="")
    f.ret(f.memory("started").get())
    return f


# What processors call by different names ------------------------------------------------------------------------------


def _futex(f: Function, arch: str, op: int, *rest: Value | int | None) -> None:
    f.api("syscall", _FUTEX[arch], f.memory("generation").pointer, op, *rest)


def _pause(f: Function, arch: str) -> None:
    """The body of a loop that waits."""
    if arch == "x86-64":
        f.api("llvm.x86.sse2.pause")
    else:
        f.api("llvm.aarch64.hint", 1)


# The floating-point mode (rounding, flush to zero) belongs to a thread. Another library may have changed it on the
# caller's after the workers started; a result must not depend on which thread made it.


def _publish_mode(f: Function, arch: str) -> None:
    if arch == "x86-64":
        f.api("llvm.x86.sse.stmxcsr", f.memory("job_mode").pointer)
    else:
        f.memory("job_mode").set(f.api("llvm.aarch64.get.fpcr"))


def _set_mode(f: Function, arch: str) -> None:
    if arch == "x86-64":
        f.api("llvm.x86.sse.ldmxcsr", f.memory("job_mode").pointer)
    else:
        f.api("llvm.aarch64.set.fpcr", f.memory("job_mode").get())
