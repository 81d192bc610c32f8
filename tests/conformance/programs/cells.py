"""Cells, Parameters and their effects (syntax notes, section 8)."""

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.conformance.harness import T, program

X = T([[1.0, 2.0], [3.0, 4.0]])


@program(X, grad=0, build=True)
def dense():
    return nn.Dense(2, 3, weight_init="ones", bias_init="zeros")


@program(X, grad=0, build=True)
def random_weights_are_the_same():
    return nn.SequentialCell(nn.Dense(2, 4), nn.ReLU(), nn.Dense(4, 2))


class Net(nn.Cell):
    """Members of many kinds."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(2, 2, weight_init="ones")
        self.layers = nn.CellList([nn.ReLU(), nn.Sigmoid()])
        self.w = Parameter(Tensor([1.0, 2.0], ms.float32), name="w")
        self.factor = 2
        self.add = ops.Add()

    def helper(self, x):
        return x * self.w

    @property
    def doubled(self):
        return self.factor * 2

    @staticmethod
    def shift(x):
        return x - 1

    def construct(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return self.add(self.helper(self.shift(x)), self.doubled)


@program(X, grad=0, build=True)
def cell_with_members():
    return Net()


@program(X, grad=0, build=True)
def cells_by_index():
    class Pick(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cells_ = nn.CellList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
            self.table = nn.CellDict({"a": nn.Tanh()})

        def construct(self, x):
            return self.cells_[0](x) + self.cells_[-1](x) + self.table["a"](x) + len(self.cells_)

    return Pick()


class Counter(nn.Cell):
    """Counts its calls in a Parameter and in a Python attribute."""

    def __init__(self):
        super().__init__()
        self.total = Parameter(Tensor([0.0], ms.float32), name="total", requires_grad=False)
        self.calls = 0

    def construct(self, x):
        self.calls += 1
        ops.assign_add(self.total, x.sum().reshape(1))
        return x * self.total, self.calls


@program(calls=[(X,), (X,), (X,)], build=True)
def parameter_and_attribute_updates():
    return Counter()


@program(X, build=True)
def read_write_read_order():
    p = Parameter(Tensor([1.0], ms.float32), name="p")

    def f(x):
        before = p + 0
        ops.assign(p, p * 3)
        middle = p + 0
        p.set_data(Tensor([10.0], ms.float32))
        return before, middle, p + x

    return f


@program(calls=[(T([1.0]),), (T([-1.0]),)], build=True)
def assign_in_branch():
    p = Parameter(Tensor([1.0], ms.float32), name="p")

    def f(x):
        if x.sum() > 0:
            ops.assign(p, p + x)
        else:
            ops.assign(p, p * 5)
        return p * 2

    return f


@program(T([1.0]), build=True, choice=True)
def param_assign_in_loop():
    p = Parameter(Tensor([1.0], ms.float32), name="p")

    def f(x):
        while p.sum() < 20:
            ops.assign(p, p * 2)
            x = x + p
        return x, p + 0

    return f


@program(T([2.0]), grad=0, build=True)
def gradient_of_an_overwritten_parameter():
    p = Parameter(Tensor([1.0], ms.float32), name="p")

    def f(x):
        ops.assign(p, Tensor([3.0], ms.float32))
        y = x * p
        ops.assign(p, Tensor([100.0], ms.float32))
        return y * x

    return f


@program(T([1.0]), build=True)
def parameter_attribute_assignment():
    class Holder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0], ms.float32), name="w")

        def construct(self, x):
            self.w = self.w + x
            return self.w * 2

    return Holder()


@program(X, build=True)
def returned_parameter():
    p = Parameter(Tensor([1.0], ms.float32), name="p")
    return lambda x: p


@program(calls=[(X,), (X,)], build=True)
def list_attribute_append():
    class Log(nn.Cell):
        def __init__(self):
            super().__init__()
            self.seen = []

        def construct(self, x):
            self.seen.append(x.shape)
            return x, len(self.seen)

    return Log()


@program(X, build=True)
def tensor_attribute():
    class Keep(nn.Cell):
        def construct(self, x):
            self.last = x * 2
            return self.last + 1

    net = Keep()

    def f(x):
        return net(x), net.last

    return f


@program(X, build=True)
def cell_made_inside():
    def f(x):
        return nn.Dense(2, 3)(x), nn.ReLU()(x)

    return f


@program(calls=[(X,), (X,)], build=True)
def cell_made_inside_is_new_each_time():
    def f(x):
        return nn.Dense(2, 1)(x)

    return f


@program(X, build=True)
def parameter_lists_inside():
    net = Net()

    def f(x):
        names = [p.name for p in net.trainable_params()]
        total = 0
        for p in net.get_parameters():
            total = total + p.sum()
        return names, total * x

    return f


@program(X, grad=0, build=True)
def custom_bprop():
    class Clipped(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (ops.ones_like(x) * 100,)

    return Clipped()


@program(X, grad=0, build=True)
def forward_hooks():
    net = nn.SequentialCell(nn.ReLU(), nn.Sigmoid())

    def double(cell, inputs, output):
        return output * 2

    def add_one(cell, inputs):
        return (inputs[0] + 1,)

    net[0].register_forward_hook(double)
    net[1].register_forward_pre_hook(add_one)
    return net


@program(X, grad=0, build=True)
def forward_hook_of_the_cell_itself():
    net = nn.ReLU()
    net.register_forward_hook(lambda cell, inputs, output: output * 3)
    net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1,))
    return net


@program(X, grad=0, build=True, captured=False)
def backward_hook():
    net = nn.SequentialCell(nn.ReLU(), nn.Sigmoid())

    def triple(cell, grad_input, grad_output):
        return (grad_input[0] * 3,)

    net[0].register_backward_hook(triple)
    return net


@program(X, grad=0, captured=False)
def tensor_hook(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)
    return y * y


@program(X, grad=0)
def insert_gradient_of(x):
    return ops.InsertGradientOf(lambda g: g * 7)(x * 2)


@program(X, grad=0)
def stop_gradient(x):
    return x * ops.stop_gradient(x * x) + ops.stop_gradient(x)


@program(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]], ms.float32), grad=0, build=True)
def convolution_and_norm_in_evaluation():
    return nn.SequentialCell(nn.Conv2d(1, 2, 2, pad_mode="valid", weight_init="ones"), nn.BatchNorm2d(2), nn.ReLU())


@program(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]], [[[0.0, 1.0], [5.0, 2.0]]]], ms.float32), grad=0, build=True)
def batch_norm_in_training_updates_statistics():
    net = nn.BatchNorm2d(1).set_train()

    def f(x):
        return net(x), net.moving_mean + 0, net.moving_variance + 0

    return f


@program(X, build=True)
def dropout_follows_the_training_flag():
    net = nn.Dropout(p=0.5)

    def f(x):
        net.set_train(False)
        same = net(x)
        net.set_train(True)
        return same, net(x)

    return f


@program(X, grad=0, build=True)
def inner_jit_construct():
    class Inner(nn.Cell):
        @ms.jit
        def construct(self, x):
            return x * x

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def construct(self, x):
            return self.inner(x + 1) * 2

    return Outer()


@program(X, grad=0, build=True)
def inheritance():
    class Base(nn.Cell):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def construct(self, x):
            return x * self.k

    class Derived(Base):
        def __init__(self):
            super().__init__(3)

        def construct(self, x):
            return super().construct(x) + super(Derived, self).construct(x)

    return Derived()


@program(X, grad=0, build=True)
def overridden_call():
    class Twice(nn.Cell):
        def __call__(self, x):
            return self.construct(x) * 2

        def construct(self, x):
            return x + 1

    inner = Twice()
    return lambda x: inner(x)


@program(X, build=True)
def keyword_arguments_of_construct():
    class Keyword(nn.Cell):
        def construct(self, x, *more, scale=2, **rest):
            return x * scale + len(more) + rest.get("bias", 0)

    net = Keyword()
    return lambda x: (net(x), net(x, 1, scale=3), net(x, bias=5))


@program(X, build=True)
def training_step():
    net = nn.Dense(2, 1, weight_init="ones")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    loss_and_grads = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    def step(x):
        loss, grads = loss_and_grads(x)
        optimizer(grads)
        return loss, net.weight + 0

    return step


@program(calls=[(X,)] * 3, build=True)
def three_adam_steps():
    net = nn.SequentialCell(nn.Dense(2, 4), nn.Tanh(), nn.Dense(4, 1))
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    loss_and_grads = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

    def step(x):
        loss, grads = loss_and_grads(x)
        optimizer(grads)
        return loss, *[p + 0 for p in net.get_parameters()]

    return step


class CallsThePrimitive(nn.LayerNorm):
    """A layer of a user's own that calls what MindSpore's layer holds."""

    def construct(self, x):
        y, _, _ = self.layer_norm(x, self.gamma, self.beta)
        return y


class ScaledConvolution(nn.Conv2d):
    """Weight standardisation is written this way."""

    def construct(self, x):
        return self.bias_add(self.conv2d(x, self.weight * 2), self.bias)


@program(X, grad=0, build=True)
def primitives_that_layers_hold():
    conv = ScaledConvolution(1, 2, 2, stride=2, has_bias=True, weight_init="ones", bias_init="ones")
    norm = CallsThePrimitive((2,), epsilon=1e-5)
    return lambda x: conv(norm(x)[None, None])


class Counts(nn.Cell):
    """A counter that is a Parameter and set to numbers, as MindSpore's graph mode allows."""

    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(0, ms.int32), name="count")
        self.share = Parameter(Tensor(0.0), name="share")

    def construct(self, x):
        self.count += 1
        if self.count >= 2:
            self.count = 0
            self.share = 1
        return x * self.count, self.share + 0.5


@program(X, build=True)
def numbers_assigned_to_parameters():
    cell = Counts()
    return lambda x: [cell(x) for _ in range(3)]


@program(X, build=True, captured=False)
def number_assigned_to_a_parameter_of_another_kind_error():
    cell = Counts()

    def assigns(x):
        cell.count = 0.5
        return x

    return assigns


class Asked(nn.Cell):
    """Its ``__getattribute__`` leaves what it does not know to that of `Cell`, which has a ``__getattr__``, too."""

    def __init__(self):
        super().__init__()
        self.inner = nn.ReLU()
        self.weight = Parameter(T([2.0, 3.0]), name="weight")

    def __getattribute__(self, name):
        return 2.5 if name == "gain" else super().__getattribute__(name)

    def construct(self, x):
        return self.inner(x) * self.gain + self.weight * getattr(self, "missing", 3)


@program(calls=[(T([1.0, -2.0]),), (T([3.0, 4.0]),)], captured=False, build=True)
def own_getattribute_in_front_of_that_of_cell():
    return Asked()
