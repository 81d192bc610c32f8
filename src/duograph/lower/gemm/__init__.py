"""GEMM: products of matrices with fused epilogues, every element one chain of fused multiply-adds.

    kind      what numbers, which tile        call      `gemm_call`: a product as kernel calls, for any rule
    tile      the micro-kernel                driver    tasks, blocks, packing
    pack      copies for the micro-kernel     output    where results go: memory, or the sink that fuses
    matmul    the op ``matmul``

**Bits.** Element (i, j) is fma(a[i, k], b[k, j], sum) over k = 0, 1, 2, ... from +0.0, in float32 (of half types,
rounded once at the end), float64, or the integer type (which wraps). bool is "or" of "and". Complex numbers: see
`pack`. Neither tile, packing, threads, epilogue, strides nor the stack has any part in it.
"""

from .call import BatchLoop, Matrix, gemm_call
from .matmul import lower_matmul
from .output import MatrixOutput, Output, SinkOutput

__all__ = ["BatchLoop", "Matrix", "MatrixOutput", "Output", "SinkOutput", "gemm_call", "lower_matmul"]
