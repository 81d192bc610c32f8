"""Function transforms, functions of ops and numpy, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.ops as ops
import numpy as np
from mindspore import Parameter, Tensor

from tests.compat.dynamic.support import same

T = Tensor

x = lambda *s: T((np.arange(np.prod(s or (2, 3))).reshape(s or (2, 3)) / 4 + 0.25).astype(np.float32))


def test_ops_more():
    same(ops.addn([x(), x()]), ("Float32", [[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]]))
    same(
        ops.clip_by_norm(x(), 1.0), ("Float32", [[0.1048284, 0.2096569, 0.3144853], [0.4193138, 0.5241422, 0.6289706]])
    )
    same(
        ops.clip_by_global_norm((x(), x()), 1.0),
        (
            ("Float32", [[0.07412493, 0.1482499, 0.2223748], [0.2964997, 0.3706247, 0.4447496]]),
            ("Float32", [[0.07412493, 0.1482499, 0.2223748], [0.2964997, 0.3706247, 0.4447496]]),
        ),
    )
    same(ops.count_nonzero(x()), ("Int32", 6))
    same(ops.cosine_similarity(x(), x() + 1), ("Float32", [0.9683296, 0.9974524]))
    same(ops.cdist(x(1, 2, 3), x(1, 2, 3)), ("Float32", [[[0.0, 1.299038], [1.299038, 0.0]]]))
    same(ops.diag_embed(T([1.0, 2.0])), ("Float32", [[1.0, 0.0], [0.0, 2.0]]))
    same(ops.erfinv(T([0.1])), ("Float32", [0.08885599]))
    same(ops.glu(x(2, 4)), ("Float32", [[0.1697947, 0.3655294], [1.064941, 1.321196]]))
    same(ops.gumbel_softmax(x()).shape, (2, 3))
    same(ops.hardtanh(x()), ("Float32", [[0.25, 0.5, 0.75], [1.0, 1.0, 1.0]]))
    same(ops.huber_loss(x(), x() + 2), ("Float32", 1.5))
    same(ops.kron(T([1.0, 2.0]), T([1.0, 1.0])), ("Float32", [1.0, 1.0, 2.0, 2.0]))
    same(ops.leaky_relu(-x()), ("Float32", [[-0.05, -0.1, -0.15], [-0.2, -0.25, -0.3]]))
    same(ops.log_softmax(x()), ("Float32", [[-1.369337, -1.119337, -0.8693366], [-1.369337, -1.119337, -0.8693366]]))
    same(ops.logsumexp(x(), 1), ("Float32", [1.619338, 2.369338]))
    same(ops.lp_pool1d(x(1, 1, 4), 1, 2), ("Float32", [[[0.75, 1.75]]]))
    same(ops.margin_ranking_loss(x(), x(), x()), ("Float32", 0.0))
    same(ops.max_pool2d(x(1, 1, 4, 4), 2), ("Float32", [[[[1.5, 2.0], [3.5, 4.0]]]]))
    same(
        ops.avg_pool2d(x(1, 1, 4, 4), 2),
        ("Float32", [[[[0.875, 1.125, 1.375], [1.875, 2.125, 2.375], [2.875, 3.125, 3.375]]]]),
    )
    same(ops.nan_to_num(T([np.nan, np.inf])), ("Float32", [0.0, 3.402823e38]))
    same(ops.nll_loss(x(), T([0, 1], ms.int32)), ("Float32", -0.75))
    same(ops.numel(x()), 6)
    same(ops.one_hot(T([0, 2]), 3, 1.0, 0.0), ("Float32", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    same(ops.pixel_shuffle(x(1, 4, 1, 1), 2), ("Float32", [[[[0.25, 0.5], [0.75, 1.0]]]]))
    same(ops.prelu(x(1, 2, 1, 1), T([0.1, 0.2])), ("Float32", [[[[0.25]], [[0.5]]]]))
    same(ops.randperm(3).shape, (3,))
    same(ops.rank(x()), 2)
    same(ops.relu6(x() * 10), ("Float32", [[2.5, 5.0, 6.0], [6.0, 6.0, 6.0]]))
    same(
        ops.repeat_elements(x(), 2, 0),
        ("Float32", [[0.25, 0.5, 0.75], [0.25, 0.5, 0.75], [1.0, 1.25, 1.5], [1.0, 1.25, 1.5]]),
    )
    same(ops.selu(x()), ("Float32", [[0.2626753, 0.5253505, 0.7880257], [1.050701, 1.313376, 1.576051]]))
    same(ops.sequence_mask(T([1, 3])), ("Bool", [[True, False, False], [True, True, True]]))
    same(ops.shape(x()), (2, 3))
    same(ops.silu(x()), ("Float32", [[0.1405441, 0.3112297, 0.5093841], [0.7310589, 0.9716249, 1.226362]]))
    same(ops.size(x()), 6)
    same(ops.smooth_l1_loss(x(), x() + 1), ("Float32", [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]))
    same(ops.softsign(x()), ("Float32", [[0.2, 0.3333333, 0.4285714], [0.5, 0.5555556, 0.6]]))
    same(ops.standard_normal((2, 2)).shape, (2, 2))
    same(ops.std(x()), ("Float32", 0.4269563))
    same(ops.swapaxes(x(), 0, 1), ("Float32", [[0.25, 1.0], [0.5, 1.25], [0.75, 1.5]]))
    same(ops.t(x()), ("Float32", [[0.25, 1.0], [0.5, 1.25], [0.75, 1.5]]))
    same(ops.tanhshrink(x()), ("Float32", [[0.005081326, 0.03788283, 0.114851], [0.2384058, 0.4017163, 0.5948517]]))
    same(ops.tensor_dot(x(), x(3, 2), 1), ("Float32", [[1.375, 1.75], [3.0625, 4.0]]))
    same(ops.tril(x()), ("Float32", [[0.25, 0.0, 0.0], [1.0, 1.25, 0.0]]))
    same(ops.trapz(x()), ("Float32", [1.0, 2.5]))
    same(ops.tuple_to_array((1, 2)), ("Int32", [1, 2]))
    same(ops.unsqueeze(x(), 0).shape, (1, 2, 3))
    same(ops.vander(T([1.0, 2.0])), ("Float32", [[1.0, 1.0], [2.0, 1.0]]))
    same(ops.var_mean(x()), (("Float32", 0.1822917), ("Float32", 0.875)))
    same(ops.vecdot(x(), x()), ("Float32", [0.875, 4.8125]))
    same(ops.broadcast_to(T([1.0]), (2, 1)), ("Float32", [[1.0], [1.0]]))
    same(ops.is_tensor(x()), True)
    same(ops.scalar_to_tensor(2), ("Float32", 2.0))
    same(ops.assign(Parameter(T(1.0), name="as"), T(2.0)), ("Float32", 2.0))
    same(ops.cat((x(), x()), 1), ("Float32", [[0.25, 0.5, 0.75, 0.25, 0.5, 0.75], [1.0, 1.25, 1.5, 1.0, 1.25, 1.5]]))
    same(ops.intopk(x(), T([0, 2], ms.int32), 1), ("Bool", [False, True]))
    same(ops.bias_add(x(), T([1.0, 1, 1])), ("Float32", [[1.25, 1.5, 1.75], [2.0, 2.25, 2.5]]))
    same(ops.batch_dot(x(2, 1, 3), x(2, 3, 1)), ("Float32", [[[0.875]], [[4.8125]]]))
    same(ops.block_diag(T([1.0]), T([2.0])), ("Float32", [[1.0, 0.0], [0.0, 2.0]]))
    same(ops.bucketize(T([1.0, 3.0]), [2.0]), ("Int32", [0, 1]))
    same(ops.combinations(T([1, 2, 3])), ("Int64", [[1, 2], [1, 3], [2, 3]]))
    same(ops.dist(x(), x() + 1), ("Float32", 2.44949))
    same(ops.dsplit(x(1, 1, 2), 2), (("Float32", [[[0.25]]]), ("Float32", [[[0.5]]])))
    same(ops.fill(ms.float32, (2,), 1), ("Float32", [1.0, 1.0]))
    same(ops.flip(x(), (0,)), ("Float32", [[1.0, 1.25, 1.5], [0.25, 0.5, 0.75]]))
    same(ops.full_like(x(), 2), ("Float32", [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]))
    same(ops.cond(x(2, 2)), ("Float32", 14.93303))
    same(ops.deepcopy(x()), ("Float32", [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]))
    same(ops.affine_grid(x(1, 2, 3), (1, 1, 2, 2)).shape, (1, 2, 2, 2))
    same(ops.adaptive_avg_pool2d(x(1, 1, 4, 4), 2), ("Float32", [[[[0.875, 1.375], [2.875, 3.375]]]]))
    same(ops.unfold(x(1, 1, 2, 2), 2), ("Float32", [[[0.25], [0.5], [0.75], [1.0]]]))
    same(ops.grid_sample(x(1, 1, 2, 2), ops.zeros((1, 1, 1, 2))), ("Float32", [[[[0.625]]]]))
    same(ops.rrelu(x()).shape, (2, 3))
    same(ops.celu(-x()), ("Float32", [[-0.2211992, -0.3934693, -0.5276334], [-0.6321205, -0.7134952, -0.7768698]]))
    same(ops.threshold(x(), 1, 9), ("Float32", [[9.0, 9.0, 9.0], [9.0, 1.25, 1.5]]))
    same(ops.multinomial(T([0.0, 1.0]), 2), ("Int32", [1, 1]))
    same(ops.pdist(x()), ("Float32", [1.299038]))
    same(ops.hann_window(3), ("Float64", [0.0, 0.75, 0.75]))
    same(ops.aminmax(x()), (("Float32", [0.25, 0.5, 0.75]), ("Float32", [1.0, 1.25, 1.5])))
    same(ops.argsort(T([2.0, 1.0])), ("Int32", [1, 0]))
    same(ops.arange(1, 5, 2), ("Int64", [1, 3]))
    same(ops.mse_loss(x(), x() + 1), ("Float32", 1.0))
    same(ops.l1_loss(x(), x() + 1), ("Float32", 1.0))
    same(ops.binary_cross_entropy(ops.sigmoid(x()), x(), ops.ones((2, 3))), ("Float32", 0.2943318))
    same(
        ops.batch_norm(x(), T([0.0, 0, 0]), T([1.0, 1, 1]), T([1.0, 1, 1]), T([0.0, 0, 0])),
        ("Float32", [[0.2499987, 0.4999975, 0.7499962], [0.999995, 1.249994, 1.499992]]),
    )
    same(
        ops.group_norm(x(1, 2, 2), 1, T([1.0, 1.0]), T([0.0, 0.0])),
        ("Float32", [[[-1.341555, -0.447185], [0.447185, 1.341555]]]),
    )
    same(ops.conv1d(x(1, 1, 4), x(1, 1, 2)), ("Float32", [[[0.3125, 0.5, 0.6875]]]))
    same(ops.conv2d(x(1, 1, 3, 3), x(1, 1, 2, 2)), ("Float32", [[[[2.3125, 2.9375], [4.1875, 4.8125]]]]))
    same(ops.dense(x(), x()), ("Float32", [[0.875, 2.0], [2.0, 4.8125]]))
    same(
        ops.interpolate(x(1, 1, 2, 2), scale_factor=2.0, recompute_scale_factor=True, mode="nearest"),
        (
            "Float32",
            [[[[0.25, 0.25, 0.5, 0.5], [0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 1.0, 1.0], [0.75, 0.75, 1.0, 1.0]]]],
        ),
    )
    same(
        ops.interpolate(x(1, 1, 2, 2), size=(3, 3), mode="bilinear", align_corners=True),
        ("Float32", [[[[0.25, 0.375, 0.5], [0.5, 0.625, 0.75], [0.75, 0.875, 1.0]]]]),
    )
