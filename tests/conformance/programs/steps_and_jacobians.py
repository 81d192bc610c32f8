"""What programs in MindSpore's style build on: training steps of their own, Jacobians, ensembles, sparse tensors."""

import duograph as ms
from duograph import nn, ops
from duograph.api import noted
from duograph.nn.wrap.loss_scale import _grad_scale
from tests.conformance.harness import T, program

X, Y = T([[1.0, 2.0], [3.0, 4.0]]), T([[1.0], [0.0]])
CALLS = [(X, Y), (X, Y)]


def parts():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    return nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.125, 0.5)


def clipped(limit, gradient):
    return ops.clip_by_norm(gradient, limit)


class Clipped(nn.TrainOneStepCell):
    """As model zoos write it."""

    def __init__(self, network, optimizer, sens=1.0):
        super().__init__(network, optimizer, sens)
        self.hyper_map = ops.HyperMap()

    def construct(self, *inputs):
        loss = self.network(*inputs)
        sens = ops.fill(loss.dtype, loss.shape, self.sens)
        grads = self.grad(self.network, self.weights)(*inputs, sens)
        grads = self.hyper_map(ops.partial(clipped, 1.0), grads) if self.sense_flag else grads
        grads = self.grad_reducer(grads)
        if self.reducer_flag:
            raise RuntimeError("one process reduces nothing")
        return ops.depend(loss, self.optimizer(grads))


class Scaled(nn.TrainOneStepWithLossScaleCell):
    """As model zoos write it."""

    def construct(self, *inputs):
        loss = self.network(*inputs)
        status, scale = self.start_overflow_check(loss, self.scale_sense)
        sens = ops.ones_like(loss) * ops.cast(scale, loss.dtype)
        grads = self.grad(self.network, self.weights)(*inputs, sens)
        grads = self.hyper_map(ops.partial(_grad_scale, scale), grads)
        grads = self.grad_reducer(grads)
        overflow = self.process_loss_scale(self.get_overflow_status(status, grads))
        if not overflow:
            loss = ops.depend(loss, self.optimizer(grads))
        return loss, overflow, self.scale_sense * 1.0


@program(calls=CALLS, build=True)
def a_step_of_ones_own():
    return Clipped(*parts(), sens=2.0)


@program(calls=CALLS, build=True)
def a_step_with_a_scale():
    return Scaled(*parts(), ms.Tensor(1024.0))


@program(calls=[(X, Y), (X * 1e30, Y), (X, Y)], build=True)
def a_step_whose_scale_is_managed():
    return Scaled(*parts(), nn.DynamicLossScaleUpdateCell(1024, 2, 1))


@program(calls=[(X, Y), (X * 1e30, Y), (X, Y)], build=True)
def the_step_with_a_scale_itself():
    return nn.TrainOneStepWithLossScaleCell(*parts(), nn.DynamicLossScaleUpdateCell(1024, 2, 1))


def waves(x):
    return ops.exp(ops.sin(x))


def pair(x, y):
    return x * x * y, x - y


@program(X)
def higher_derivatives(x):
    return ops.derivative(waves, x, 3), ops.derivative(pair, (x, x), 2), ops.jet(waves, x, ops.stack((x, x * 0)))


@program(X, grad=0)
def gradient_of_a_derivative(x):
    return ops.derivative(waves, x, 2)[1]


@program(X)
def linear_map(x):
    out, push = ops.linearize(pair, (x, x))
    return out, push((x, x)), push((x * 2, x))


@program(X, X + 1)
def jacobian_cells(x, y):
    return nn.Jvp(pair)(x, y, (y, x)), nn.Vjp(pair)(x, y, (x, y)), nn.Vjp(waves)(x, y), nn.Jvp(waves)(x, y)


class Ensemble(nn.Cell):
    """Three layers of one class."""

    def __init__(self):
        super().__init__()
        self.members = nn.CellList([nn.Dense(2, 2, weight_init=w) for w in ("ones", "zeros", "normal")])

    def construct(self, x):
        each = ops.stack((x, x + 1, x * 2))
        return ms.vmap(self.members, None)(x), ms.vmap(self.members, 0, 1)(each)


@program(X, grad=0, build=True)
def ensemble():
    return Ensemble()


@program(T([[0.0, 5.0, 0.0], [0.0, 0.0, 0.0], [7.0, 0.0, 6.0]]))
def sparse_forms(x):
    coo, csr = x.to_coo(), x.to_csr()
    return coo.to_tuple(), csr.to_tuple(), (-coo).to_dense(), csr.abs().to_dense(), csr.to_coo().indices, csr.size


total = ops.MultitypeFuncGraph("total")


@total.register("Tensor")
def total_of_tensor(x):
    return x.sum()


@total.register("RowTensor")
def total_of_rows(x):
    return x.values.sum()


@total.register("CSRTensor")
def total_of_csr(x):
    return x.values.sum() * 2


@total.register("COOTensor")
def total_of_coo(x):
    return x.values.sum() * 3


@program(X)
def kinds_of_tensors(x):
    rows = ms.RowTensor(ms.Tensor([2, 0]), x, (3, 2))
    return ops.HyperMap()(total, (x, rows, x.to_csr(), x.to_coo())), rows.to_dense()


class Noting(nn.Cell):
    """Notes values for `SummaryRecord` while it computes."""

    def __init__(self):
        super().__init__()
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()

    def construct(self, x):
        y = x * 2
        self.scalar("sum", y.sum())
        if y.sum() > 10:
            self.tensor("large", y)
        return y + 1


@program(calls=[(X,), (X - 3,)], build=True)
def values_that_are_noted():
    net = Noting()

    def run(x):
        y = net(x)
        found = {f"{kind}/{name}": value for (kind, name), value in noted.VALUES.items()}
        noted.VALUES.clear()
        return y, found

    return run


@program(X)
def a_note_without_a_name_error(x):
    return ops.ScalarSummary()("", x.sum())
