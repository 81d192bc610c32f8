"""Passes: named transformations of MindIR, each valid graph in, valid graph out.

manager.py     what a pass is; running, timing, verifying and dumping pipelines
pipelines.py   the pipelines, on one screen
canonicalise.py, inline.py, fold.py, simplify/   the passes
registered.py  passes of users
dump.py        graphs as numbered files
"""

from duograph.base.failures import ExtensionError

from .registered import register, unregister

__all__ = ["ExtensionError", "register", "unregister"]
