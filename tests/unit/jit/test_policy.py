"""Decisions on the life of versions, cuts and refusals: events are made up, and nothing is captured."""

import pytest

from duograph.jit import policy
from duograph.jit.entries import Entries
from duograph.jit.policy import Attempts, CallKinds, Forms, Looks


def waits(attempts, calls, failed=0, unused=0, is_late=False):
    """Which of the calls are attempts."""
    return [k for k in range(calls) if not attempts.wait(lambda: (failed, unused, is_late))]


def test_nothing_waits_where_attempts_succeed():
    assert waits(Attempts(), 5) == [0, 1, 2, 3, 4]
    assert waits(Attempts(), 5, failed=policy.FREE_FAILURES, unused=policy.FREE_UNUSED) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("cause", ["failed", "unused"])
def test_each_attempt_that_is_of_no_use_waits_longer(cause):
    attempts, known = Attempts(), {"failed": policy.FREE_FAILURES, "unused": policy.FREE_UNUSED}[cause]
    made = []
    for k in range(200):
        if not attempts.wait(lambda: (known if cause == "failed" else 0, known if cause == "unused" else 0, False)):
            known += 1
            made.append(k)
    assert made[:6] == [0, 2, 6, 14, 30, 62]
    assert attempts.unattempted == 200 - len(made)


class _Version:
    hits = 9

    def __init__(self, seconds):
        self.capture_ms, self.compile_ms = 250 * seconds, 750 * seconds


def test_versions_that_take_long_wait_until_plain_python_has_taken_as_long():
    entries, made = Entries(), []
    for k in range(40):
        if entries.is_backing_off():
            entries.count(1.0)
        else:
            entries.compiled.append(_Version(6.0))
            made.append(k)
    assert made == [0, 1, 2, 3, 10, 17, 24, 31, 38]
    assert entries.attempts.unattempted == 40 - len(made)
    quick = Entries()
    quick.compiled += [_Version(policy.COSTLY / 2)] * 20
    assert not any(quick.is_backing_off() for _ in range(20))
    quick.compiled += [_Version(policy.COSTLY / 2)] * policy.MANY
    assert all(quick.is_backing_off() for _ in range(20))  # whatever they cost
    quick.count(policy.COSTLY / 2 * policy.SPREAD)
    assert not quick.is_backing_off() and quick.is_backing_off()


def test_what_has_taken_all_the_time_waits_at_once():
    assert waits(Attempts(), 10, failed=3, is_late=True) == [7]


def test_calls_that_wait_may_go_natively_until_the_next_attempt():
    attempts, known, natively, led = Attempts(), policy.FREE_FAILURES, 0, 0
    for _ in range(1000):
        led += 1
        if not attempts.wait(lambda: (known, 0, False)):
            known += 1
        natively += attempts.rest
        attempts.passed(attempts.rest)
        if natively > 20 * policy.LET:
            break
    assert attempts.unattempted == led + natively - (known - policy.FREE_FAILURES)
    assert led < 500


def test_versions_that_are_gone_count_as_unused():
    attempts = Attempts()
    attempts.dropped = policy.FREE_UNUSED + 2
    assert waits(attempts, 8) == [3, 7]


def test_what_is_another_thing_often_is_unsteady_and_told_once():
    attempts = Attempts()
    for _ in range(policy.UNSTEADY):
        assert not attempts.has_news
        attempts.note_missed("history", hits=1)
        attempts.note_missed("worth its versions", hits=policy.WORTH)
    assert attempts.has_news and attempts.unsteady == {"history"}
    attempts.has_news = False
    attempts.note_missed("history", hits=1)
    assert not attempts.has_news


def test_a_number_that_cannot_be_an_input_stays_none():
    attempts = Attempts()
    attempts.note_number("n", int)
    attempts.note_number("n", int)
    assert attempts.varying == {"n": 2}
    attempts.varying["n"] = -1
    attempts.note_number("n", int)
    assert attempts.varying == {"n": -1}


def test_misses_ask_for_a_sweep_at_times():
    attempts = Attempts()
    assert [k for k in range(3 * policy.STALE) if attempts.note_miss()] == [k * policy.STALE - 1 for k in (1, 2, 3)]


def test_refusals_are_looked_at_often_and_then_rarely():
    looks = Looks()
    due = [k for k in range(1, 4 * policy.RARELY + 1) if looks.is_due()]
    assert due == [*range(1, policy.OFTEN + 1), *(n * policy.RARELY for n in (1, 2, 3, 4))]


@pytest.mark.parametrize("hits", [0, 100, 10_000, 10_000_000])
def test_after_a_rest_a_look_is_due(hits):
    looks = Looks()
    looks.passed(hits)
    for _ in range(5):
        looks.passed(looks.rest)
        assert looks.is_due()
    assert looks.rest <= policy.MOST_LET + policy.RARELY


def test_kinds_of_calls_are_looked_for_until_there_are_too_many():
    kinds = CallKinds()
    assert [k for k in range(40) if kinds.is_asked(1)] == [*range(policy.OFTEN), 15, 23, 31, 39]
    assert not any(CallKinds().is_asked(policy.MOST_CAUSES) for _ in range(40))
    assert kinds.are_all(policy.MOST_CAUSES) and not kinds.are_all(policy.MOST_CAUSES - 1)


def test_a_cut_is_asked_whether_it_is_of_use():
    kinds = CallKinds()
    assert [n for n in range(1, 200) if kinds.is_told(n)] == [64, 128, 192]
    assert kinds.is_told(1000)  # those that went natively count
    assert not kinds.is_in_use(0) and kinds.is_in_use(3) and not kinds.is_in_use(3)


def test_parts_are_small_as_of_the_latest_look():
    kinds, looks = CallKinds(), []
    told = [kinds.is_small(lambda: not looks.append(1)) for _ in range(2 * policy.RARELY)]
    assert len(looks) == 2 and told.index(True) == policy.RARELY - 1


def made():
    return lambda: None


def test_functions_that_are_called_again_get_a_compiled_form():
    forms, fn = Forms(), made()
    assert [forms.is_worth(fn, lambda: True) for _ in range(3)] == [False, True, True]
    assert not any(Forms().is_worth(fn, lambda: False) for _ in range(3))


def test_of_closures_that_are_made_anew_few_do():
    def closure():
        return lambda: None

    forms, held = Forms(), []
    for _ in range(policy.MOST_CLOSURES):
        held.append(closure())
        assert [forms.is_worth(held[-1], lambda: True) for _ in range(2)] == [False, True]
    held.append(closure())
    assert not any(forms.is_worth(held[-1], lambda: True) for _ in range(3))


@pytest.mark.parametrize(
    ("operations", "is_flat", "largest", "guards", "light"),
    [
        (2, True, 10, 3, True),
        (3, True, 10, 3, False),
        (2, False, 10, 3, False),
        (2, True, policy.SMALL + 1, 3, False),
        (1, True, policy.SMALL + 1, 3, True),
        (5, True, 10, 6 * policy.MOST_GUARDS + 1, True),
    ],
)
def test_what_computes_too_little(operations, is_flat, largest, guards, light):
    assert policy.computes_too_little(operations, is_flat, largest, guards) is light


def test_tapes_and_failures(monkeypatch):
    monkeypatch.setattr(policy, "FEWEST", 5)
    small, large = policy.work_for_tapes(8), policy.work_for_tapes(4 * policy.LARGE)
    assert policy.is_quicker_op_by_op(4 * small) and not policy.is_quicker_op_by_op(5 * small)
    assert not policy.is_quicker_op_by_op(large)
    assert policy.saves_too_little([4, 4], 1) and policy.saves_too_little([6], 2)
    assert not policy.saves_too_little([6], 1) and not policy.saves_too_little([], 1)
    most = policy.FAILURES
    assert not policy.fails_too_often(most, most) and policy.fails_too_often(most + 1, most + 2)
    assert not policy.fails_too_often(most + 1, 2 * most + 2)


def test_versions_with_few_calls_have_no_say_in_whether_a_function_pays():
    most = 10 * policy.MINOR
    assert policy.is_minor(10, most) and not policy.is_minor(11, most)
    assert policy.is_minor(1, 2) and not policy.is_minor(2, 2)


def test_versions_are_not_looked_for_where_that_loses_more_than_it_gains():
    attempts = Attempts()
    lost, plain, answered, pauses = 50e-6, 5e-6, 0, []
    gain = plain / 2
    for _ in range(3):
        pauses += [attempts.pause(answered, gain, lost, plain) for _ in range(policy.MISSED)]
        answered += policy.MISSED  # as many calls find one
    given = [n for n in pauses if n]
    assert given == [policy.LET, 2 * policy.LET, 4 * policy.LET] and pauses.index(given[0]) == policy.MISSED - 1
    answered += 20 * policy.MISSED * int(lost / plain)  # now most do, which gains more
    assert not any(attempts.pause(answered, gain, lost, plain) for _ in range(policy.MISSED))
    longest = max(attempts.pause(answered, gain, lost / 10, plain) for _ in range(40 * policy.MISSED))
    assert longest == policy.RETRY
    longest = max(attempts.pause(answered, gain, 100 * lost, plain) for _ in range(40 * policy.MISSED))
    trials = policy.MISSED // policy.PART  # fewer, where the last pause was long
    assert abs(longest * plain * policy.PAUSED - trials * 100 * lost) < plain


def test_what_a_compiled_call_gains_is_known_once_it_is_measured():
    comparison = policy.Comparison(0)
    assert comparison.gain(5.0) == 5 * policy.GAIN
    comparison.plain, comparison.compiled = 3.0, 1.0
    assert comparison.gain(5.0) == 2
    comparison.compiled = 4.0  # it is to gain something, or it would not answer
    assert comparison.gain(5.0) == 3 * policy.GAIN
    comparison.pays = False
    assert comparison.gain(5.0) == 0
