"""Convolution: direct kernels over a padded copy of the image, with run-time extents.

**Meaning.** With k = (channel in the group, kd, kh, kw), the last running fastest and missing spatial axes counting
as 1:

* `conv`: every output is one chain ``acc = fma(w[o, k], x[...k...], acc)`` over k = 0, 1, ... from ``acc = +0.0``.
  Taps that lie in the padding take part as zeros.
* `conv_input_grad`: one chain per element over (output channel of the group, then the positions of ``dout`` whose
  window covers the element, in ascending order of position). Positions that do not exist (before the first or behind
  the last window) take part as zeros; what lies *between* positions, because of the stride, does not.
* `conv_weight_grad`: per image n one chain ``P_n`` over the positions (od, oh, ow) in that order, taps in the padding
  as zeros; then ``((0 + P_0) + P_1) + ...``.

Chains of `conv` and `conv_input_grad` end with ``acc + 0.0``, so -0.0 is never the outcome of one. That makes taps in
the padding worth nothing while weights are finite: ``fma(w, 0, acc)`` is ``acc``, unless ``acc`` is a zero, whose sign
it may change; and a zero of either sign in the middle of a chain leads to the same end, as ``fma(w, x, +-0.0)`` is
``w * x`` rounded where that is not zero, and else a zero. Kernels may thus leave such taps out, and do.

3x3 kernels over two axes without stride and dilation, with at least 16 channels per group on either side and sums in
float32, are computed by **Winograd's algorithm** instead: `winograd.forward` and `winograd.grad` say which sums that
are. Where they do not come to a finite number, the result is that of the chains above. Nothing but kernel, stride,
dilation, channels and dtype decides about the algorithm.

float16 and bfloat16 are computed in float32 and rounded once. Complex convolution is a real one with twice the channels
(`complex_numbers`). The chains are a function of shapes, attributes and dtype; tiles, vector widths and threads decide
only how many of them are under way at once. One kernel family serves every stride, dilation, group count and rank;
others, for some shapes, compute the same chains.

**How.** `pad` copies the image into a zero-bordered buffer whose rows are split by stride phase, so that neighbouring
outputs read neighbouring elements whatever the stride. `pack` lays weights out for the micro-kernel and writes the
table of offsets of all k. `correlate` is an implicit GEMM: rows x vectors of accumulators over one loop over k that
reads the table. The gradient in the input is the same kernel over a padded ``dout``, once per stride phase. `outer`
(gradient in the weight) keeps a tile of (k, output channels) in registers and walks over the pixels of a transposed
``dout``. Small images in batches waste vectors that way, and have as much padding as image: `batch.correlate` computes
the same chains with images of the batch as lanes, where `batch.correlation` finds that to be faster; so does
`batch.outer` for the gradient in the weight of few channels, every lane the chain ``P_n`` of an image.
"""
