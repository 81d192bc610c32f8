"""CPython and NumPy as native code sees them: where fields are, C functions, and how text that uses them is written."""
