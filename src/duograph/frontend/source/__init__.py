"""The syntax trees of functions, and which names are theirs."""
