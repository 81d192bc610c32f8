"""Seeds, where MindSpore programs look for them."""

from duograph.common.generator import get_seed, set_seed

__all__ = ["get_seed", "set_seed"]
