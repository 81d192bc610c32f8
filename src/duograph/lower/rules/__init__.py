"""The rules of all ops, one module per family, and which ops each module is about.

A module is loaded when one of its ops is lowered for the first time, and a small program needs few of them. An op that
is not in the table is found all the same, by loading everything: a test (`tests/unit/lower/test_rule.py`) compares.
"""

from __future__ import annotations

FAMILIES: dict[str, str] = {
    "boxes": "crop_and_resize crop_grad nms_with_mask roi_align roi_align_grad",
    "conv": "conv conv_input_grad conv_weight_grad",
    "creation": "arange eye full iota linspace one_hot",
    "cumulative": "cummax cummin cumprod cumsum linear_scan",
    "diagonals": "diagonal diagonal_update diagonals_of tril triu with_diagonals",
    "fourier": "fft rfft",
    "fractional_pool": "fractional_max_pool",
    "histogram": "histogram",
    "hosted": """
        bincount cholesky ctc_greedy_decoder det edit_distance eig eigh geqrf inverse list_diff masked_select
        matrix_logarithm non_max_suppression nonzero qr range_slice slogdet solve svd svd_values
        triangular_solve unique unique_consecutive
    """,
    "indexing": "advanced_get gather gather_elements gather_nd",
    "matmul": "matmul",
    "movement": "broadcast_to flip repeat_interleave reshape roll tile transpose",
    "padding": "pad pad_adjoint",
    "pointwise_arithmetic": """
        abs add ceil copysign div floor floor_div fmod maximum minimum mod mul neg nextafter reciprocal relu
        round sign square sub trunc trunc_div
    """,
    "pointwise_cast": "assigned bitcast cast identity stop_gradient",
    "pointwise_complex": "complex conj imag real",
    "pointwise_logic": """
        bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor equal greater
        greater_equal isfinite isinf isnan less less_equal logical_and logical_not logical_or logical_xor
        not_equal select signbit
    """,
    "pointwise_math": """
        acos acosh angle asin asinh atan atan2 atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0
        bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 betainc cos cosh digamma erf
        erfc erfinv exp exp2 expm1 fast_gelu gelu gelu_by_tanh hypot igamma igamma_grad_a igammac lgamma log
        log10 log1p log2 logit mish normal_cdf polygamma pow rsqrt sigmoid silu sin sinc
        sinh softplus sqrt tan tanh tanhshrink xlogy zeta
    """,
    "pool": """
        adaptive_max_pool avg_pool avg_pool_grad gather_planes max_pool max_unpool resize_axis
        resize_axis_grad scatter_planes
    """,
    "random": """
        random_bits random_gamma random_integers random_normal random_permutation random_poisson
        random_uniform
    """,
    "reduce": """
        argmax argmin log_softmax reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod
        reduce_sum softmax standardize
    """,
    "scatter": "advanced_put index_add scatter_elements scatter_nd_update unsorted_segment",
    "sequences": "ctc_grad ctc_nll no_repeat_ngram permutation_of_pivots",
    "slices": "concat dynamic_slice dynamic_update range_update slice_update strided_slice",
    "sort": "searchsorted sort topk",
    "windows": "sliding_window sliding_window_sum",
}
"""Names of ops, by the module that lowers them."""

NO_FAMILY = """
    call call_named cond custom_vjp dim_size make_tuple scalar_binary scalar_tensor scalar_unary scan
    tensor_item tuple_get undef while_loop py_effect anchor relabel sized cotangent_pop pack residual_add stack_new
    stack_pop
    stack_push stack_size unpack
"""
"""Ops without a rule: executables are built of them."""
