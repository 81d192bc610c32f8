"""The demonstration, ``python -m duograph demo``: a program that a user could have written, and its data.

``examples/digits.py`` is a link to `digits`. That lies in a folder of its own, for Python searches a script's folder
before all others.
"""

from duograph.core.traits import Traits

__capture__ = Traits(program=True)
