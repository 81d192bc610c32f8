"""Operator classes, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.ops as ops
import mindspore.ops.operations as P
import numpy as np
from mindspore import Parameter, Tensor

from tests.compat.dynamic.support import same

T = Tensor

x = lambda *s: T((np.arange(np.prod(s or (2, 3))).reshape(s or (2, 3)) / 4 + 0.25).astype(np.float32))

i32 = lambda v: T(v, ms.int32)

one = lambda *s: T(np.ones(s, np.float32))


def test_red():
    same(P.ReduceSum()(x(), 0), ("Float32", [1.25, 1.75, 2.25]))
    same(P.ReduceSum(True)(x(), (0, 1)), ("Float32", [[5.25]]))
    same(P.ReduceMean()(x()), ("Float32", 0.875))
    same(P.ReduceMax()(x(), 1), ("Float32", [0.75, 1.5]))
    same(P.ReduceMin(keep_dims=True)(x(), 0), ("Float32", [[0.25, 0.5, 0.75]]))
    same(P.ReduceProd()(x(), 1), ("Float32", [0.09375, 1.875]))
    same(P.ReduceAll()(x() > 0, ()), ("Bool", True))
    same(P.ReduceAny()(x() > 2, 0), ("Bool", [False, False, False]))
    same(P.ArgMaxWithValue(1)(x()), (("Int64", [2, 2]), ("Float32", [0.75, 1.5])))
    same(P.ArgMinWithValue(0, True)(x()), (("Int64", [[0, 0, 0]]), ("Float32", [[0.25, 0.5, 0.75]])))
    same(P.Argmax(1)(x()), ("Int32", [2, 2]))
    same(P.Argmin()(x()), ("Int32", [0, 0]))
    same(P.CumSum()(x(), 1), ("Float32", [[0.25, 0.75, 1.5], [1.0, 2.25, 3.75]]))
    same(P.CumSum(True, True)(x(), 0), ("Float32", [[1.0, 1.25, 1.5], [0.0, 0.0, 0.0]]))
    same(P.CumProd()(x(), 1), ("Float32", [[0.25, 0.125, 0.09375], [1.0, 1.25, 1.875]]))
    same(P.TopK(True)(x(), 2), (("Float32", [[0.75, 0.5], [1.5, 1.25]]), ("Int32", [[2, 1], [2, 1]])))
    same(P.Sort()(x()), (("Float32", [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]), ("Int32", [[0, 1, 2], [0, 1, 2]])))
    same(P.Sort(0, True)(x()), (("Float32", [[1.0, 1.25, 1.5], [0.25, 0.5, 0.75]]), ("Int32", [[1, 1, 1], [0, 0, 0]])))
    same(P.LpNorm(0, 2)(x()), ("Float32", [1.030776, 1.346291, 1.677051]))
    same(P.AddN()((x(), x(), x())), ("Float32", [[0.75, 1.5, 2.25], [3.0, 3.75, 4.5]]))
    same(P.Lerp()(x(), x() + 1, 0.5), ("Float32", [[0.75, 1.0, 1.25], [1.5, 1.75, 2.0]]))


def test_arr():
    same(P.Reshape()(x(), (3, 2)), ("Float32", [[0.25, 0.5], [0.75, 1.0], [1.25, 1.5]]))
    same(P.Transpose()(x(), (1, 0)), ("Float32", [[0.25, 1.0], [0.5, 1.25], [0.75, 1.5]]))
    same(P.ExpandDims()(x(), 0), ("Float32", [[[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]]))
    same(P.Squeeze()(one(1, 2, 1)), ("Float32", [1.0, 1.0]))
    same(P.Squeeze(0)(one(1, 2, 1)), ("Float32", [[1.0], [1.0]]))
    same(P.Concat(1)((x(), x())), ("Float32", [[0.25, 0.5, 0.75, 0.25, 0.5, 0.75], [1.0, 1.25, 1.5, 1.0, 1.25, 1.5]]))
    same(
        P.Stack(0)((x(), x())),
        ("Float32", [[[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]], [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]]),
    )
    same(
        P.Pack(0)((x(), x())),
        ("Float32", [[[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]], [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]]),
    )
    same(P.Unstack(1)(x()), (("Float32", [0.25, 1.0]), ("Float32", [0.5, 1.25]), ("Float32", [0.75, 1.5])))
    same(P.Split(1, 3)(x()), (("Float32", [[0.25], [1.0]]), ("Float32", [[0.5], [1.25]]), ("Float32", [[0.75], [1.5]])))
    same(P.Tile()(x(), (2, 1)), ("Float32", [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5], [0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]))
    same(P.Gather()(x(), i32([0, 1]), 0), ("Float32", [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]))
    same(P.GatherD()(x(), 1, i32([[0], [1]])), ("Float32", [[0.25], [1.25]]))
    same(P.GatherNd()(x(), i32([[0, 1]])), ("Float32", [0.5]))
    same(P.ScatterNd()(i32([[0], [2]]), T([1.0, 2.0]), (4,)), ("Float32", [1.0, 0.0, 2.0, 0.0]))
    same(P.Slice()(x(), (0, 1), (2, 2)), ("Float32", [[0.5, 0.75], [1.25, 1.5]]))
    same(P.StridedSlice()(x(), (0, 0), (2, 3), (1, 2)), ("Float32", [[0.25, 0.75], [1.0, 1.5]]))
    same(P.Cast()(x(), ms.int32), ("Int32", [[0, 0, 0], [1, 1, 1]]))
    same(P.Fill()(ms.float32, (2, 2), 3), ("Float32", [[3.0, 3.0], [3.0, 3.0]]))
    same(P.Ones()((2, 2), ms.int32), ("Int32", [[1, 1], [1, 1]]))
    same(P.Zeros()((2,), ms.float32), ("Float32", [0.0, 0.0]))
    same(P.OneHot()(i32([0, 2]), 3, T(1.0), T(0.0)), ("Float32", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    same(P.Select()(x() > 1, x(), -x()), ("Float32", [[-0.25, -0.5, -0.75], [-1.0, 1.25, 1.5]]))
    same(
        P.BroadcastTo((2, 2, 3))(x()),
        ("Float32", [[[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]], [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]]),
    )
    same(P.Eye()(2, 3, ms.float32), ("Float32", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    same(P.Range()(T(0, ms.int32), T(6, ms.int32), T(2, ms.int32)), ("Int64", [0, 2, 4]))
    same(P.ReverseV2((0,))(x()), ("Float32", [[1.0, 1.25, 1.5], [0.25, 0.5, 0.75]]))
    same(
        P.Pad(((1, 0), (0, 1)))(x()), ("Float32", [[0.0, 0.0, 0.0, 0.0], [0.25, 0.5, 0.75, 0.0], [1.0, 1.25, 1.5, 0.0]])
    )
    same(
        P.MirrorPad("REFLECT")(x(), T([[0, 0], [1, 1]])),
        ("Float32", [[0.5, 0.25, 0.5, 0.75, 0.5], [1.25, 1.0, 1.25, 1.5, 1.25]]),
    )
    same(P.Diag()(T([1.0, 2.0])), ("Float32", [[1.0, 0.0], [0.0, 2.0]]))
    same(P.DiagPart()(one(2, 2)), ("Float32", [1.0, 1.0]))
    same(P.Unique()(T([1, 2, 1])), (("Int64", [1, 2]), ("Int64", [0, 1, 0])))
    same(P.UnsortedSegmentSum()(x(), i32([0, 0]), 2), ("Float32", [[1.25, 1.75, 2.25], [0.0, 0.0, 0.0]]))
    same(P.TupleToArray()((1, 2)), ("Int32", [1, 2]))
    same(P.ScalarToTensor()(3, ms.float32), ("Float32", 3.0))
    same(P.InvertPermutation()((1, 0, 2)), (1, 0, 2))
    same(P.SpaceToDepth(2)(one(1, 1, 2, 2)), ("Float32", [[[[1.0]], [[1.0]], [[1.0]], [[1.0]]]]))
    same(P.DepthToSpace(2)(one(1, 4, 1, 1)), ("Float32", [[[[1.0, 1.0], [1.0, 1.0]]]]))
    same(
        P.ResizeNearestNeighbor((4, 4))(x(1, 1, 2, 2)),
        (
            "Float32",
            [[[[0.25, 0.25, 0.5, 0.5], [0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 1.0, 1.0], [0.75, 0.75, 1.0, 1.0]]]],
        ),
    )
    same(
        P.Meshgrid()((T([1, 2]), T([3, 4, 5]))),
        (("Int64", [[1, 2], [1, 2], [1, 2]]), ("Int64", [[3, 3], [4, 4], [5, 5]])),
    )
    same(P.MaskedFill()(x(), x() > 1, 9.0), ("Float32", [[0.25, 0.5, 0.75], [1.0, 9.0, 9.0]]))
    same(P.MaskedSelect()(x(), x() > 1), ("Float32", [1.25, 1.5]))
    same(P.TensorScatterUpdate()(x(), i32([[0, 1]]), T([7.0])), ("Float32", [[0.25, 7.0, 0.75], [1.0, 1.25, 1.5]]))
    same(P.Triu()(x()), ("Float32", [[0.25, 0.5, 0.75], [0.0, 1.25, 1.5]]))
    same(P.Tril()(x()), ("Float32", [[0.25, 0.0, 0.0], [1.0, 1.25, 0.0]]))
    same(P.LinSpace()(T(0.0), T(1.0), 3), ("Float32", [0.0, 0.5, 1.0]))
    same(P.NonZero()(T([1, 0, 2])), ("Int64", [[0], [2]]))
    same(P.SearchSorted()(T([1.0, 3.0]), T([2.0])), ("Int64", [1]))
    same(P.ReverseSequence(1)(x(), T([1, 2])), ("Float32", [[0.25, 0.5, 0.75], [1.25, 1.0, 1.5]]))
    same(P.Trace()(x()), ("Float32", 1.5))


def test_nn():
    a = x(1, 2, 4, 4)
    same(
        P.Conv2D(1, 2, pad_mode="valid")(a, one(1, 2, 2, 2)),
        ("Float32", [[[[23.0, 25.0, 27.0], [31.0, 33.0, 35.0], [39.0, 41.0, 43.0]]]]),
    )
    same(P.MaxPool(2, 2)(a), ("Float32", [[[[1.5, 2.0], [3.5, 4.0]], [[5.5, 6.0], [7.5, 8.0]]]]))
    same(
        P.AvgPool(2, 2, "same")(a), ("Float32", [[[[0.875, 1.375], [2.875, 3.375]], [[4.875, 5.375], [6.875, 7.375]]]])
    )
    same(P.BiasAdd()(x(), T([1.0, 2.0, 3.0])), ("Float32", [[1.25, 2.5, 3.75], [2.0, 3.25, 4.5]]))
    same(P.MatMul()(x(), x(3, 2)), ("Float32", [[1.375, 1.75], [3.0625, 4.0]]))
    same(P.MatMul(transpose_b=True)(x(), x()), ("Float32", [[0.875, 2.0], [2.0, 4.8125]]))
    same(P.BatchMatMul()(x(1, 2, 3), x(1, 3, 2)), ("Float32", [[[1.375, 1.75], [3.0625, 4.0]]]))
    same(
        P.SoftmaxCrossEntropyWithLogits()(x(), x()),
        (
            ("Float32", [1.554007, 4.072517]),
            ("Float32", [[0.004275233, -0.1735041, -0.330771], [-0.7457248, -0.9235041, -1.080771]]),
        ),
    )
    same(P.SparseSoftmaxCrossEntropyWithLogits()(x(), i32([0, 1])), ("Float32", 1.244338))
    same(P.SmoothL1Loss()(x(), x() + 1), ("Float32", [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]))
    same(
        P.LayerNorm()(x(), one(3), one(3)),
        (
            ("Float32", [[-0.2247434, 1.0, 2.224743], [-0.2247434, 1.0, 2.224743]]),
            ("Float32", [[0.5], [1.25]]),
            ("Float32", [[0.04166667], [0.04166667]]),
        ),
    )
    same(
        P.Dropout(1.0)(x()),
        (("Float32", [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]), ("Float32", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])),
    )
    same(P.L2Normalize(1)(x()), ("Float32", [[0.2672612, 0.5345225, 0.8017837], [0.4558423, 0.5698029, 0.6837634]]))
    same(
        P.PReLU()(a, T([0.1, 0.2])),
        (
            "Float32",
            [
                [
                    [[0.25, 0.5, 0.75, 1.0], [1.25, 1.5, 1.75, 2.0], [2.25, 2.5, 2.75, 3.0], [3.25, 3.5, 3.75, 4.0]],
                    [[4.25, 4.5, 4.75, 5.0], [5.25, 5.5, 5.75, 6.0], [6.25, 6.5, 6.75, 7.0], [7.25, 7.5, 7.75, 8.0]],
                ]
            ],
        ),
    )
    same(P.NLLLoss()(x(), i32([0, 1]), one(3)), (("Float32", -0.75), ("Float32", 2.0)))
    same(P.BCEWithLogitsLoss()(x(), x(), one(2, 3), one(2, 3)), ("Float32", 0.2943319))
    same(P.BinaryCrossEntropy()(ops.sigmoid(x()), x(), one(2, 3)), ("Float32", 0.2943318))
    same(P.KLDivLoss()(x(), x()), ("Float32", -0.9515469))
    same(
        P.Conv2DBackpropInput(1, 2, pad_mode="valid")(one(1, 1, 3, 3), one(1, 2, 2, 2), (1, 2, 4, 4)),
        (
            "Float32",
            [
                [
                    [[1.0, 2.0, 2.0, 1.0], [2.0, 4.0, 4.0, 2.0], [2.0, 4.0, 4.0, 2.0], [1.0, 2.0, 2.0, 1.0]],
                    [[1.0, 2.0, 2.0, 1.0], [2.0, 4.0, 4.0, 2.0], [2.0, 4.0, 4.0, 2.0], [1.0, 2.0, 2.0, 1.0]],
                ]
            ],
        ),
    )
    same(P.AdaptiveAvgPool2D(2)(a), ("Float32", [[[[0.875, 1.375], [2.875, 3.375]], [[4.875, 5.375], [6.875, 7.375]]]]))
    same(P.GLU, "class GLU")
    same(
        P.SigmoidCrossEntropyWithLogits()(x(), x()),
        ("Float32", [[0.7634394, 0.724077, 0.574371], [0.3132617, -0.06057093, -0.5485867]]),
    )
    same(P.HShrink()(x()), ("Float32", [[0.0, 0.0, 0.75], [1.0, 1.25, 1.5]]))
    same(P.SoftShrink()(x()), ("Float32", [[0.0, 0.0, 0.25], [0.5, 0.75, 1.0]]))
    same(
        P.LRN()(a),
        (
            "Float32",
            [
                [
                    [
                        [0.0571662, 0.1078328, 0.152696, 0.1924501],
                        [0.2277438, 0.2591605, 0.2872135, 0.3123475],
                        [0.3349453, 0.3553346, 0.3737952, 0.3905667],
                        [0.4058539, 0.4198321, 0.4326523, 0.4444444],
                    ],
                    [
                        [0.9718254, 0.970495, 0.9670745, 0.9622505],
                        [0.9565238, 0.9502553, 0.9437014, 0.9370426],
                        [0.9304036, 0.9238698, 0.9174973, 0.9113224],
                        [0.9053663, 0.8996402, 0.8941481, 0.8888889],
                    ],
                ]
            ],
        ),
    )
    same(P.Conv3D(1, 2, pad_mode="valid")(x(1, 1, 2, 2, 2), one(1, 1, 2, 2, 2)), ("Float32", [[[[[9.0]]]]]))
    same(
        P.MaxPoolWithArgmax(2, 2)(a),
        (
            ("Float32", [[[[1.5, 2.0], [3.5, 4.0]], [[5.5, 6.0], [7.5, 8.0]]]]),
            ("Int32", [[[[5, 7], [13, 15]], [[21, 23], [29, 31]]]]),
        ),
    )
    same(P.InTopK(2)(x(), i32([0, 2])), ("Bool", [False, True]))
    same(
        P.ApplyMomentum()(Parameter(one(2), name="v"), Parameter(one(2), name="a"), 0.1, one(2), 0.9),
        ("Float32", [0.81, 0.81]),
    )
