"""Settings for all tests: property tests try the same examples in every run, so that a run can be repeated.

`pytest --hypothesis-profile=search` tries new ones; `scripts/fuzz` searches for longer.
"""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("repeatable")
