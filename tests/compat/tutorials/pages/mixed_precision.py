"""MindSpore's tutorial "Automatic Mix Precision", as it is printed."""

import numpy as np
import mindspore
from mindspore import nn
from mindspore import value_and_grad
from mindspore import Model
from mindspore import dtype as mstype
from mindspore import ops, Tensor
from mindspore.amp import all_finite, DynamicLossScaler, StaticLossScaler, auto_mixed_precision
from mindspore.dataset import vision, transforms
from mindspore.dataset import MnistDataset
from mindspore.train import LossMonitor

# Download data from open datasets
from download import download

url = "https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/" \
      "notebook/datasets/MNIST_Data.zip"
path = download(url, "./", kind="zip", replace=True)

def datapipe(path, batch_size):
    image_transforms = [
        vision.Rescale(1.0 / 255.0, 0),
        vision.Normalize(mean=(0.1307,), std=(0.3081,)),
        vision.HWC2CHW()
    ]
    label_transform = transforms.TypeCast(mindspore.int32)

    dataset = MnistDataset(path)
    dataset = dataset.map(image_transforms, 'image')
    dataset = dataset.map(label_transform, 'label')
    dataset = dataset.batch(batch_size)
    return dataset

train_dataset = datapipe('MNIST_Data/train', batch_size=64)

# Casting by hand

class NetworkFP16Manual(nn.Cell):
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
        x = x.astype(mindspore.float16)
        logits = self.dense_relu_sequential(x)
        logits = logits.astype(mindspore.float32)
        return logits

class NetworkFP16(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.dense_relu_sequential = nn.SequentialCell(
            nn.Dense(28*28, 512).to_float(mstype.float16),
            nn.ReLU(),
            nn.Dense(512, 512).to_float(mstype.float16),
            nn.ReLU(),
            nn.Dense(512, 10).to_float(mstype.float16)
        )

    def construct(self, x):
        x = self.flatten(x)
        logits = self.dense_relu_sequential(x)
        return logits

class NetworkFP32(nn.Cell):
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

x = ops.ones((2, 1, 28, 28), mindspore.float32)
print(NetworkFP16()(x).dtype)
# >> Float16

# Loss scaling

# Instantiate loss function and optimizer
model = auto_mixed_precision(NetworkFP32(), "O2")
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(model.trainable_params(), 1e-2)

# Define LossScaler
loss_scaler = DynamicLossScaler(scale_value=2**10, scale_factor=2, scale_window=50)

def forward_fn(data, label):
    logits = model(data)
    loss = loss_fn(logits, label)
    # scale up the loss value
    loss = loss_scaler.scale(loss)
    return loss, logits

grad_fn = value_and_grad(forward_fn, None, model.trainable_params(), has_aux=True)

@mindspore.jit
def train_step(data, label):
    (loss, _), grads = grad_fn(data, label)
    loss = loss_scaler.unscale(loss)

    is_finite = all_finite(grads)
    if is_finite:
        grads = loss_scaler.unscale(grads)
        optimizer(grads)
    loss_scaler.adjust(is_finite)

    return loss

size = train_dataset.get_dataset_size()
model.set_train()
for batch, (data, label) in enumerate(train_dataset.create_tuple_iterator()):
    loss = train_step(data, label)

    if batch % 100 == 0:
        loss, current = loss.asnumpy(), batch
        print(f"loss: {loss:>7f}  [{current:>3d}/{size:>3d}]")

# `Model` with automatic mixed precision

network = NetworkFP32()
net_loss = nn.CrossEntropyLoss()
net_opt = nn.SGD(network.trainable_params(), 1e-2)
model = Model(network, net_loss, net_opt, metrics=None, amp_level="O3")

loss_callback = LossMonitor(100)
model.train(2, train_dataset, callbacks=[loss_callback])

# with a loss scaling manager

from mindspore.amp import FixedLossScaleManager, DynamicLossScaleManager

loss_scale_manager = FixedLossScaleManager(1024., False)
network = NetworkFP32()
net_opt = nn.SGD(network.trainable_params(), learning_rate=1e-2, loss_scale=1024.)
model = Model(network, net_loss, net_opt, amp_level="O0", loss_scale_manager=loss_scale_manager)
model.train(1, train_dataset, callbacks=[loss_callback])
print("Done!")
# >> Done!
