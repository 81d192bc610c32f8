"""Pooling, values moved within planes, resizing along an axis.

**Meaning.** Every result is computed as the reference does it, to the bit: maxima take the first of equals, and NaN
before everything; means add the taps inside the image in C order from +0.0 (padding adds zeros, which changes
nothing) and divide once; adjoints add tap by tap, positions in C order within a tap; `resize_axis` adds products of
taps in order. The one difference: `scatter_planes` adds in the dtype itself (half types in float32), in order of
position, where the reference sums in float64. Half types are computed in float32 and rounded once.

Work is divided by planes (batch x channels), which share nothing.
"""
