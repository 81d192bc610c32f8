"""MindSpore's tutorial "Accelerating with Static Graph", as it is printed."""

import numpy as np
import mindspore as ms
from mindspore import nn, Tensor

# Dynamic graph mode

ms.set_context(mode=ms.PYNATIVE_MODE)  # set dynamic graph mode by set_context

class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.dense_relu_sequential = nn.SequentialCell(
            nn.Dense(28*28, 512),
            nn.ReLU(),
            nn.Dense(512, 512),
            nn.ReLU(),
            nn.Dense(512, 10)
        )

    def construct(self, x):
        x = self.flatten(x)
        logits = self.dense_relu_sequential(x)
        return logits

model = Network()
input = Tensor(np.ones([64, 1, 28, 28]).astype(np.float32))
output = model(input)
print(output.shape)
# >> (64, 10)

# Static graph mode

ms.set_context(mode=ms.GRAPH_MODE)  # set static graph mode by set_context

model = Network()
input = Tensor(np.ones([64, 1, 28, 28]).astype(np.float32))
output = model(input)
print(output.shape)
# >> (64, 10)

# Decorator-based enabling

ms.set_context(mode=ms.PYNATIVE_MODE)

input = Tensor(np.ones([64, 1, 28, 28]).astype(np.float32))

@ms.jit  # use ms.jit decorator to run as a static graph
def run(x):
    model = Network()
    return model(x)

output = run(input)
print(output.shape)

# Function transformation

model = Network()

def run(x):
    return model(x)

run_with_jit = ms.jit(run)  # transform the function to be executed as a static graph by calling jit
output = run(input)
print(output.shape)
# >> (64, 10)
print((run_with_jit(input) == output).all())
# >> True

# Cell-level

class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.dense_relu_sequential = nn.SequentialCell(
            nn.Dense(28*28, 512),
            nn.ReLU(),
            nn.Dense(512, 512),
            nn.ReLU(),
            nn.Dense(512, 10)
        )

    @ms.jit  # use ms.jit decorator to run as a static graph
    def construct(self, x):
        x = self.flatten(x)
        logits = self.dense_relu_sequential(x)
        return logits

input = Tensor(np.ones([64, 1, 28, 28]).astype(np.float32))
model = Network()
output = model(input)
print(output.shape)
# >> (64, 10)

# Training with static graph: the context and the whole training step

ms.set_context(mode=ms.GRAPH_MODE)

loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(model.trainable_params(), 1e-2)

def forward_fn(data, label):
    logits = model(data)
    loss = loss_fn(logits, label)
    return loss, logits

grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

@ms.jit
def train_step(data, label):
    (loss, _), grads = grad_fn(data, label)
    optimizer(grads)
    return loss

label = Tensor(np.arange(64) % 10, ms.int32)
losses = [float(train_step(input, label)) for _ in range(3)]
print(losses[2] < losses[0])
# >> True

# JIT syntax level

ms.set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT)
ms.set_context(jit_syntax_level=ms.LAX)
