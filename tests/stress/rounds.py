"""One round of one kind, in this process: `python -m tests.stress.rounds KIND SEED`."""

from __future__ import annotations

import importlib
import sys

import numpy as np

from .found import run_round

WHERE = {"killed": ("files", "killed"), "full": ("files", "full")}

if __name__ == "__main__":
    module, name = WHERE.get(sys.argv[1], (sys.argv[1], "work"))
    run_round(getattr(importlib.import_module(f"tests.stress.{module}"), name), np.random.default_rng(int(sys.argv[2])))
