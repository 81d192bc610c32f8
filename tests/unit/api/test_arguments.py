"""Arguments of ``ops``, ``mint``, Tensor's methods and Primitives: values as in MindSpore 2.10, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, amp, jit, mint, nn, ops
from duograph.mint import distributed
from duograph.mint.nn import functional as F
from duograph.tensor.random import Generator

NAN, INF = float("nan"), float("inf")
M = Tensor(np.float32([[3, 1, 2], [0.5, -4, 6]]))
N = Tensor(np.float32([[1, 2, 0], [-1, 4, 2.5]]))
V = Tensor(np.float32([3, 1, 2]))
S = Tensor(np.float32([[4, 1], [1, 3]]))
MASK = Tensor([[True, False, True], [False, False, True]])
HOLES = Tensor(np.float32([[1, NAN, 3], [INF, 2, -1]]))
PICTURE = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) ** 1.5)
U16 = Tensor(np.uint16([1, 2]))

CASES = [
    ("clip_by_norm of NaN", lambda: ops.clip_by_norm(HOLES, 1.0), HOLES.tolist(), "Float32"),
    ("clip_by_value of a list", lambda: ops.clip_by_value([V], 0, 2)[0], [2, 1, 2], "Float32"),
    ("aminmax", lambda: ops.aminmax(HOLES, axis=1)[1], [3, INF], "Float32"),
    ("aminmax, first NaN", lambda: ops.aminmax(HOLES, axis=0)[0], [1, NAN, -1], "Float32"),
    ("min with initial", lambda: ops.min(M, 1, initial=0.0, where=MASK)[1], [0, 0], "Int64"),
    ("max with initial", lambda: ops.max(M, 0, initial=9.0)[1], [0, 0, 0], "Int64"),
    ("argmax_with_value", lambda: M.argmax_with_value(axis=None)[0], 6, "Float32"),
    ("argmin_with_value", lambda: M.argmin_with_value(axis=None)[1], 0, "Int64"),
    ("amax", lambda: M.amax(axis=1, initial=2.5, where=MASK), [3, 6], "Float32"),
    ("amin", lambda: M.amin(axis=1, initial=2.5, where=MASK), [2, 2.5], "Float32"),
    ("sum of uint16", lambda: ops.sum(U16), 3, "UInt16"),
    ("prod of uint16", lambda: mint.prod(U16), 2, "UInt16"),
    ("cummin", lambda: ops.cummin(M, 0)[1], [[0, 0, 0], [1, 1, 0]], "Int32"),
    ("unique", lambda: ops.unique(Tensor([2.0, 1.0, 2.0]))[1], [0, 1, 0], "Int32"),
    ("unique of int64", lambda: ops.unique(Tensor([2, 1, 2]))[1], [0, 1, 0], "Int64"),
    ("softmax", lambda: M.softmax(0, ms.float64)[0], [0.92414182, 0.99330715, 0.01798621], "Float64"),
    ("addr", lambda: S.addr(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), 2, 3), [[17, 14], [20, 30]], "Float32"),
    ("swapdims", lambda: M.swapdims(dim0=0, dim1=1), [[3, 0.5], [1, -4], [2, 6]], "Float32"),
    ("multiply", lambda: V.multiply(value=2), [6, 2, 4], "Float32"),
    ("float_power", lambda: V.float_power(other=2), [9, 1, 4], "Float64"),
    ("approximate_equal", lambda: M.approximate_equal(other=N, tolerance=3.0), [[1, 1, 1], [1, 0, 0]], "Bool"),
    ("reverse_sequence", lambda: M.reverse_sequence(Tensor([1, 2]), 1), [[3, 1, 2], [-4, 0.5, 6]], "Float32"),
    ("pinv hermitian", lambda: ops.pinv(Tensor([[1.0, 2.0], [0.0, 3.0]]), hermitian=True), [[1, 0], [0, 1 / 3]],
     "Float32"),
    ("mint ones", lambda: mint.ones(size=(2,), dtype=ms.int32), [1, 1], "Int32"),
    ("mint empty", lambda: mint.empty(2), [0, 0], "Float32"),
    ("mint sqrt", lambda: mint.sqrt(input=Tensor([4.0])), [2], "Float32"),
    ("mint isnan", lambda: mint.isnan(tensor=HOLES), [[0, 1, 0], [0, 0, 0]], "Bool"),
    ("mint mv", lambda: mint.mv(input=M, vec=V), [14, 9.5], "Float32"),
    ("mint cdist", lambda: mint.cdist(M, N, 1.0, "use_mm_for_euclid_dist"), [[5, 7.5], [12.5, 13]], "Float32"),
    ("F.nll_loss", lambda: F.nll_loss(input=M, target=Tensor([0, 2])), -4.5, "Float32"),
    ("F.batch_norm", lambda: F.batch_norm(M, V * 0, V * 0 + 1, eps=0.0), M.tolist(), "Float32"),
    ("BCEWithLogitsLoss", lambda: mint.nn.BCEWithLogitsLoss(Tensor([1.0, 0.0]), "sum")(S * 0, S * 0), 2 * 0.6931472,
     "Float32"),
    ("numel", lambda: Tensor(ops.numel(input=M)), 6, "Int64"),
    ("reverse", lambda: ops.reverse(x=V, axis=[0]), [2, 1, 3], "Float32"),
    ("row_stack", lambda: ops.row_stack(tensors=(V, V)), [[3, 1, 2], [3, 1, 2]], "Float32"),
    ("segments", lambda: ops.unsorted_segment_max(x=V, segment_ids=Tensor([0, 0, 1], ms.int32), num_segments=2), [3, 2],
     "Float32"),
    ("tensor on the CPU", lambda: ms.tensor([1, 2], device="CPU"), [1, 2], "Int64"),
    ("tril_indices", lambda: ops.tril_indices(3, 2, -1), [[1, 2, 2], [0, 0, 1]], "Int64"),
    ("triu_indices", lambda: ops.triu_indices(2, 3, 1), [[0, 0, 1], [1, 2, 2]], "Int64"),
    ("triu_indices, nothing", lambda: ops.triu_indices(2, 2, 5), [[], []], "Int64"),
    ("tril_indices, all", lambda: ops.tril_indices(2, 2, 7, dtype=ms.int32), [[0, 0, 1, 1], [0, 1, 0, 1]], "Int32"),
    ("combinations", lambda: ops.combinations(V, 2, True), [[3, 3], [3, 1], [3, 2], [1, 1], [1, 2], [2, 2]], "Float32"),
    ("combinations, too few", lambda: ops.combinations(V, 4), [], "Float32"),
    ("ReduceSum skips", lambda: ops.ReduceSum(skip_mode=True)(V), [3, 1, 2], "Float32"),
    ("LpNorm", lambda: ops.LpNorm(0, 2, epsilon=5.0)(V), 5, "Float32"),
    ("Median", lambda: ops.Median(axis=1)(HOLES)[0], [NAN, 2], "Float32"),
    ("Median of the others", lambda: ops.Median(axis=1, ignore_nan=True)(HOLES)[0], [1, 2], "Float32"),
    ("BiasAdd", lambda: ops.BiasAdd("NHWC")(S.reshape(1, 2, 1, 2), Tensor([1.0, 2.0]))[0, :, 0], [[5, 3], [2, 5]],
     "Float32"),
    ("MaxPoolWithArgmaxV2", lambda: ops.MaxPoolWithArgmaxV2(4, argmax_type=ms.int32)(PICTURE)[1].reshape(-1), [15],
     "Int32"),
    ("ResizeBilinearV2", lambda: ops.ResizeBilinearV2()(PICTURE, (2, 2))[0, 0], [[0, 2.828427], [22.627417, 31.622776]],
     "Float32"),
    ("ResizeNearestNeighborV2", lambda: ops.ResizeNearestNeighborV2()(PICTURE, Tensor([2, 2], ms.int32))[0, 0],
     [[0, 2.828427], [22.627417, 31.622776]], "Float32"),
    ("bicubic", lambda: ops.interpolate(PICTURE, (3, 3), mode="bicubic")[0, 0, 0], [0.870772, 2.9114895, 6.253051],
     "Float32"),
    ("bicubic, corners", lambda: ops.interpolate(PICTURE, (3, 3), mode="bicubic", align_corners=True)[0, 0, 0],
     [0, 1.7859893, 5.196152], "Float32"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "values", "dtype"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_values(call, values, dtype):
    out = call()
    assert str(out.dtype) == dtype
    assert out.shape == np.shape(values)
    assert np.allclose(out.asnumpy(), values, rtol=1e-5, atol=1e-6, equal_nan=True)


REFUSED = [
    (lambda: ops.clip_by_norm(HOLES, 1.0, error_if_nonfinite=True), RuntimeError, "non-finite"),
    (lambda: ops.lrn(PICTURE, norm_region="WITHIN_CHANNEL"), ValueError, "norm_region"),
    (lambda: ops.LRN(norm_region="WITHIN_CHANNEL"), ValueError, "norm_region"),
    (lambda: ops.embedding(Tensor([0]), M, scale_grad_by_freq=True), ValueError, "scale_grad_by_freq"),
    (lambda: ops.Conv2D(3, 2, data_format="NHWC"), ValueError, "data_format"),
    (lambda: ops.MaxPool(2, 2, "valid", "NHWC"), ValueError, "data_format"),
    (lambda: ops.LayerNorm(1, 0), ValueError, "begin_params_axis"),
    (lambda: ops.Unstack(0, 5)(M), ValueError, "num"),
    (lambda: ops.SplitV([1, -1], 1, 3), ValueError, "num_split"),
    (lambda: ops.ResizeBilinearV2(True, True), ValueError, "half_pixel_centers"),
    (lambda: ops.Lstsq(l2_regularizer=0.5), ValueError, "l2_regularizer"),
    (lambda: ops.flash_attention_score(M, M, M, 1, pre_tokens=3), ValueError, "pre_tokens"),
    (lambda: mint.rand(2, device="Ascend"), ValueError, "device"),
    (lambda: mint.cdist(M, N, 2.0, "fast"), ValueError, "compute_mode"),
    (lambda: mint.normal(0.0, 1.0), TypeError, "size"),
    (lambda: mint.zeros(2, size=(2,)), TypeError, "size"),
    (lambda: ops.uniform_candidate_sampler(Tensor([[1]]), 2, 2, False, 5), ValueError, "num_true"),
    (lambda: V.requires_grad_(3), TypeError, "requires_grad"),
]


@pytest.mark.parametrize(("call", "error", "name"), REFUSED, ids=[name for _, _, name in REFUSED])
def test_refused(call, error, name):
    with pytest.raises(error, match=name):
        call()


TOO_LARGE = [
    lambda: ops.tril_indices(2**33, 2**33),
    lambda: ops.triu_indices(2**20, 2**20),
    lambda: ops.combinations(ops.ones(2**20), 3),
    lambda: ops.unfold(ops.ones((1, 1, 2000, 2000)), 1000),
    lambda: ops.combinations(ops.ones(2**20), 5, True),
    lambda: ops.pdist(ops.ones((2**24, 1))),
]


@pytest.mark.parametrize("call", TOO_LARGE)
@pytest.mark.parametrize("compiled", [False, True])
def test_what_no_machine_has_room_for(call, compiled):
    with pytest.raises(MemoryError, match="out of memory"):
        (jit(call) if compiled else call)()


def test_generators_and_second_seeds_count():
    def generator() -> Generator:
        made = Generator()
        made.manual_seed(7)
        return made

    assert mint.normal(0.0, 1.0, (4,), generator()).tolist() == mint.normal(0.0, 1.0, (4,), generator()).tolist()
    assert mint.normal(V, V).shape == (3,)
    half = V * 0 + 0.5
    assert mint.bernoulli(half, generator=generator()).tolist() == half.bernoulli(generator=generator()).tolist()
    draws = [ops.StandardNormal(3, second)((4,)).tolist() for second in (0, 1, 1)]
    assert draws[0] != draws[1] == draws[2]
    assert ops.randperm(20, 3, 1).tolist() != ops.randperm(20, 3, 2).tolist()
    loss = [nn.SampledSoftmaxLoss(2, 4, seed=s)(S, S[0], Tensor([[0], [1]]), S).tolist() for s in (1, 1)]
    assert loss[0] == loss[1]


def test_draws_without_replacement():
    drawn = ops.multinomial_with_replacement(Tensor([0.2, 0.3, 0.5]), 1, 0, 3, False)
    assert sorted(drawn.tolist()) == [0, 1, 2]


def test_dropout_in_place():
    x = ops.ones((4, 4))
    assert F.dropout(x, 0.5, True, True) is x
    assert set(x.asnumpy().ravel()) <= {0.0, 2.0}


def test_ctc_loss_ends_labels_at_the_blank():
    x = Tensor(np.random.RandomState(1).randn(3, 1, 3).astype(np.float32))
    lengths = Tensor([3], ms.int32)
    whole, _ = ops.CTCLoss()(x, Tensor([[0, 0], [0, 1]]), Tensor([1, 2], ms.int32), lengths)
    short, _ = ops.CTCLoss()(x, Tensor([[0, 0]]), Tensor([1], ms.int32), lengths)
    assert whole.tolist() == short.tolist()
    with pytest.raises(RuntimeError, match="blank"):
        ops.CTCLoss()(x, Tensor([[0, 0], [0, 1]]), Tensor([2, 1], ms.int32), lengths)
    with pytest.raises(RuntimeError, match="label length"):
        ops.CTCLoss()(x, Tensor([[0, 0], [0, 1]]), Tensor([1, 0], ms.int32), Tensor([1], ms.int32))


def test_ctc_loss_of_one_sequence():
    probs = ops.log_softmax(Tensor(np.random.RandomState(1).randn(4, 6).astype(np.float32)))
    args = Tensor([1, 2], ms.int32), Tensor(4, ms.int32), Tensor(2, ms.int32)
    batch = [x.expand_dims(0) for x in args]
    one = nn.CTCLoss(reduction="none")(probs, *args)
    assert one.shape == ()
    assert one.tolist() == nn.CTCLoss(reduction="none")(probs.expand_dims(1), *batch).tolist()[0]
    assert nn.CTCLoss()(probs, *args).tolist() == nn.CTCLoss()(probs.expand_dims(1), *batch).tolist()


def test_collectives_of_one_process():
    distributed.init_process_group("mccl")
    out = [Tensor([0.0, 0.0])]
    distributed.gather(Tensor([1.0, 2.0]), out)
    assert out[0].tolist() == [1.0, 2.0]
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
    assert distributed.all_reduce(out[0], async_op=True).wait()
    with pytest.raises(ValueError, match="rank"):
        distributed.broadcast(out[0], 1)
    with pytest.raises(ValueError, match="op"):
        distributed.all_reduce(out[0], "mean")
    distributed.destroy_process_group()


def test_names_of_other_functions_are_not_those_of_the_parent():
    text = "import duograph; duograph.install_as_mindspore()\nfrom mindspore.mint import distributed, gather\n"
    space: dict[str, object] = {}
    exec(text, space)
    assert space["distributed"].gather is distributed.gather
    assert not hasattr(space["distributed"], "scatter_add")


def test_recompute_takes_its_own_arguments():
    class Twice(nn.Cell):
        def construct(self, x, by=2):
            return x * by

    entered = []

    class Context:
        def __enter__(self) -> None:
            entered.append(True)

        def __exit__(self, *_: object) -> None:
            entered.append(False)

    assert ms.recompute(Twice(), V, by=3, use_reentrant=False, output_recompute=True).tolist() == [9, 3, 6]
    assert ms.recompute(Twice(), V, context_fn=lambda: (Context(), Context())).tolist() == [6, 2, 4]
    assert entered == [True, False]
    with pytest.raises(TypeError, match="early_stop"):
        ms.recompute(Twice(), V, early_stop=1)


def test_what_is_refused_as_by_mindspore():
    with pytest.raises(ValueError, match="dimension 0 must be 3"):
        ops.cross(M, N, 0)
    with pytest.raises(ValueError, match="batch_dim"):
        M.reverse_sequence(Tensor([1, 2]))


def test_pooling_of_volumes_counts_padding():
    out = nn.AvgPool3d(2, 1, "same")(ops.ones((1, 1, 2, 2, 2)))
    assert out.asnumpy().ravel().tolist() == [1, 0.5, 0.5, 0.25, 0.5, 0.25, 0.25, 0.125]


def test_small_ones():
    assert str(ops.FillV2()((2,), Tensor(3.0)).dtype) == "Float32"
    assert str(ops.Histogram(2)(V).dtype) == "Float32"
    assert str(V.searchsorted(Tensor([1.0])).dtype) == "Int32"
    assert V.flip(dims=(0,)).tolist() == [2, 1, 3]
    assert V.cumsum(dim=0).tolist() == [3, 4, 6]
    assert type(nn.Dense(1, 1).init_parameters_data()) is dict


UNKNOWN = [
    lambda: M.select(0, 0, foo=1),
    lambda: M.gather(Tensor([0]), 0, foo=1),
    lambda: M.gather(1, Tensor([[0], [1]]), foo=1),
    lambda: M.gather(1, Tensor([[0], [1]]), dim=1),
    lambda: M.index_add(0, Tensor([0]), M[:1], foo=1),
    lambda: M.sum(0, dim=1),
    lambda: nn.CellList([nn.ReLU()], foo=1),
    lambda: nn.CellDict({"a": nn.ReLU()}, foo=1),
    lambda: nn.ReLU().recompute(foo=1),
    lambda: M.to(ms.float16, foo=1),
    lambda: M.new_zeros(2, foo=1),
    lambda: ms.Symbol(foo=1),
    lambda: ops.transpose(M),
]


@pytest.mark.parametrize("call", UNKNOWN)
def test_unknown_missing_and_double_arguments_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_known_forms_of_these_methods():
    at = Tensor([0])
    assert M.select(dim=0, index=1).tolist() == M.select(1 - 1, 1).tolist() == [0.5, -4, 6]
    assert M.gather(input_indices=at, axis=1).tolist() == M.gather(at, 1).tolist() == [[3], [0.5]]
    assert M.gather(dim=1, index=Tensor([[0], [1]])).tolist() == [[3], [-4]]
    assert M.index_add(at, M[:1], 0, True).tolist() == M.index_add(0, at, M[:1]).tolist() == [[6, 2, 4], [0.5, -4, 6]]
    assert ops.transpose(M, dims=(1, 0)).shape == ops.transpose(M, input_perm=(1, 0)).shape == (3, 2)
    assert ops.tile(M, dims=(1, 2)).shape == ops.tile(M, multiples=(1, 2)).shape == (2, 6)
    old, new = ops.logsumexp(M, axis=1, keep_dims=True), M.logsumexp(dim=1, keepdim=True)
    assert old.shape == (2, 1) and old.asnumpy().tobytes() == new.asnumpy().tobytes()


def test_build_train_network_reads_its_options():
    def level(**options):
        net, seen = nn.Dense(2, 2), []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(amp, "auto_mixed_precision", lambda network, level: seen.append(level))
            amp.build_train_network(net, nn.Momentum(net.trainable_params(), 0.1, 0.9), nn.MSELoss(), **options)
        return seen[0]

    assert level() == level(level="O2", cast_model_type=ms.float32) == "O0"
    assert level(level="O2") == level(cast_model_type=ms.float16, keep_batchnorm_fp32=True) == "O2"
    assert level(level="O3") == level(level="O2", keep_batchnorm_fp32=False) == "O3"
    assert level(cast_model_type=ms.float16) == "O3"
    assert level(level="O1") == "O1"
    for wrong in ({"foo": 1}, {"level": "O1", "cast_model_type": ms.float16}, {"cast_model_type": ms.int32}):
        with pytest.raises(ValueError, match="build_train_network"):
            level(**wrong)


def test_memory_of_another_device_is_refused():
    assert ms.hal.memory_allocated("CPU") >= 0
    with pytest.raises(ValueError, match="device_target"):
        ms.hal.memory_stats("GPU")


def test_adam_of_experimental_adds_eps_as_mindspores_kernel():
    param = ms.Parameter(Tensor([1.0]), "p")
    optimizer = ms.experimental.optim.Adam([param], 0.1, eps=0.1)
    for g in (0.5, 0.1, 0.1):
        optimizer((Tensor([g]),))
    assert np.allclose(param.asnumpy(), 0.96487677)
    assert mint.allclose(param, param) is True


def test_classes_of_exceptions_of_products():
    """MindSpore's MatMul raises `ValueError` where its MatMulExt raises `RuntimeError`."""
    for call in (lambda: ops.mm(M, M), lambda: M @ V[:2], lambda: ops.addmm(S, M, M)):
        with pytest.raises(ValueError, match="x1_col"):
            call()
    for call in (lambda: mint.mm(M, M), lambda: M @ M, lambda: V[:1] @ M):
        with pytest.raises(RuntimeError, match=r"shape1\[-1\] must be equal"):
            call()
    with pytest.raises(TypeError, match="fro"):
        ops.norm(V, "fro")
