"""GEMM: products of matrices with fused epilogues, every element one chain of fused multiply-adds.

    kind      what numbers, which tile        call      `gemm_call`: a product as kernel calls, for any rule
    tile      the micro-kernel                driver    tasks, blocks, packing
    pack      copies for the micro-kernel     output    where results go: memory, or the sink that fuses
    matmul    the op ``matmul``                 vector    products of one row or one column
    stack     loops over stacks, and over the vectors of a row

**Bits.** Element (i, j) is fma(a[i, k], b[k, j], sum) over k = 0, 1, 2, ... from +0.0, in float32 (of half types,
rounded once at the end), float64, or the integer type (which wraps). bool is "or" of "and". Complex numbers: see
`pack`. Neither tile, packing, threads, epilogue, strides nor the stack has any part in it.

**One code for all sizes.** Nothing is specialised by shape: tiles, packing and row products are compiled once per
number type, a driver once per layout and epilogue. Measured, that costs nothing: 59 ns for 2x4x3, 84 % of the peak of
one core at 32^3, 92 % at 64^3. Extents that are known choose between kernels (`gemm_call`): one row or column; A packed
if its rows collide in the cache; a narrow tile for a narrow last panel.
"""

from .call import BatchLoop, Matrix, gemm_call
from .matmul import lower_matmul
from .output import MatrixOutput, Output, SinkOutput

__all__ = ["BatchLoop", "Matrix", "MatrixOutput", "Output", "SinkOutput", "gemm_call", "lower_matmul"]
