"""Layer 0: what everything else stands on. Standard library only.

source.py       source texts, and spans in them
diagnostics.py  errors as data, the codes, the exception tree
render.py       a diagnostic as text with carets
config.py       all switches; the only reader of environment variables
failures.py     internal failures: raise, or answer by the reference, count and tell
events.py       stage timers and the event log
components.py   strongly connected components of graphs
tree.py         nested containers: flatten and unflatten
"""
