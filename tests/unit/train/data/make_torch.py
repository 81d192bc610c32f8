"""Makes the files of this folder with PyTorch: ``python make_torch.py`` (2.13 was used). Tests only read them."""

from pathlib import Path

import torch
from torch import nn

HERE = Path(__file__).parent


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.conv1d = nn.Conv1d(4, 4, 3, padding=1)
        self.act = nn.PReLU()
        self.norm = nn.LayerNorm(4)
        self.lstm = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(6, 3, batch_first=True)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.fc = nn.Linear(3, 2)
        self.embedding = nn.Embedding(5, 4)

    def forward(self, x, ids):
        x = self.act(self.bn(self.conv(x)))
        x = self.conv1d(x.flatten(2)).transpose(1, 2)
        x = self.norm(x) + self.embedding(ids)
        x = self.attention(x, x, x, need_weights=False)[0]
        return self.fc(self.gru(self.lstm(x)[0])[0])


torch.manual_seed(0)
net = Net()
x, ids = torch.randn(2, 2, 3, 3), torch.arange(18).reshape(2, 9) % 5
net(x, ids)  # the statistics of the batch norm move
net.eval()
state = net.state_dict()
state["input.x"], state["input.ids"], state["output"] = x, ids, net(x, ids).detach()
torch.save(state, HERE / "net.pth")
torch.save(state, HERE / "net_legacy.pth", _use_new_zipfile_serialization=False)

base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
kinds = ["float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "uint16"]
torch.save(
    {
        "views": [base, base.t(), base[1:, ::2], base[2], torch.empty(0, 3), torch.tensor(2.5)],
        "parameter": nn.Parameter(base),
        "dtypes": {kind: torch.arange(3).to(getattr(torch, kind)) for kind in kinds},
        "float8": torch.tensor([1.0, -2.0]).to(torch.float8_e4m3fn),
        "plain": (1, 2.5, "text", None, True, [2**70], {"k": b"bytes"}, {1, 2}, 1 + 2j),
        "size": base.shape, "device": base.device, "numpy": base.numpy().mean(), "repeated": base[0].expand(3, 6),
    },
    HERE / "kinds.pt",
)  # fmt: skip
torch.save(nn.Linear(1, 1), HERE / "module.pt")
torch.save({"epoch": 3, "state_dict": {f"module.{k}": v for k, v in nn.Linear(2, 2).state_dict().items()},
            "optimizer": torch.optim.Adam(net.parameters()).state_dict()}, HERE / "checkpoint.pt")  # fmt: skip
