"""What parameters of public functions mean, by their names: the Args sections that functions do not write themselves.

Parameters of one name mean one thing in nearly all functions; where they do not, ``parameter.function`` has a row. The
type of a row stands for parameters whose annotation says less; ``parameter@annotation`` is for those that have this
one. Of the classes of Primitives they are the arguments of the constructor. `tests/house/test_docs.py` asks
that every parameter of a public function is described.
"""

from __future__ import annotations

ROWS = """
A: Tensor: the matrix, or a batch of matrices.
A.norm: Tensor: the tensor.
LU_data: Tensor: both factors in one matrix, as `lu` packs them.
LU_pivots: Tensor: the pivots of the factorisation.
N: int: number of columns; ``None``: equal to the number of rows.
Seed0: int: a seed.
Seed1: int: a second seed.
_: Any: ignored.
_random_samples: Tensor: where pooling regions begin; ``None``: drawn at random.
abs: Tensor: the magnitudes.
accumulate: bool: whether values are added to the existing elements, instead of replacing them.
actual_seq_kvlen: Any: lengths of the sequences of keys, in layouts that pack them.
actual_seq_qlen: Any: lengths of the sequences of queries, in layouts that pack them.
additional_output: bool: whether the sum before normalisation is returned, too.
adjoint: bool: whether the system is solved for the adjoint of the matrix.
align: str: on which side shorter diagonals are padded, above and below the main one.
align_corners: bool: whether the centres of the corner elements, rather than their outer edges, are aligned.
alpha: number: a factor.
alpha.celu: float: the negated limit for large negative inputs.
alpha.elu: float: the negated limit for large negative inputs.
alpha.hann_window: float: a factor.
anchor: Tensor: the samples that the others are compared with.
anchor_box: Tensor: boxes of reference, each (left, top, right, bottom).
angle: Tensor: angles, in radians.
append: Tensor: values appended to ``input`` along the axis before the operation.
approximate: str: ``"none"`` for the error function, ``"tanh"`` for its approximation.
argmax_type: dtype: the dtype of the indices.
input_x.print_: Any: the values to print.
args: Any: further arguments; see the description above.
as_tuple: bool: whether indices are given as a tuple of tensors, one per axis.
atol: float: absolute tolerance.
attn_mask: Tensor: the keys that each query may attend to: booleans, or numbers that are added to the scores.
attrs: Any: attributes of the operator.
aweights: Tensor: weights of the observations.
axes: Union[int, tuple[int]]: axes to sum over, or their order.
axis: Union[int, tuple[int], None]: the axis or axes to operate along; ``None``: all, where that is allowed.
axis0: int: the first of two axes.
axis1: int: the first of two axes.
axis2: int: the second of two axes.
axis@int: int: the axis to operate along.
b: Tensor: right-hand sides.
base: number: the base of the powers.
batch1: Tensor: matrices, of shape (B, N, M).
batch2: Tensor: matrices, of shape (B, M, P).
batch_dim: int: the axis of the sequences.
batch_dims: int: number of leading axes that both operands share.
bboxes: Tensor: boxes, each (left, top, right, bottom).
begin: tuple[int]: where the slice begins on each axis.
begin_mask: int: bits of the axes on which ``begin`` is ignored.
beta: number: a factor.
beta.kaiser_window: float: shape of the window.
beta.smooth_l1_loss: float: the difference at which the loss changes from quadratic to linear.
beta.softplus: float: steepness.
beta1: float: decay of the running mean of gradients.
beta2: float: decay of the running mean of their squares.
bias: Tensor: a bias that is added to the result; ``None``: no bias.
bins: int: number of bins.
block_shape: Union[int, list[int]]: sizes of blocks on each axis.
block_size: int: size of blocks.
blocking: bool: accepted; copies on the CPU are complete when they return.
boundaries: Union[Tensor, list]: boundaries of the buckets, ascending.
box_indices: Tensor: the image of each box.
boxes: Tensor: boxes, in parts of the height and width of images.
ceil_mode: bool: whether output sizes are rounded up, so that windows that fit only partly count.
check_index_bound: bool: accepted; indices are always checked.
choices: Any: the tensors to choose from.
chunks: int: number of parts.
clip_norm: float: the largest norm.
clip_value_max: Union[Tensor, number]: the largest value; ``None``: no limit.
clip_value_min: Union[Tensor, number]: the smallest value; ``None``: no limit.
col: int: number of columns.
compute_mode: str: accepted; distances are always computed without a matrix product.
compute_uv: bool: whether the vectors are computed, too.
condition: Tensor: booleans that select the elements.
const_arg: bool: whether compiled functions treat the tensor as a constant.
coordinate_transformation_mode: str: how pixels of the output are mapped to those of the input.
copy: bool: whether the result is always a copy.
correction: int: the number subtracted from the number of elements when variances are divided by it.
cos: Tensor: cosines of the angles.
count: int: number of elements to choose.
count_include_pad: bool: whether padding counts in averages.
crop_size: tuple[int]: height and width of the results.
crops: list: the number of elements cropped at both ends of each axis.
d: float: the spacing of the samples.
data: Any: the data.
data_format: str: the axis that holds the channels.
ddof: int: the number subtracted from the number of elements when variances are divided by it.
decimals: int: number of decimal places.
delta: number: the difference at which the loss changes from quadratic to linear.
deltas: Tensor: offsets of boxes.
depth: int: number of classes.
depth_radius: int: half the width of the window.
descending: bool: whether to sort from largest to smallest.
destination: Union[int, tuple[int]]: the new positions of the axes.
device: Any: accepted; the CPU is the only device.
diagonal: Union[int, Tensor]: the diagonal: 0 is the main one, positive values lie above it, negative ones below.
diagonal.matrix_set_diag: Tensor: the new diagonals.
dilation: Union[int, tuple[int]]: the spacing of the elements within a window.
dim: Union[int, tuple[int], None]: the axis or axes to operate along; ``None``: all, where that is allowed.
dim0: int: the first of two axes.
dim1: int: the first of two axes.
dim1.diagonal_scatter: int: the first of two axes.
dim2: int: the second of two axes.
dim@int: int: the axis to operate along.
dims: Union[int, tuple[int]]: the axes.
dims.tile: tuple[int]: the number of repetitions along each axis.
dividend: Union[Tensor, number]: the dividend.
divisor: Union[Tensor, number]: the divisor.
divisor_override: int: the divisor of the sums of windows, instead of their number of elements.
downscale_factor: int: the factor by which height and width shrink.
drop_mask: Tensor: the attention weights to keep.
dtype: dtype: the dtype of the result; ``None``: that of the operand, or the promoted one.
dx: float: the spacing of the samples.
ellipsis_mask: int: the bit of the entry that is an ellipsis.
end: Union[Tensor, number, list]: the end.
end.arange: number: the end, which is excluded.
end.lerp: Tensor: the value at weight 1.
end.linspace: number: the last value.
end.logspace: number: exponent of the last value.
end_dim: int: the last axis that is flattened.
end_mask: int: bits of the axes on which ``end`` is ignored.
eps: float: a small number that avoids division by zero.
eps.logit: float: inputs are clamped to ``eps`` .. ``1 - eps``; ``None``: they are not.
epsilon: float: a small number that avoids division by zero.
equal_nan: bool: whether two NaN count as equal.
equation: str: letters for the axes of operands and of the result, as in NumPy.
error_if_nonfinite: bool: whether a norm that is NaN or infinite is an error.
exclusive: bool: whether each element is excluded from its own result.
exponent: Union[Tensor, number]: the exponents.
expr: Any: the value that has to be computed first.
extrapolation_value: float: the value of pixels outside the images.
fill_value: number: the value of all elements.
from_: number: the lower bound.
full: bool: whether constant terms are added.
full_matrices: bool: whether all columns of the orthogonal matrices are computed.
func: Callable: the function.
fweights: Tensor: the number of times that each observation counts.
gamma: Tensor: the scale of the normalised values.
generator: Generator: the random number generator; ``None``: the default one (`set_seed`).
gradient_scale: float: the factor applied to gradients.
grid: Tensor: sampling positions in the image, each (x, y) in -1 .. 1.
groundtruth_box: Tensor: boxes to be found, each (left, top, right, bottom).
group: str: the group of ranks that take part.
group.Conv2D: int: number of groups into which the channels are divided.
group.Conv2DTranspose: int: number of groups into which the channels are divided.
group.Conv3D: int: number of groups into which the channels are divided.
group.Conv3DTranspose: int: number of groups into which the channels are divided.
groups: int: number of groups into which the channels are divided.
half_pixel_centers: bool: whether coordinates refer to the centres of pixels.
hard: bool: whether samples are one-hot; gradients are those of the soft samples.
head_num: int: number of attention heads.
hermitian: bool: whether the matrix is Hermitian.
high: int: the upper bound, which is excluded.
ignore_index: int: the class that is ignored.
ignore_nan: bool: whether NaNs are ignored.
image: Tensor: images, of shape (N, height, width, C).
img_metas: Tensor: height, width and scale of the image.
index: Union[int, Tensor]: positions along the axis.
indexing: str: ``"xy"`` (Cartesian) or ``"ij"`` (matrix indexing).
indices: Tensor: the indices of the elements.
indices_or_sections: Union[int, tuple[int]]: the number of equal parts, or the indices where parts begin.
initial: number: the least (for maxima) or greatest (for minima) possible result.
inner_precise: int: accepted; sums always have full precision.
inplace: bool: whether the result is written to ``input``.
input: Union[Tensor, number]: the input.
input.arange: Tensor: the input.
input.binary_cross_entropy_with_logits: Tensor: logits.
input1: Tensor: the first operand.
input2: Tensor: the second operand.
input_indices: Tensor: the indices along ``axis``.
input_layout: str: the order of axes, such as ``"BSH"`` or ``"BNSD"``.
input_params: Tensor: the values to choose from.
input_perm: tuple[int]: the order of axes.
input_x: Union[Tensor, number]: the input.
input_y: dtype: the new dtype.
inputs: Union[Tensor, tuple[Tensor]]: the tensors.
is_causal: bool: whether a query attends only to keys up to its own position.
is_training: bool: whether the statistics are those of the batch.
k: int: the number of elements, or the index of one.
k.kthvalue: int: the rank of the element, starting at 1 with the smallest.
k.matrix_diag: Union[int, tuple[int]]: the diagonals.
k.matrix_set_diag: Union[int, tuple[int]]: the diagonals.
k.rot90: int: the number of rotations by 90 degrees.
keep_dims: bool: whether reduced axes are kept, with size 1.
keep_prob: float: the probability of keeping an attention weight.
keepdim: bool: whether reduced axes are kept, with size 1.
keepdims: bool: whether reduced axes are kept, with size 1.
kernel_size: Union[int, tuple[int]]: size of the windows.
key: Tensor: the keys.
ksize: Union[int, tuple[int]]: size of the windows.
l1: float: the weight of the L1 regularisation.
l2: float: the weight of the L2 regularisation.
label_smoothing: float: the share of the target that is distributed over all classes.
labels: Tensor: the targets.
lambd: float: the threshold.
lambd.exponential_: float: the rate.
lambda_param: Union[Tensor, number]: the scale.
largest: bool: whether the largest elements are returned, rather than the smallest.
left: bool: whether the orthogonal matrix is the left factor.
length: int: number of elements.
lengths: Tensor: lengths of the sequences.
log_input: bool: whether ``input`` is the logarithm of the rate.
log_target: bool: whether ``target`` is a logarithm.
logits: Tensor: the scores before the softmax.
low: int: the lower bound.
lower: Union[int, float]: the lower bound, or the number of diagonals below the main one.
lr: float: the learning rate.
lr_power: float: power of the learning rate; at most 0.
m: int: number of columns; ``None``: equal to the number of rows.
margin: float: the required margin.
mask: Tensor: booleans, of a shape that broadcasts to that of ``input``.
mat: Tensor: the matrix.
mat1: Tensor: the first matrix.
mat2: Tensor: the second matrix.
matrix: Tensor: the matrix, or a batch of matrices.
max: Union[Tensor, number]: the upper limit; ``None``: none.
max_norm: float: the largest norm; ``None``: no limit.
max_shape: tuple[int]: the size of the image, to which boxes are clipped.
max_val: float: the upper limit.
maxlen: int: the largest length.
maxnorm: float: the largest norm.
maxval: Union[Tensor, number]: the upper bound.
mean: Union[Tensor, number]: the mean.
means: tuple[float]: means of the offsets.
median: float: the median.
merge_repeated: bool: whether equal neighbours are merged.
method: str: the interpolation method.
min: Union[Tensor, number]: the lower limit; ``None``: none.
min_val: float: the lower limit.
minlength: int: the least number of bins.
minval: Union[Tensor, number]: the lower bound.
mode: str: the variant; see the description above.
mode.Conv2D: int: must be 1.
mode.Conv2DTranspose: int: must be 1.
mode.Conv3D: int: must be 1.
mode.Conv3DTranspose: int: must be 1.
momentum: float: the weight of the new statistics in the moving averages.
more: Any: further axes.
multiples: tuple[int]: the number of repetitions along each axis.
n: int: number of elements.
n.diff: int: how many times differences are taken.
n.diff_ext: int: how many times differences are taken.
n.eye: int: number of rows.
n.matrix_power: int: the power.
n.polygamma: int: the order of the derivative.
nan: number: the replacement of NaNs.
negative: Tensor: samples that should be far from the anchors.
negative_slope: float: slope below zero.
neginf: number: the replacement of negative infinities; ``None``: the lowest number of the dtype.
new_axis_mask: int: bits of the entries that add an axis of size 1.
new_shape: Union[int, tuple[int]]: the new shape.
next_tokens: int: the number of later keys that a query attends to.
non_blocking: bool: accepted; copies on the CPU are complete when they return.
norm: str: the direction that is scaled: ``"backward"``, ``"ortho"`` or ``"forward"``; ``None``: ``"backward"``.
norm_region: str: the region that is normalised over.
norm_type: float: the order of the norm.
normalized_shape: tuple[int]: the sizes of the last axes, over which the input is normalised.
num_classes: int: number of classes; -1: one more than the largest target.
num_cols: int: number of columns.
num_groups: int: number of groups of channels.
num_rows: int: number of rows.
num_sample: int: number of samples per row.
num_sampled: int: number of samples.
num_samples: int: number of samples per row.
num_segments: int: number of segments.
num_true: int: number of true classes of each example.
numsamples: int: number of samples per row.
obj: Any: any object.
off_value: number: the value elsewhere.
offset: int: the diagonal: 0 is the main one, positive values lie above it, negative ones below.
on_value: number: the value at the class.
op: str: the operator.
operands: Tensor: the tensors.
opt_shard_group: Any: accepted; parameters are not sharded.
options: Any: ``keepdims``, ``dtype`` and others, as the function of the same name takes them.
ord: Union[int, float, str]: the order of the norm.
order: str: ``"C"`` or ``"F"``: the index that changes fastest.
other: Union[Tensor, number]: the second operand.
out_channel: int: number of channels of the result.
out_int32: bool: whether indices are int32 rather than int64.
out_type: dtype: the dtype of the result.
output_num: int: number of parts.
output_padding: Union[int, tuple[int]]: the size added to one side of the result.
output_ratio: Union[float, tuple[float]]: the size of the result relative to that of ``input``.
output_size: Union[int, tuple[int], None]: the size of the result; ``None`` on an axis: unchanged.
output_type: dtype: the dtype of the result.
p: number: the probability of zeroing an element, or the order of the norm.
p.bernoulli: Union[Tensor, number]: the probability of 1.
p.bernoulli_: Union[Tensor, number]: the probability of 1.
p.cdist: float: the order of the norm.
p.dropout: float: the probability of zeroing an element.
p.mvlgamma: int: the number of dimensions.
p.renorm: number: the order of the norm.
pad: Union[int, tuple[int]]: the padding on each side, with ``pad_mode="pad"``.
pad_dim_size: int: the size of the last axis.
pad_list: tuple[int]: the padding of each side, if they differ.
pad_mode: str: ``"valid"``: no padding; ``"same"``: the size is preserved; ``"pad"``: padding as in ``pad``.
pad_num: number: the value of the padding.
padding: Union[int, tuple[int], str]: the number of elements added on each side.
padding_idx: int: the index whose row gets no gradient.
padding_mask: Tensor: must be ``None``.
padding_mode: str: the values outside the image: ``"zeros"``, ``"border"`` or ``"reflection"``.
padding_value: number: the value of the padding.
paddings: Union[Tensor, tuple]: the number of elements added before and after each axis.
pads: Union[int, tuple[int]]: the number of elements added on each side.
periodic: bool: whether the window continues periodically.
pos_weight: Tensor: weights of positive targets.
posinf: number: the replacement of positive infinities; ``None``: the largest number of the dtype.
positive: Tensor: samples that should be near the anchors.
pre_tokens: int: the number of earlier keys that a query attends to.
prefix: Any: lengths of the prefixes that all queries attend to.
prepend: Tensor: values prepended to ``input`` along the axis before the operation.
q: Union[Tensor, float]: the probabilities, in 0 .. 1.
query: Tensor: the queries.
r: int: number of elements in a combination.
range_max: int: number of classes.
rate: Union[Tensor, number]: the expected counts.
real_shift: Tensor: a bias added to the scores.
recompute_scale_factor: bool: whether the scale is recomputed from the sizes.
reduce: str: how values are combined with existing ones: ``"add"`` or ``"multiply"``; ``None``: they replace them.
reduction: str: how the losses are reduced: ``"none"``, ``"mean"`` or ``"sum"``.
remove_accidental_hits: bool: whether true classes are removed from the samples.
rep: int: the number of repetitions of each element.
repeats: Union[int, tuple[int], Tensor]: the number of repetitions of each element, or of the whole.
replacement: bool: whether indices are drawn with replacement.
reps: tuple[int]: the number of repetitions along each axis.
requires_grad: bool: whether the tensor requires a gradient.
return_counts: bool: whether the number of occurrences of each value is returned.
return_indices: bool: whether the indices are returned, too.
return_inverse: bool: whether the index of each element in the result is returned.
reverse: bool: whether to run from the end to the beginning.
rhs: Tensor: right-hand sides.
right: bool: whether intervals include their right ends; for equal values, the last index rather than the first.
rounding_mode: str: ``"floor"`` or ``"trunc"``; ``None``: no rounding.
row: int: number of rows.
rtol: float: relative tolerance.
running_mean: Tensor: moving means.
running_var: Tensor: moving variances.
s: tuple[int]: the sizes of the transformed axes; ``None``: unchanged.
scalar_value: float: the factor of the scores.
scale: float: the factor of the scores; ``None``: one over the square root of the head size.
scale_factor: Union[float, tuple[float]]: the new size relative to the old one.
scale_grad_by_freq: bool: whether gradients are divided by the frequency of their index.
seed: int: the seed; ``None`` or 0: the default generator is used (`set_seed`).
seed2: int: a second seed.
segment_ids: Tensor: the segment of each element or row.
seq_dim: int: the axis of the positions.
seq_lengths: Tensor: the number of elements to reverse in each sequence.
sequence_length: Tensor: lengths of the sequences.
shape: Union[int, tuple[int]]: the shape of the result.
shifts: Union[int, tuple[int]]: the number of positions by which elements are shifted.
shrink_axis_mask: int: bits of the axes that are removed by taking one element.
side: str: ``"left"`` or ``"right"``: for equal values, the first index or the last.
sigma: float: the scale.
sin: Tensor: sines of the angles.
size: Union[int, tuple[int]]: the size, or the shape, of the result.
skip_mode: bool: whether an empty list of axes means none, rather than all.
slice_index: Any: accepted; parameters are not sharded.
some: bool: whether reduced factors are computed, rather than complete ones.
sorted: bool: whether the result is sorted.
sorted_sequence: Tensor: a tensor that is ascending along the last axis.
sorter: Tensor: the indices that sort the sequence.
source: Union[Tensor, int, tuple[int]]: the values, or the axes to move.
source.from_dlpack: Any: an object that supports DLPack.
sparse_mode: int: the pattern of the mask.
split_size_or_sections: Union[int, list[int]]: the size of all parts, or the size of each part.
src: Union[Tensor, number]: the values.
stable: bool: whether equal elements keep their order.
start: Union[int, float, Tensor]: the start.
start_dim: int: the first axis that is flattened.
std: Union[Tensor, number]: the standard deviation.
stddev: Union[Tensor, number]: the standard deviation.
stds: tuple[float]: standard deviations of the offsets.
step: number: the spacing of neighbouring values.
steps: int: number of values.
stride: Union[int, tuple[int]]: the stride of the windows; ``None``: their size.
strides: tuple[int]: the stride along each axis.
swap: bool: whether the distance between the positive and the negative sample is used if it is smaller.
target: Tensor: the targets.
target.to: Any: a dtype, or a tensor that has it; devices must be the CPU.
targets: Tensor: the targets, 1 or -1.
tau: float: the temperature.
tau.ormqr: Tensor: the factors of the reflections.
tensor: Tensor: the tensor.
tensor1: Tensor: the first factor, or the numerator.
tensor2: Tensor: the second factor, or the denominator.
tensors: Union[Tensor, tuple[Tensor], list[Tensor]]: the tensors.
theta: Tensor: matrices of the mappings.
thr: float: the threshold.
threshold: float: the threshold: where the function becomes the identity, or the value compared with.
to: number: the upper bound.
to.move_to: str: the device, which is the CPU.
tolerance: float: the largest difference at which values count as equal.
training: bool: whether to behave as in training: random, or with the statistics of the batch.
transpose: bool: whether the matrix is transposed.
transpose_a: bool: whether the first operand is transposed.
transpose_b: bool: whether the second operand is transposed.
true_classes: Tensor: the true classes.
type: dtype: the dtype.
unique: bool: whether samples are distinct.
unitriangular: bool: whether the diagonal is taken to be all ones.
unpack_data: bool: whether the factors are returned.
unpack_pivots: bool: whether the permutation is returned.
update_slots: bool: whether the states are updated, too.
updates: Tensor: the updates.
upper: Union[bool, int, float]: whether to use the upper triangle; or the upper bound.
upscale_factor: int: the factor by which height and width grow.
use_lock: bool: accepted; updates are always applied in order.
use_locking: bool: accepted; updates are always applied in order.
use_nesterov: bool: whether to use Nesterov momentum.
use_norm: number: the norm, if it is already known.
v: Tensor: the values.
value: Union[Tensor, number]: the value, or a factor.
value.depend: Any: the value.
value.flash_attention_score: Tensor: the values.
value.scaled_dot_product_attention: Tensor: the values.
value.stop_gradient: Any: the value.
values: Union[Tensor, number]: the values.
var: Tensor: the variances.
var.inplace_index_add: Parameter: the parameter to update.
variable: Parameter: the parameter to update.
vec: Tensor: the vector.
vec1: Tensor: the first vector.
vec2: Tensor: the second vector.
weight: Union[Tensor, number]: the weight; for layers, the matrix or the kernels.
weights: Tensor: weights of the elements.
wh_ratio_clip: float: the largest ratio of width and height.
where: Tensor: the elements that take part, as booleans.
window_length: int: number of elements.
with_replacement: bool: whether an element can occur more than once.
wrap: bool: whether the diagonal restarts below a square block.
x: Union[Tensor, number]: the input.
x.bool_and: Any: the value.
x.bool_eq: Any: the value.
x.bool_not: Any: the value.
x.bool_or: Any: the value.
x.identity: Any: the value.
x.in_dict: Any: the value.
x.is_: Any: the value.
x.is_not: Any: the value.
x.not_in_dict: Any: the value.
x.scalar_eq: Any: the value.
x.scalar_ne: Any: the value.
x.string_eq: Any: the value.
x.typeof: Any: the value.
x1: Tensor: the first operand.
x2: Tensor: the second operand.
y: Union[Tensor, number]: the second operand.
a: Union[Tensor, list, tuple, number]: the input.
a1: Union[Tensor, list, tuple, number]: the first operand.
a2: Union[Tensor, list, tuple, number]: the second operand.
arr: Union[Tensor, list, tuple]: the input.
array.broadcast_to: Union[Tensor, list, tuple, number]: the input.
arrays: Union[list, tuple]: the parts.
density: bool: whether the integral over all bins is normalised to 1.
dimensions: Union[list, tuple]: the extents of the grid.
endpoint: bool: whether the end is included.
func1d: Callable: the function that is called with each slice.
increasing: bool: whether the powers increase from column to column.
kwargs.apply_along_axis: Any: further arguments of the function.
M: int: number of columns; ``None``: equal to the number of rows.
multi_index: Union[Tensor, list, tuple]: one row of indices for each axis.
ndim.diag_indices: int: number of axes.
ndmin: int: the least number of axes.
num: int: number of values.
prototype: Tensor: the tensor that determines shape and dtype.
range.histogram: tuple: lowest and highest edge; ``None``: the extremes.
range.histogram2d: tuple: lowest and highest edge for each axis; ``None``: the extremes.
range.histogram_bin_edges: tuple: lowest and highest edge; ``None``: the extremes.
retstep: bool: whether the spacing is returned as well.
returned: bool: whether the sum of the weights is returned as well.
rowvar: bool: whether rows are variables, and columns observations.
shift: Union[int, tuple[int]]: the number of positions; one for each axis.
sparse: bool: whether axes along which nothing changes have size 1.
stop: Union[Tensor, list, number]: the end.
xi: Union[Tensor, list, tuple]: coordinates along each axis.
xmax: Union[Tensor, list, number]: the upper bound; ``None``: none.
xmin: Union[Tensor, list, number]: the lower bound; ``None``: none.
y.bool_and: Any: the second value.
y.bool_eq: Any: the second value.
y.bool_or: Any: the second value.
y.in_dict: Any: the second value.
y.is_: Any: the second value.
y.is_not: Any: the second value.
y.not_in_dict: Any: the second value.
y.scalar_eq: Any: the second value.
y.scalar_ne: Any: the second value.
y.string_eq: Any: the second value.
"""
