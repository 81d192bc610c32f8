# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
from duograph.context.jit_config import *
