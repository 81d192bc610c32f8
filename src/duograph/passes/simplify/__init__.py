"""Simplifications that are exact to the bit: rules (arith, movement, scalars, tuples) and control flow."""
