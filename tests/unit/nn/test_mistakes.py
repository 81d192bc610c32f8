"""Wrong inputs of layers and losses: messages name layer, parameter and way out, in all modes with the same words."""

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(4, 3)
        self.rest = nn.SequentialCell(nn.Dense(3, 3), nn.ReLU())

    def construct(self, x):
        return self.rest(self.fc1(x))


def mistakes(cell, *args):
    """Class and message in dynamic mode, compiled twice, and in graph mode."""
    found = []
    compiled = ms.jit(lambda *xs: cell(*xs))
    for call in (cell, compiled, compiled):
        with pytest.raises(Exception) as caught:  # noqa: PT011  (the class is compared below)
            call(*args)
        found.append((caught.type, str(caught.value)))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            cell(*args)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    found.append((caught.type, str(caught.value)))
    assert len(set(found)) == 1, found
    return found[0]


def test_numpy_arrays():
    kind, text = mistakes(Net(), np.ones((2, 4), np.float32))
    assert kind is TypeError
    assert "'Dense (fc1)'" in text and "'x' must be a Tensor, but got numpy.ndarray" in text and "from_numpy" in text


@pytest.mark.parametrize("value", [[1.0, 2.0], None, 3])
def test_no_tensor_at_all(value):
    kind, text = mistakes(Net(), value)
    assert kind is TypeError
    assert f"For 'Dense (fc1)', the input 'x' must be a Tensor, but got {type(value).__name__}" in text


@pytest.mark.parametrize("dtype", [ms.int32, ms.float16, ms.float64])
def test_wrong_dtypes(dtype):
    kind, text = mistakes(Net(), ops.ones((2, 4), dtype))
    assert kind is TypeError
    assert f"'Dense (fc1)', the input 'x' has dtype {str(dtype).rpartition('.')[2].lower()}" in text
    assert "the parameter 'fc1.weight' has dtype float32" in text
    assert "astype(mindspore.float32)" in text
    assert ("to_float" in text) == (dtype is ms.float16)


LAYERS = [
    (nn.Conv2d(3, 4, 3), (1, 3, 8, 8)), (nn.Conv1d(3, 4, 3), (1, 3, 8)), (nn.Conv2dTranspose(3, 4, 3), (1, 3, 8, 8)),
    (nn.LayerNorm([4]), (2, 4)), (nn.GroupNorm(1, 4), (2, 4, 3, 3)), (nn.PReLU(), (2, 4)), (nn.LSTM(4, 3), (5, 2, 4)),
    (nn.GRU(4, 3), (5, 2, 4)), (mint.nn.Linear(4, 3), (2, 4)),
]  # fmt: skip


@pytest.mark.parametrize("layer, shape", LAYERS, ids=lambda v: v.cls_name if isinstance(v, nn.Cell) else "")
def test_every_layer_with_parameters(layer, shape):
    for x, words in ((np.ones(shape, np.float32), "must be a Tensor"), (ops.ones(shape, ms.int32), "has dtype int32")):
        with pytest.raises(TypeError, match=f"For '{layer.cls_name}.*{words}"):
            layer(x)


def test_wrong_sizes_name_the_layer():
    _, text = mistakes(Net(), ops.ones((2, 5)))
    called = "called with float32[2, 5]; its parameters: weight float32[3, 4], bias float32[3]"
    assert f"in the layer 'Dense (fc1)', {called})" in text


ACTIVATIONS = [
    nn.ReLU(), nn.SiLU(), nn.Mish(), nn.GELU(), nn.FastGelu(), nn.ELU(), nn.CELU(), nn.SeLU(), nn.Sigmoid(), nn.Tanh(),
    nn.LogSigmoid(), nn.HSigmoid(), nn.HSwish(), nn.Tanhshrink(), nn.Hardtanh(), nn.Softsign(), nn.Softmax(),
    nn.LogSoftmax(), nn.Softmin(), nn.LeakyReLU(), nn.GLU(), nn.Flatten(), nn.Unflatten(1, (2, 2)), nn.MaxPool1d(2),
    mint.nn.SiLU(), mint.nn.GELU(), mint.nn.Softmax(1), mint.nn.Flatten(), mint.nn.AvgPool1d(2),
]  # fmt: skip


@pytest.mark.parametrize("layer", ACTIVATIONS, ids=lambda layer: f"{type(layer).__module__[9:]}.{layer.cls_name}")
@pytest.mark.parametrize("value", [np.ones((2, 4), np.float32), [[1.0, 2.0, 3.0, 4.0]]], ids=["array", "list"])
def test_layers_without_parameters_take_tensors_only(layer, value):
    kind, text = mistakes(layer, value)
    assert kind is TypeError and f"'{layer.cls_name}'" in text and "Tensor" in text, text


@pytest.mark.parametrize(
    "loss", [nn.HuberLoss(), nn.SoftMarginLoss(), nn.KLDivLoss(), nn.PoissonNLLLoss(), nn.RMSELoss(), nn.MSELoss(),
             nn.MultiLabelSoftMarginLoss(), mint.nn.L1Loss()], ids=lambda loss: loss.cls_name,
)  # fmt: skip
def test_losses_take_tensors_only(loss):
    x = np.full((2, 4), 0.5, np.float32)
    with pytest.raises(TypeError, match=f"'{loss.cls_name}'.*must be a Tensor"):
        loss(x, x)


def test_functions_say_how_a_tensor_is_made():
    with pytest.raises(TypeError, match=r"Failed calling ReLU .* mindspore.Tensor\(x\) makes a Tensor"):
        ops.relu(np.ones(3, np.float32))


def test_a_layer_without_construct_names_its_class():
    class Torch(nn.Cell):
        def forward(self, x):
            return x

    assert "in the class 'Torch'; rename its method 'forward' to 'construct'" in mistakes(Torch(), ops.ones(2))[1]


RECURRENT = [
    (nn.LSTM(4, 5), (ops.ones((2, 3, 7)),), "'LSTM', the last dimension of 'x' must be the 'input_size' 4"),
    (nn.LSTM(4, 5), (ops.ones((2, 3, 4)), ops.ones((1, 3, 5))), "the 'hx' must be a tuple of two Tensors (h, c)"),
    (nn.GRU(4, 5), (ops.ones((2, 3, 4)), (ops.ones((1, 3, 5)),) * 2), "'GRU', the 'hx' must be a Tensor"),
]


@pytest.mark.parametrize("layer, args, said", RECURRENT)
def test_recurrent_layers(layer, args, said):
    assert said in mistakes(layer, *args)[1]


@pytest.mark.parametrize("sparse, labels, said", [(True, 3, "one class for each row"), (False, 2, "sparse=True")])
def test_labels_of_another_shape(sparse, labels, said):
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=sparse)
    kind, text = mistakes(loss, ops.ones((2, 5)), ops.ones(labels, ms.int32))
    assert kind is ValueError and said in text and f"({labels},)" in text and "(2, 5)" in text


class Raising(nn.Cell):
    def construct(self, x):
        raise ValueError("boom")


def raising(x):
    raise TypeError("mine")


@pytest.mark.parametrize(
    "cell, text", [(nn.SequentialCell(Raising()), "boom"), (nn.Dense(2, 2, activation=raising), "mine")]
)
def test_errors_of_the_user_stay_as_they_are(cell, text):
    assert mistakes(cell, ops.ones((2, 2)))[1] == text


def test_missing_arguments_are_no_question_of_dtypes():
    with pytest.raises(TypeError, match="missing 1 required"):
        nn.LSTMCell(4, 3)(ops.ones((2, 4), ms.float16))


# ---- labels ----------------------------------------------------------------------------------------------------------

LOGITS = Tensor(np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32))
LOSSES = {
    "CrossEntropyLoss": nn.CrossEntropyLoss(),
    "NLLLoss": nn.NLLLoss(),
    "SoftmaxCrossEntropyWithLogits": nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
    "cross_entropy": ops.cross_entropy,
    "nll_loss": ops.nll_loss,
    "SparseSoftmaxCrossEntropyWithLogits": ops.SparseSoftmaxCrossEntropyWithLogits(),
}


def _labels(*values):
    return Tensor(list(values), ms.int32)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("label, got", [(9, ": 9"), (5, ": 5"), (-7, " a negative one")])
def test_labels_out_of_range(name, label, got):
    loss = LOSSES[name]
    compiled = ms.jit(lambda x, y: loss(x, y))
    for call in (loss, compiled, compiled, ms.value_and_grad(loss), ms.jit(ms.grad(loss))):
        with pytest.raises(RuntimeError) as caught:
            call(LOGITS, _labels(0, label, 1))
        assert str(caught.value) == f"For '{name}', the labels must be numbers of classes in [0, 5), but got{got}"
        call(LOGITS, _labels(0, 4, 1))


def test_negative_labels_as_in_mindspore():
    """They count from the end where a gather is behind; the kernel behind ``sparse=True`` refuses them."""
    assert nn.CrossEntropyLoss()(LOGITS, _labels(0, -1, 1)) == nn.CrossEntropyLoss()(LOGITS, _labels(0, 4, 1))
    assert nn.CrossEntropyLoss()(LOGITS, _labels(0, -100, 1)) == nn.CrossEntropyLoss()(LOGITS[::2], _labels(0, 1))
    with pytest.raises(RuntimeError, match="negative"):
        nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(LOGITS, _labels(0, -1, 1))
    assert nn.SoftmaxCrossEntropyWithLogits(sparse=True)(LOGITS, _labels(0, -1, 1))[1] == 0


def test_ignored_labels_of_the_primitive():
    loss, weight = ops.NLLLoss()(LOGITS, _labels(0, -100, 1), ops.ones((5,)))
    assert weight == 2
    assert loss == nn.NLLLoss()(LOGITS[::2], _labels(0, 1))


def test_labels_of_the_focal_loss():
    with pytest.raises(ValueError, match="For 'FocalLoss'.*as many dimensions"):
        nn.FocalLoss()(LOGITS, _labels(0, 1, 2))


def test_indices_out_of_range():
    kind, text = mistakes(nn.SequentialCell(nn.Embedding(5, 3), nn.ReLU()), Tensor([1, 7]))
    assert kind is RuntimeError
    assert "[0, 5), but got 7 (in the layer 'Embedding (0)', called with int64[2]; its parameters:" in text


def test_a_mistyped_attribute_has_the_nearest_name():
    with pytest.raises(AttributeError, match="has no attribute 'fc'") as caught:
        Net().fc  # noqa: B018
    assert caught.value.name == "fc" and isinstance(caught.value.obj, Net)  # what Python's suggestion is made of


def test_layers_with_words_of_their_own_are_named_with_their_place():
    net = nn.SequentialCell(nn.LayerNorm((4,)), nn.Dense(4, 3))
    kind, text = mistakes(net, Tensor(np.ones((2, 5), np.float32)))
    assert kind is ValueError and text.startswith("For 'LayerNorm', the last dimensions")
    assert text.endswith("(in the layer 'LayerNorm (0)')")


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(ops.ones((3, 4)), name="w")

    def construct(self, x):
        return ops.matmul(x, self.w)


class Raising(nn.Cell):
    def construct(self, x):
        raise ValueError("mine")


@pytest.mark.parametrize("compiled", [False, True])
def test_operators_in_layers_of_the_user_name_them(compiled):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.parts = nn.SequentialCell(nn.ReLU(), Inner())

        def construct(self, x):
            return self.parts(x)

    net = ms.jit(Net()) if compiled else Net()
    with pytest.raises(RuntimeError) as raised:
        net(ops.ones((2, 5)))
    assert raised.value.args == ("For 'matmul' op, shape1[-1] must be equal to shape2[-2], but got 5 and 3.",)
    (note,) = raised.value.__notes__
    assert note.splitlines()[0].endswith("(in the layer 'Net.parts.1 (Inner)')") and "ops.matmul(x, self.w)" in note
    with pytest.raises(ValueError, match="^mine$") as raised:
        Raising()(ops.ones(2))
    assert not hasattr(raised.value, "__notes__")


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.SGD([], 0.1), ValueError, r"nn\.CellList\(layers\)"),
        (lambda: nn.SGD(nn.Dense(1, 1), 0.1), TypeError, r"net\.trainable_params\(\)\.$"),
        (lambda: ms.grad(ops.relu, nn.Dense(1, 1).trainable_params()), TypeError, r"grad\(fn, None, weights\)"),
        (lambda: ms.set_context(mode="graph"), TypeError, "GRAPH_MODE"),
        (lambda: ms.summary(nn.Dense(3, 4), (2, 3)), TypeError, r"ops\.ones\(\(2, 3\)\)"),
        (lambda: nn.LSTM(4, 8)(ops.ones((2, 4))), ValueError, r"must be 3 \(time, batch, input\), but got 2"),
        (lambda: nn.GRU(4, 8, batch_first=True)(ops.ones((2, 4))), ValueError, r"\(batch, time, input\), but got 2"),
        (lambda: nn.SGD([*nn.Dense(1, 1).trainable_params()] * 1 + nn.Dense(1, 1).trainable_params(), 0.1), ValueError,
         "update_parameters_name"),
    ],
)  # fmt: skip
def test_what_newcomers_do_says_what_to_write(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_misspelt_construct_is_named():
    class Net(nn.Cell):
        def construt(self, x):
            return x

    with pytest.raises(AttributeError, match="rename its method 'construt' to 'construct'"):
        Net()(ops.ones(1))


@pytest.mark.parametrize(("index", "code"), [(1.5, "DG0404"), ("a", "DG0404"), ((0, 0, 0), "DG0416"), (7, "DG0414")])
def test_wrong_indices_are_drawn(index, code):
    x = ops.ones((3, 4))
    with pytest.raises(IndexError) as raised:
        x[index]
    (note,) = raised.value.__notes__
    assert f"error[{code}]" in note and "^^^^" in note and "x[index]" in note
    with pytest.raises(IndexError) as raised:
        x[index] = 1.0
    assert f"error[{code}]" in raised.value.__notes__[0]


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM, nn.RNNCell, nn.GRUCell, nn.LSTMCell])
@pytest.mark.parametrize("batch", [1, 3])
def test_states_of_another_batch(kind, batch):
    around = () if kind.__name__.endswith("Cell") else (1,)
    state = ops.ones((*around, batch, 4))
    given = (state, state) if "LSTM" in kind.__name__ else state
    net = kind(3, 4)
    found = mistakes(net, ops.ones((*around, 2, 3)), given)
    wanted = (*around, 2, 4)
    said = f"the shape of 'hx' must be {wanted}, but got {tuple(state.shape)}"
    assert found[0] is ValueError and f"For '{kind.__name__}', {said}." in found[1]
