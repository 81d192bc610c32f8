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
N: int: number of columns; ``None``: as many as rows.
Seed0: int: a seed.
Seed1: int: a second seed.
_: Any: ignored.
_random_samples: Tensor: where pooling regions begin; ``None``: drawn at random.
abs: Tensor: absolute values.
accumulate: bool: whether values are added to what is there, instead of replacing it.
actual_seq_kvlen: Any: lengths of the sequences of keys, in layouts that pack them.
actual_seq_qlen: Any: lengths of the sequences of queries, in layouts that pack them.
additional_output: bool: whether the sum before normalisation is given, too.
adjoint: bool: whether the system has the adjoint of the matrix.
align: str: on which side shorter diagonals are padded, above and below the main one.
align_corners: bool: whether the centres of the corner elements, rather than their outer edges, are aligned.
alpha: number: a factor.
alpha.celu: float: what is approached far below zero.
alpha.elu: float: what is approached far below zero.
alpha.hann_window: float: a factor.
anchor: Tensor: the samples that the others are compared with.
anchor_box: Tensor: boxes of reference, each (left, top, right, bottom).
angle: Tensor: angles, in radians.
append: Tensor: values put behind ``input`` along the axis first.
approximate: str: ``"none"`` for the error function, ``"tanh"`` for its approximation.
argmax_type: dtype: of the places.
input_x.print_: Any: what is printed.
args: Any: further arguments; see the first lines.
as_tuple: bool: whether indices are given as a tuple of tensors, one per axis.
atol: float: absolute tolerance.
attn_mask: Tensor: what each query may attend to: booleans, or numbers that are added to the scores.
attrs: Any: attributes of the operator.
aweights: Tensor: weights of the observations.
axes: Union[int, tuple[int]]: axes to be summed over, or their order.
axis: Union[int, tuple[int], None]: the axis, or axes, along which it is computed; ``None``: all, where that is allowed.
axis0: int: the first of two axes.
axis1: int: the first of two axes.
axis2: int: the second of two axes.
axis@int: int: the axis along which it is computed.
b: Tensor: right-hand sides.
base: number: of the powers.
batch1: Tensor: matrices, of shape (B, N, M).
batch2: Tensor: matrices, of shape (B, M, P).
batch_dim: int: the axis of the sequences.
batch_dims: int: number of leading axes that both operands share.
bboxes: Tensor: boxes, each (left, top, right, bottom).
begin: tuple[int]: where the slice begins on each axis.
begin_mask: int: bits of the axes on which ``begin`` is ignored.
beta: number: a factor.
beta.kaiser_window: float: shape of the window.
beta.smooth_l1_loss: float: where the loss changes from square to linear.
beta.softplus: float: steepness.
beta1: float: decay of the running mean of gradients.
beta2: float: decay of the running mean of their squares.
bias: Tensor: what is added to the result; ``None``: nothing.
bins: int: number of bins.
block_shape: Union[int, list[int]]: sizes of blocks on each axis.
block_size: int: size of blocks.
blocking: bool: accepted; copies on the CPU are complete when they return.
boundaries: Union[Tensor, list]: boundaries of the buckets, ascending.
box_indices: Tensor: the image of each box.
boxes: Tensor: boxes, in parts of the height and width of images.
ceil_mode: bool: whether places of windows that fit only partly count.
check_index_bound: bool: accepted; indices are always checked.
choices: Any: the tensors to choose from.
chunks: int: number of parts.
clip_norm: float: the largest norm.
clip_value_max: Union[Tensor, number]: the largest value; ``None``: no limit.
clip_value_min: Union[Tensor, number]: the smallest value; ``None``: no limit.
col: int: number of columns.
compute_mode: str: accepted; distances are always computed without a matrix product.
compute_uv: bool: whether the vectors are computed, too.
condition: Tensor: booleans, which choose.
const_arg: bool: whether the tensor is a constant of compiled functions.
coordinate_transformation_mode: str: how pixels of the result are placed between those of the operand.
copy: bool: whether the result is a copy in any case.
correction: int: what is subtracted from the number of elements that sums of squares are divided by.
cos: Tensor: cosines of the angles.
count: int: how many are chosen.
count_include_pad: bool: whether padding counts in averages.
crop_size: tuple[int]: height and width of the results.
crops: list: what is cut off at both ends of each axis.
d: float: distance of samples.
data: Any: the data.
data_format: str: which axis holds the channels.
ddof: int: what is subtracted from the number of elements that sums of squares are divided by.
decimals: int: number of decimal places.
delta: number: where the loss changes from square to linear.
deltas: Tensor: offsets of boxes.
depth: int: number of classes.
depth_radius: int: half the width of the window.
descending: bool: whether the largest come first.
destination: Union[int, tuple[int]]: where the axes go.
device: Any: names the CPU; there is no other device.
diagonal: Union[int, Tensor]: which diagonal: 0 the main one, above it positive, below it negative.
diagonal.matrix_set_diag: Tensor: the new diagonals.
dilation: Union[int, tuple[int]]: distance of the elements of windows.
dim: Union[int, tuple[int], None]: the axis, or axes, along which it is computed; ``None``: all, where that is allowed.
dim0: int: the first of two axes.
dim1: int: the first of two axes.
dim1.diagonal_scatter: int: the first of two axes.
dim2: int: the second of two axes.
dim@int: int: the axis along which it is computed.
dims: Union[int, tuple[int]]: the axes.
dims.tile: tuple[int]: how often it is repeated along each axis.
dividend: Union[Tensor, number]: what is divided.
divisor: Union[Tensor, number]: what it is divided by.
divisor_override: int: what sums of windows are divided by, instead of their number of elements.
downscale_factor: int: the factor by which height and width get smaller.
drop_mask: Tensor: which attention weights are kept.
dtype: dtype: of the result; ``None``: that of the operand, or the promoted one.
dx: float: distance of the samples.
ellipsis_mask: int: the bit of the entry that stands for all axes in between.
end: Union[Tensor, number, list]: where it ends.
end.arange: number: where it ends; it is not reached.
end.lerp: Tensor: what is reached at weight 1.
end.linspace: number: the last value.
end.logspace: number: exponent of the last value.
end_dim: int: the last axis that is flattened.
end_mask: int: bits of the axes on which ``end`` is ignored.
eps: float: a small number that keeps from dividing by zero.
eps.logit: float: operands are limited to ``eps`` .. ``1 - eps``; ``None``: they are not.
epsilon: float: a small number that keeps from dividing by zero.
equal_nan: bool: whether two NaN count as equal.
equation: str: letters for the axes of operands and of the result, as in NumPy.
error_if_nonfinite: bool: whether a norm that is NaN or infinite is an error.
exclusive: bool: whether each element is left out of its own result.
exponent: Union[Tensor, number]: the exponents.
expr: Any: what has to be computed before.
extrapolation_value: float: value of what lies outside of images.
fill_value: number: the value of all elements.
from_: number: the lower bound.
full: bool: whether constant terms are added.
full_matrices: bool: whether all columns of the orthogonal matrices are computed.
func: Callable: the function.
fweights: Tensor: how often each observation counts.
gamma: Tensor: factors of the normalised values.
generator: Generator: where random numbers come from; ``None``: the default one (`set_seed`).
gradient_scale: float: what gradients are multiplied with.
grid: Tensor: places in the image, each (x, y) in -1 .. 1.
groundtruth_box: Tensor: boxes to be found, each (left, top, right, bottom).
group: str: the ranks that take part.
group.Conv2D: int: number of groups of channels that do not see each other.
group.Conv2DTranspose: int: number of groups of channels that do not see each other.
group.Conv3D: int: number of groups of channels that do not see each other.
group.Conv3DTranspose: int: number of groups of channels that do not see each other.
groups: int: groups of channels.
half_pixel_centers: bool: whether pixels are taken at their middles.
hard: bool: whether samples are one-hot; gradients are those of soft ones.
head_num: int: number of attention heads.
hermitian: bool: whether the matrix is Hermitian.
high: int: the upper bound, which is not reached.
ignore_index: int: the class that does not count.
ignore_nan: bool: whether NaN are left out.
image: Tensor: images, of shape (N, height, width, C).
img_metas: Tensor: height, width and scale of the image.
index: Union[int, Tensor]: positions along the axis.
indexing: str: ``"xy"`` (Cartesian) or ``"ij"`` (of matrices).
indices: Tensor: positions of elements.
indices_or_sections: Union[int, tuple[int]]: number of equal parts, or where parts begin.
initial: number: what the result is at the least, or at the most.
inner_precise: int: accepted; sums are always of full precision.
inplace: bool: whether the result is written to ``input``.
input: Union[Tensor, number]: the operand.
input.arange: Tensor: the operand.
input.binary_cross_entropy_with_logits: Tensor: logits.
input1: Tensor: the first operand.
input2: Tensor: the second operand.
input_indices: Tensor: positions along ``axis``.
input_layout: str: the order of axes, such as ``"BSH"`` or ``"BNSD"``.
input_params: Tensor: what is chosen from.
input_perm: tuple[int]: the order of axes.
input_x: Union[Tensor, number]: the operand.
input_y: dtype: the new dtype.
inputs: Union[Tensor, tuple[Tensor]]: the tensors.
is_causal: bool: whether a query attends only to keys up to its own position.
is_training: bool: whether the statistics are those of the batch.
k: int: how many, or which one.
k.kthvalue: int: the how-many-th smallest, from 1 on.
k.matrix_diag: Union[int, tuple[int]]: which diagonals.
k.matrix_set_diag: Union[int, tuple[int]]: which diagonals.
k.rot90: int: how often it is turned.
keep_dims: bool: whether reduced axes stay, with size 1.
keep_prob: float: the probability to keep an attention weight.
keepdim: bool: whether reduced axes stay, with size 1.
keepdims: bool: whether reduced axes stay, with size 1.
kernel_size: Union[int, tuple[int]]: size of the windows.
key: Tensor: the keys.
ksize: Union[int, tuple[int]]: size of the windows.
l1: float: weight of the regularisation by absolute values.
l2: float: weight of the regularisation by squares.
label_smoothing: float: the part of the target that is spread over all classes.
labels: Tensor: the targets.
lambd: float: the threshold.
lambd.exponential_: float: the rate.
lambda_param: Union[Tensor, number]: the scale.
largest: bool: whether the largest are wanted, or the smallest.
left: bool: whether the orthogonal matrix is the left factor.
length: int: how many elements.
lengths: Tensor: lengths of the sequences.
log_input: bool: whether ``input`` is the logarithm of the rate.
log_target: bool: whether ``target`` is a logarithm.
logits: Tensor: the scores before the softmax.
low: int: the lower bound.
lower: Union[int, float]: the lower bound, or the number of diagonals below the main one.
lr: float: the learning rate.
lr_power: float: power of the learning rate; at most 0.
m: int: number of columns; ``None``: as many as rows.
margin: float: the distance that is wanted.
mask: Tensor: booleans, of a shape that broadcasts to that of ``input``.
mat: Tensor: the matrix.
mat1: Tensor: the first matrix.
mat2: Tensor: the second matrix.
matrix: Tensor: the matrix, or a batch of matrices.
max: Union[Tensor, number]: the upper limit; ``None``: none.
max_norm: float: the largest norm; ``None``: no limit.
max_shape: tuple[int]: the size of the image, to which boxes are limited.
max_val: float: the upper limit.
maxlen: int: the largest length.
maxnorm: float: the largest norm.
maxval: Union[Tensor, number]: the upper bound.
mean: Union[Tensor, number]: the mean.
means: tuple[float]: means of the offsets.
median: float: the median.
merge_repeated: bool: whether equal neighbours become one.
method: str: how pixels are interpolated.
min: Union[Tensor, number]: the lower limit; ``None``: none.
min_val: float: the lower limit.
minlength: int: number of bins at the least.
minval: Union[Tensor, number]: the lower bound.
mode: str: how it is computed; see the first lines.
mode.Conv2D: int: 1, the one kind of convolution.
mode.Conv2DTranspose: int: 1, the one kind of convolution.
mode.Conv3D: int: 1, the one kind of convolution.
mode.Conv3DTranspose: int: 1, the one kind of convolution.
momentum: float: the part of the new statistics in the moving ones.
more: Any: further axes.
multiples: tuple[int]: how often along each axis.
n: int: how many.
n.diff: int: how often differences are taken.
n.diff_ext: int: how often differences are taken.
n.eye: int: number of rows.
n.matrix_power: int: the power.
n.polygamma: int: the order of the derivative.
nan: number: what NaN become.
negative: Tensor: samples that are to be far from the anchors.
negative_slope: float: slope below zero.
neginf: number: what negative infinities become; ``None``: the lowest number of the dtype.
new_axis_mask: int: bits of the entries that add an axis of size 1.
new_shape: Union[int, tuple[int]]: the new shape.
next_tokens: int: how many later keys a query attends to.
non_blocking: bool: accepted; copies on the CPU are complete when they return.
norm: str: which direction is scaled: ``"backward"``, ``"ortho"`` or ``"forward"``; ``None``: ``"backward"``.
norm_region: str: the region that is normalised over.
norm_type: float: the order of the norm.
normalized_shape: tuple[int]: the last axes, which are normalised over.
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
offset: int: which diagonal: 0 the main one, above it positive, below it negative.
on_value: number: the value at the class.
op: str: the operator.
operands: Tensor: the tensors.
opt_shard_group: Any: accepted; parameters are not divided.
options: Any: ``keepdims``, ``dtype`` and others, as the function of the same name takes them.
ord: Union[int, float, str]: the order of the norm.
order: str: ``"C"`` or ``"F"``: which index changes fastest.
other: Union[Tensor, number]: the second operand.
out_channel: int: number of channels of the result.
out_int32: bool: whether positions are int32, or int64.
out_type: dtype: of the result.
output_num: int: number of parts.
output_padding: Union[int, tuple[int]]: what is added to the size of the result on one side.
output_ratio: Union[float, tuple[float]]: the size of the result in parts of that of ``input``.
output_size: Union[int, tuple[int], None]: the size of the result; ``None`` on an axis: as it is.
output_type: dtype: of the result.
p: number: the probability to be set to zero, or the order of the norm.
p.bernoulli: Union[Tensor, number]: the probability of 1.
p.bernoulli_: Union[Tensor, number]: the probability of 1.
p.cdist: float: the order of the norm.
p.dropout: float: the probability to be set to zero.
p.mvlgamma: int: the number of dimensions.
p.renorm: number: the order of the norm.
pad: Union[int, tuple[int]]: zeros at each side, with ``pad_mode="pad"``.
pad_dim_size: int: the size of the last axis.
pad_list: tuple[int]: zeros at each side, if they are given one by one.
pad_mode: str: ``"valid"``: windows lie inside; ``"same"``: the size is kept; ``"pad"``: with ``pad`` zeros.
pad_num: number: what the rest is filled with.
padding: Union[int, tuple[int], str]: elements added on each side.
padding_idx: int: the index whose row gets no gradient.
padding_mask: Tensor: accepted as ``None`` only.
padding_mode: str: what is read outside: ``"zeros"``, ``"border"`` or ``"reflection"``.
padding_value: number: what is put where nothing is.
paddings: Union[Tensor, tuple]: elements added in front and behind, for each axis.
pads: Union[int, tuple[int]]: what is added at each side.
periodic: bool: whether the window continues periodically.
pos_weight: Tensor: weights of positive targets.
posinf: number: what infinities become; ``None``: the largest number of the dtype.
positive: Tensor: samples that are to be near the anchors.
pre_tokens: int: how many earlier keys a query attends to.
prefix: Any: lengths of prefixes that all queries attend to.
prepend: Tensor: values put in front of ``input`` along the axis first.
q: Union[Tensor, float]: the probabilities, in 0 .. 1.
query: Tensor: the queries.
r: int: number of elements of a combination.
range_max: int: number of classes.
rate: Union[Tensor, number]: the expected counts.
real_shift: Tensor: what is added to the scores.
recompute_scale_factor: bool: whether the scale is computed anew from the sizes.
reduce: str: how values are combined with what is there: ``"add"`` or ``"multiply"``; ``None``: they replace it.
reduction: str: ``"none"``, ``"mean"`` or ``"sum"`` of the losses.
remove_accidental_hits: bool: whether true classes are left out of the samples.
rep: int: how often each element is repeated.
repeats: Union[int, tuple[int], Tensor]: how often each element, or the whole, is repeated.
replacement: bool: whether an index can be drawn more than once.
reps: tuple[int]: how often it is repeated along each axis.
requires_grad: bool: whether gradients are wanted.
return_counts: bool: whether it is told how often each value occurs.
return_indices: bool: whether positions are given, too.
return_inverse: bool: whether it is told where each element went.
reverse: bool: whether it runs from the end to the beginning.
rhs: Tensor: right-hand sides.
right: bool: whether intervals include their right ends; of equal values the last position, rather than the first.
rounding_mode: str: ``"floor"`` or ``"trunc"``; ``None``: no rounding.
row: int: number of rows.
rtol: float: relative tolerance.
running_mean: Tensor: moving means.
running_var: Tensor: moving variances.
s: tuple[int]: the size of the transformed axes; ``None``: as they are.
scalar_value: float: the factor of the scores.
scale: float: the factor of the scores; ``None``: one by the square root of the size of a head.
scale_factor: Union[float, tuple[float]]: the new size in parts of the old one.
scale_grad_by_freq: bool: whether gradients are divided by how often an index occurs.
seed: int: of the random numbers; ``None`` or 0: the default generator (`set_seed`).
seed2: int: a second seed.
segment_ids: Tensor: the segment of each element, or row.
seq_dim: int: the axis of the positions.
seq_lengths: Tensor: how many elements are reversed in each sequence.
sequence_length: Tensor: lengths of the sequences.
shape: Union[int, tuple[int]]: the shape of the result.
shifts: Union[int, tuple[int]]: by how many places elements move.
shrink_axis_mask: int: bits of the axes that go, of which one element is taken.
side: str: ``"left"`` or ``"right"``: of equal values the first position or the last.
sigma: float: the scale.
sin: Tensor: sines of the angles.
size: Union[int, tuple[int]]: the size, or shape, of the result.
skip_mode: bool: whether no axes mean none, instead of all.
slice_index: Any: accepted; parameters are not divided.
some: bool: whether the small factors are computed, or the complete ones.
sorted: bool: whether the result is sorted.
sorted_sequence: Tensor: ascending values, along the last axis.
sorter: Tensor: the order in which the sequence is ascending.
source: Union[Tensor, int, tuple[int]]: what is taken, or which axes move.
source.from_dlpack: Any: an object that speaks DLPack.
sparse_mode: int: which pattern the mask has.
split_size_or_sections: Union[int, list[int]]: the size of parts, or the sizes of all parts.
src: Union[Tensor, number]: the values.
stable: bool: whether equal elements keep their order.
start: Union[int, float, Tensor]: where it begins.
start_dim: int: the first axis that is flattened.
std: Union[Tensor, number]: the standard deviation.
stddev: Union[Tensor, number]: the standard deviation.
stds: tuple[float]: standard deviations of the offsets.
step: number: distance of neighbours.
steps: int: number of values.
stride: Union[int, tuple[int]]: distance of the windows; ``None``: their size.
strides: tuple[int]: distance of the elements on each axis.
swap: bool: whether the negative distance is that of the positive sample, if that is smaller.
target: Tensor: the targets.
target.to: Any: a dtype, or a tensor whose dtype is taken; devices name the CPU.
targets: Tensor: the targets, 1 or -1.
tau: float: the temperature.
tau.ormqr: Tensor: the factors of the reflections.
tensor: Tensor: the tensor.
tensor1: Tensor: the first factor, or the numerator.
tensor2: Tensor: the second factor, or the denominator.
tensors: Union[Tensor, tuple[Tensor], list[Tensor]]: the tensors.
theta: Tensor: matrices of the mappings.
thr: float: the threshold.
threshold: float: from where on it is the identity, or what it is compared with.
to: number: the upper bound.
to.move_to: str: the device, which is the CPU.
tolerance: float: the largest difference that counts as equal.
training: bool: whether it behaves as in training: random, or with the statistics of the batch.
transpose: bool: whether the matrix is transposed.
transpose_a: bool: whether the first operand is transposed.
transpose_b: bool: whether the second operand is transposed.
true_classes: Tensor: the true classes.
type: dtype: the dtype.
unique: bool: whether samples are different.
unitriangular: bool: whether the diagonal counts as ones.
unpack_data: bool: whether the factors are given.
unpack_pivots: bool: whether the permutation is given.
update_slots: bool: whether the states are changed, too.
updates: Tensor: the values.
upper: Union[bool, int, float]: whether the upper triangle is meant; or the upper bound.
upscale_factor: int: the factor by which height and width get larger.
use_lock: bool: accepted; updates are always in order.
use_locking: bool: accepted; updates are always in order.
use_nesterov: bool: whether the momentum is Nesterov's.
use_norm: number: the norm, if it is known.
v: Tensor: the values.
value: Union[Tensor, number]: the value, or a factor.
value.depend: Any: the value.
value.flash_attention_score: Tensor: the values.
value.scaled_dot_product_attention: Tensor: the values.
value.stop_gradient: Any: the value.
values: Union[Tensor, number]: the values.
var: Tensor: the variances.
var.inplace_index_add: Parameter: what is written to.
variable: Parameter: what is written to.
vec: Tensor: the vector.
vec1: Tensor: the first vector.
vec2: Tensor: the second vector.
weight: Union[Tensor, number]: weights; of layers their matrix or kernels.
weights: Tensor: weights of the elements.
wh_ratio_clip: float: the largest ratio of width and height.
where: Tensor: booleans: which elements count.
window_length: int: number of elements.
with_replacement: bool: whether an element can occur more than once.
wrap: bool: whether the diagonal begins anew behind a square block.
x: Union[Tensor, number]: the operand.
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
a: Union[Tensor, list, tuple, number]: the operand.
a1: Union[Tensor, list, tuple, number]: the first operand.
a2: Union[Tensor, list, tuple, number]: the second operand.
arr: Union[Tensor, list, tuple]: the operand.
array.broadcast_to: Union[Tensor, list, tuple, number]: the operand.
arrays: Union[list, tuple]: the parts.
density: bool: whether the integral over all bins is 1.
dimensions: Union[list, tuple]: extents of the grid.
endpoint: bool: whether the end is among the numbers.
func1d: Callable: what is called with each slice.
increasing: bool: whether the powers rise from column to column.
kwargs.apply_along_axis: Any: further arguments of the function.
M: int: number of columns; ``None``: as many as rows.
multi_index: Union[Tensor, list, tuple]: one row of positions for each axis.
ndim.diag_indices: int: number of axes.
ndmin: int: the least number of axes.
num: int: how many numbers.
prototype: Tensor: whose shape and dtype are taken.
range.histogram: tuple: lowest and highest edge; ``None``: the extremes.
range.histogram2d: tuple: lowest and highest edge for each axis; ``None``: the extremes.
range.histogram_bin_edges: tuple: lowest and highest edge; ``None``: the extremes.
retstep: bool: whether the distance of neighbours is returned as well.
returned: bool: whether the sum of the weights is returned as well.
rowvar: bool: whether rows are variables, and columns observations.
shift: Union[int, tuple[int]]: by how many places; one for each axis.
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
