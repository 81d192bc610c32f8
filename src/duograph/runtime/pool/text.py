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

__all__ = ["MAX_THREADS", "NAMES", "pool_text"]

MAX_THREADS = 256

_SERIAL = """
define internal void @serial(ptr %fn, ptr %ctx, i64 %begin, i64 %end, i64 %chunk) nounwind {
entry:
  br label %head
head:
  %b = phi i64 [ %begin, %entry ], [ %next, %body ]
  %more = icmp slt i64 %b, %end
  br i1 %more, label %body, label %out
body:
  %next = add i64 %b, %chunk
  %short = icmp slt i64 %next, %end
  %e = select i1 %short, i64 %next, i64 %end
  call void %fn(ptr %ctx, i64 %b, i64 %e)
  br label %head
out:
  ret void
}
"""

_PLAIN_PARALLEL = """
define void @dg_parallel(ptr %fn, ptr %ctx, i64 %begin, i64 %end, i64 %chunk) nounwind {
  tail call void @serial(ptr %fn, ptr %ctx, i64 %begin, i64 %end, i64 %chunk)
  ret void
}
define i32 @dg_pool_take(i32 %tries) nounwind {
  ret i32 1
}
define void @dg_pool_stop() nounwind {
  ret void
}
define void @dg_pool_reset() nounwind {
  ret void
}
define void @dg_pool_release() nounwind {
  ret void
}
define void @dg_pool_configure(i32 %workers, i32 %spins) nounwind {
  ret void
}
define i32 @dg_pool_started() nounwind {
  ret i32 0
}
"""

_THREADED = """
@generation = internal global i32 0, align 128
@state = internal global i32 0, align 128
@slices = internal global [{max_slices} x [16 x i64]] zeroinitializer, align 128
@sleepers = internal global i32 0, align 128
@busy = internal global i32 0, align 128
@job_fn = internal global ptr null, align 128
@job_ctx = internal global ptr null, align 8
@job_chunk = internal global i64 0, align 8
@job_slices = internal global i64 0, align 8
@job_mode = internal global {mode_type} 0, align 8
@wanted = internal global i32 0, align 128
@started = internal global i32 0, align 4
@spins = internal global i32 0, align 4
@stopping = internal global i32 0, align 4
@handles = internal global [{max_threads} x i64] zeroinitializer, align 128

declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @sigdelset(ptr, i32)
declare i32 @sched_yield()
{declarations}

; The chunks of slice `own`, one after the other, then those that are left of the other slices.
define internal void @take(ptr %fn, ptr %ctx, i64 %chunk, i64 %own, i64 %slices) nounwind noinline {{
entry:
  br label %slice
slice:
  %k = phi i64 [ 0, %entry ], [ %k1, %empty ]
  %n = add i64 %own, %k
  %number = urem i64 %n, %slices
  %next_at = getelementptr [{max_slices} x [16 x i64]], ptr @slices, i64 0, i64 %number, i64 0
  %end_at = getelementptr i64, ptr %next_at, i64 1
  %end = load i64, ptr %end_at
  br label %head
head:
  %b = atomicrmw add ptr %next_at, i64 %chunk monotonic
  %more = icmp slt i64 %b, %end
  br i1 %more, label %body, label %empty
body:
  %next = add i64 %b, %chunk
  %short = icmp slt i64 %next, %end
  %e = select i1 %short, i64 %next, i64 %end
  call void %fn(ptr %ctx, i64 %b, i64 %e)
  br label %head
empty:
  %k1 = add i64 %k, 1
  %others = icmp slt i64 %k1, %slices
  br i1 %others, label %slice, label %out
out:
  ret void
}}

; A worker: waits for a generation other than the last it saw, joins its region if that is still open. Its argument is
; the present generation, and its number in the upper half.
define internal ptr @worker(ptr %first) nounwind {{
entry:
  %first64 = ptrtoint ptr %first to i64
  %first32 = trunc i64 %first64 to i32
  %own = lshr i64 %first64, 32
  br label %wait
wait:
  %last = phi i32 [ %first32, %entry ], [ %g, %attempt ], [ %g, %work ], [ %last, %sleep ]
  %spins = load atomic i32, ptr @spins monotonic, align 4
  br label %spin
spin:
  %i = phi i32 [ 0, %wait ], [ %i1, %again ]
  %g = load atomic i32, ptr @generation acquire, align 4
  %new = icmp ne i32 %g, %last
  br i1 %new, label %called, label %again
again:
  {pause}
  %i1 = add i32 %i, 1
  %patient = icmp ult i32 %i1, %spins
  br i1 %patient, label %spin, label %sleep
sleep:
  %s0 = atomicrmw add ptr @sleepers, i32 1 seq_cst
  %r0 = call i64 (i64, ...) @syscall(i64 {futex}, ptr @generation, i64 128, i32 %last, ptr null, ptr null, i64 0)
  %s1 = atomicrmw sub ptr @sleepers, i32 1 seq_cst
  br label %wait
called:
  %stop = load atomic i32, ptr @stopping acquire, align 4
  %stops = icmp ne i32 %stop, 0
  br i1 %stops, label %out, label %attempt
attempt:
  %s = load atomic i32, ptr @state monotonic, align 4
  %open = icmp slt i32 %s, 0
  br i1 %open, label %join, label %wait
join:
  %in = add i32 %s, 1
  %swap = cmpxchg ptr @state, i32 %s, i32 %in acquire monotonic
  %ok = extractvalue {{ i32, i1 }} %swap, 1
  br i1 %ok, label %work, label %attempt
work:
  %fn = load ptr, ptr @job_fn
  %ctx = load ptr, ptr @job_ctx
  %chunk = load i64, ptr @job_chunk
  %slices = load i64, ptr @job_slices
{mode_take}
  call void @take(ptr %fn, ptr %ctx, i64 %chunk, i64 %own, i64 %slices)
  %s2 = atomicrmw sub ptr @state, i32 1 release
  br label %wait
out:
  ret ptr null
}}

; Starts the workers that are wanted and not there. The caller has set `busy`.
define internal void @start() nounwind noinline {{
entry:
  %all = alloca [256 x i8], align 16
  %old = alloca [256 x i8], align 16
  %x0 = call i32 @sigfillset(ptr %all)
  %x1 = call i32 @sigdelset(ptr %all, i32 4)
  %x2 = call i32 @sigdelset(ptr %all, i32 5)
  %x3 = call i32 @sigdelset(ptr %all, i32 6)
  %x4 = call i32 @sigdelset(ptr %all, i32 7)
  %x5 = call i32 @sigdelset(ptr %all, i32 8)
  %x6 = call i32 @sigdelset(ptr %all, i32 11)
  %x7 = call i32 @pthread_sigmask(i32 2, ptr %all, ptr %old)
  %g = load i32, ptr @generation
  %g64 = zext i32 %g to i64
  %wanted = load i32, ptr @wanted
  %first = load i32, ptr @started
  br label %head
head:
  %n = phi i32 [ %first, %entry ], [ %n1, %made ]
  %more = icmp slt i32 %n, %wanted
  br i1 %more, label %make, label %done
make:
  %handle = getelementptr [{max_threads} x i64], ptr @handles, i64 0, i32 %n
  %n1 = add i32 %n, 1
  %number = zext i32 %n1 to i64
  %upper = shl i64 %number, 32
  %both = or i64 %upper, %g64
  %arg = inttoptr i64 %both to ptr
  %rc = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr %arg)
  %failed = icmp ne i32 %rc, 0
  br i1 %failed, label %less, label %made
made:
  br label %head
less:                                  ; the system gives no more threads: go on with those there are
  store i32 %n, ptr @wanted
  br label %done
done:
  store i32 %n, ptr @started
  %x8 = call i32 @pthread_sigmask(i32 2, ptr %old, ptr null)
  ret void
}}

define void @dg_parallel(ptr %fn, ptr %ctx, i64 %begin, i64 %end, i64 %chunk) nounwind {{
entry:
  %length = sub i64 %end, %begin
  %single = icmp sle i64 %length, %chunk
  %wanted = load atomic i32, ptr @wanted monotonic, align 4
  %alone = icmp eq i32 %wanted, 0
  %simple = or i1 %single, %alone
  br i1 %simple, label %serially, label %enter
serially:
  tail call void @serial(ptr %fn, ptr %ctx, i64 %begin, i64 %end, i64 %chunk)
  ret void
enter:
  %lock = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %lock, 1
  br i1 %mine, label %check, label %serially
check:
  %started = load i32, ptr @started
  %missing = icmp slt i32 %started, %wanted
  br i1 %missing, label %begin_workers, label %publish
begin_workers:
  call void @start()
  br label %publish
publish:
  store ptr %fn, ptr @job_fn
  store ptr %ctx, ptr @job_ctx
  store i64 %chunk, ptr @job_chunk
{mode_publish}
  %rounded = add i64 %length, -1
  %others = sdiv i64 %rounded, %chunk
  %chunks = add i64 %others, 1
  %workers = load i32, ptr @started
  %workers64 = zext i32 %workers to i64
  %all = add i64 %workers64, 1
  %fewer = icmp slt i64 %chunks, %all
  %parts = select i1 %fewer, i64 %chunks, i64 %all
  store i64 %parts, ptr @job_slices
  %each = sdiv i64 %chunks, %parts
  %extra = srem i64 %chunks, %parts
  br label %cut
cut:                                   ; whole chunks; the first slices have one more if they are uneven
  %part = phi i64 [ 0, %publish ], [ %part1, %cut ]
  %from = phi i64 [ %begin, %publish ], [ %to, %cut ]
  %long = icmp slt i64 %part, %extra
  %one = zext i1 %long to i64
  %count = add i64 %each, %one
  %span = mul i64 %count, %chunk
  %to = add i64 %from, %span
  %beyond = icmp slt i64 %end, %to
  %limit = select i1 %beyond, i64 %end, i64 %to
  %next_at = getelementptr [{max_slices} x [16 x i64]], ptr @slices, i64 0, i64 %part, i64 0
  %end_at = getelementptr i64, ptr %next_at, i64 1
  store atomic i64 %from, ptr %next_at monotonic, align 8
  store i64 %limit, ptr %end_at
  %part1 = add i64 %part, 1
  %cutting = icmp slt i64 %part1, %parts
  br i1 %cutting, label %cut, label %open
open:
  store atomic i32 -2147483648, ptr @state release, align 4
  %g = atomicrmw add ptr @generation, i32 1 seq_cst
  %asleep = load atomic i32, ptr @sleepers seq_cst, align 4
  %any = icmp ne i32 %asleep, 0
  br i1 %any, label %wake, label %run
wake:                                  ; as many as there are chunks beside the caller's first
  %asleep64 = zext i32 %asleep to i64
  %few = icmp slt i64 %others, %asleep64
  %woken = select i1 %few, i64 %others, i64 %asleep64
  %r0 = call i64 (i64, ...) @syscall(i64 {futex}, ptr @generation, i64 129, i64 %woken, ptr null, ptr null, i64 0)
  br label %run
run:
  call void @take(ptr %fn, ptr %ctx, i64 %chunk, i64 0, i64 %parts)
  %before = atomicrmw and ptr @state, i32 2147483647 acq_rel
  br label %finish
finish:
  %i = phi i32 [ 0, %run ], [ %i1, %spin ], [ %i1, %yield ]
  %inside = load atomic i32, ptr @state acquire, align 4
  %empty = icmp eq i32 %inside, 0
  br i1 %empty, label %done, label %linger
linger:
  %i1 = add i32 %i, 1
  %patient = icmp ult i32 %i1, 2000
  br i1 %patient, label %spin, label %yield
spin:
  {pause}
  br label %finish
yield:                                 ; a worker may have lost its core to us
  %r1 = call i32 @sched_yield()
  br label %finish
done:
  store atomic i32 0, ptr @busy release, align 4
  ret void
}}

; Takes `busy`, trying again for a while; 0 if a region is still under way.
define i32 @dg_pool_take(i32 %tries) nounwind {{
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i1, %again ]
  %lock = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %lock, 1
  br i1 %mine, label %yes, label %again
again:
  %r = call i32 @sched_yield()
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %tries
  br i1 %more, label %head, label %no
yes:
  ret i32 1
no:
  ret i32 0
}}

; Ends all workers and waits for them. The caller has `busy`.
define void @dg_pool_stop() nounwind {{
entry:
  %n = load i32, ptr @started
  %none = icmp eq i32 %n, 0
  br i1 %none, label %out, label %tell
tell:
  store atomic i32 1, ptr @stopping release, align 4
  %g = atomicrmw add ptr @generation, i32 1 seq_cst
  %r0 = call i64 (i64, ...) @syscall(i64 {futex}, ptr @generation, i64 129, i64 2147483647, ptr null, ptr null, i64 0)
  br label %join
join:
  %i = phi i32 [ 0, %tell ], [ %i1, %join ]
  %at = getelementptr [{max_threads} x i64], ptr @handles, i64 0, i32 %i
  %handle = load i64, ptr %at
  %r1 = call i32 @pthread_join(i64 %handle, ptr null)
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %join, label %joined
joined:
  store i32 0, ptr @started
  store atomic i32 0, ptr @stopping release, align 4
  br label %out
out:
  ret void
}}

; In the child of a fork: no worker has come along, whatever the words say.
define void @dg_pool_reset() nounwind {{
  store i32 0, ptr @started
  store i32 0, ptr @state
  store i32 0, ptr @sleepers
  store i32 0, ptr @stopping
  store atomic i32 0, ptr @busy release, align 4
  ret void
}}

define void @dg_pool_release() nounwind {{
  store atomic i32 0, ptr @busy release, align 4
  ret void
}}

; The caller has `busy` and has stopped the workers.
define void @dg_pool_configure(i32 %workers, i32 %spins) nounwind {{
  store atomic i32 %workers, ptr @wanted monotonic, align 4
  store atomic i32 %spins, ptr @spins monotonic, align 4
  ret void
}}

define i32 @dg_pool_started() nounwind {{
  %n = load i32, ptr @started
  ret i32 %n
}}
"""

# The floating-point mode (rounding, flush to zero) belongs to a thread. Another library may have changed it on the
# caller's after the workers started; a result must not depend on which thread made it.
_MODES = {
    "x86-64": {
        "futex": "202",
        "mode_type": "i32",
        "declarations": "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)",
        "mode_publish": "  call void @llvm.x86.sse.stmxcsr(ptr @job_mode)",
        "mode_take": "  call void @llvm.x86.sse.ldmxcsr(ptr @job_mode)",
    },
    "aarch64": {
        "futex": "98",
        "mode_type": "i64",
        "declarations": "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)",
        "mode_publish": "  %mode = call i64 @llvm.aarch64.get.fpcr()\n  store i64 %mode, ptr @job_mode",
        "mode_take": "  %mode = load i64, ptr @job_mode\n  call void @llvm.aarch64.set.fpcr(i64 %mode)",
    },
}

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


def pool_text(target: Target, threaded: bool) -> str:
    """The LLVM text of the pool; `threaded` needs Linux."""
    if not threaded:
        return _SERIAL + _PLAIN_PARALLEL
    fields = dict(_MODES[target.arch])
    fields["declarations"] += "\n" + target.pause_declaration
    return _SERIAL + _THREADED.format(pause=target.pause, max_threads=MAX_THREADS, max_slices=MAX_THREADS + 1, **fields)
