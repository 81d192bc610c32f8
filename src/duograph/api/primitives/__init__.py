"""MindSpore's Primitive classes (``ops.Add()``, ``ops.MatMul(transpose_b=True)``), made from tables of functions."""
