"""Elementary and special functions in loop IR, for scalars and vectors of any length, without tables or branches.

Every function is ``f(b, x, ...)`` on float32 or float64 values (of any number of lanes) and gives the same bits for a
number wherever it stands. `docs/maths.md` has the algorithms and the measured errors.
"""
