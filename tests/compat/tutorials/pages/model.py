"""MindSpore's tutorial "Model" (building a network), as it is printed."""

import mindspore
from mindspore import nn, ops

# Defining a model class

class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.dense_relu_sequential = nn.SequentialCell(
            nn.Dense(28*28, 512, weight_init="normal", bias_init="zeros"),
            nn.ReLU(),
            nn.Dense(512, 512, weight_init="normal", bias_init="zeros"),
            nn.ReLU(),
            nn.Dense(512, 10, weight_init="normal", bias_init="zeros")
        )

    def construct(self, x):
        x = self.flatten(x)
        logits = self.dense_relu_sequential(x)
        return logits

model = Network()
print(model)
# >> Network(
# >>   (flatten): Flatten()
# >>   (dense_relu_sequential): SequentialCell(
# >>     (0): Dense(input_channels=784, output_channels=512, has_bias=True)
# >>     (1): ReLU()

X = ops.ones((1, 28, 28), mindspore.float32)
logits = model(X)
# print logits
logits

pred_probab = nn.Softmax(axis=1)(logits)
y_pred = pred_probab.argmax(1)
print(f"Predicted class: {y_pred}")

# Model layers

input_image = ops.ones((3, 28, 28), mindspore.float32)
print(input_image.shape)
# >> (3, 28, 28)

flatten = nn.Flatten()
flat_image = flatten(input_image)
print(flat_image.shape)
# >> (3, 784)

layer1 = nn.Dense(in_channels=28*28, out_channels=20)
hidden1 = layer1(flat_image)
print(hidden1.shape)
# >> (3, 20)

print(f"Before ReLU: {hidden1}\n\n")
hidden1 = nn.ReLU()(hidden1)
print(f"After ReLU: {hidden1}")

seq_modules = nn.SequentialCell(
    flatten,
    layer1,
    nn.ReLU(),
    nn.Dense(20, 10)
)

logits = seq_modules(input_image)
print(logits.shape)
# >> (3, 10)

softmax = nn.Softmax(axis=1)
pred_probab = softmax(logits)

# Model parameters

print(f"Model structure: {model}\n\n")

for name, param in model.parameters_and_names():
    print(f"Layer: {name}\nSize: {param.shape}\nValues : {param[:2]} \n")
# >> Layer: dense_relu_sequential.0.weight
# >> Size: (512, 784)
# >> Layer: dense_relu_sequential.4.bias
# >> Size: (10,)
# >> Values : [0. 0.]
