"""Text classification: reviews in the folders of IMDB, a vocabulary, padded batches, an LSTM, early stopping.

Reviews are put together from phrases of both kinds (the real data set has the same folders: pass them with
``--folder``). Words that are rare or new are one word. The network that was best is kept, loaded again and asked.

    python examples/reviews.py
"""

import argparse
import hashlib
import tempfile
from pathlib import Path

import numpy as np

import duograph as ms
import duograph.dataset as ds
from duograph import Tensor, nn, ops
from duograph.dataset import text

GOOD = ("a wonderful film", "moving and funny", "the cast is superb", "I would watch it again", "never dull")
BAD = ("a waste of time", "dull and predictable", "the cast is lost", "I would never watch it again", "not funny")
NEUTRAL = ("it lasts two hours", "the music is by somebody new", "I saw it on a monday", "there are many trains in it")
LENGTH = 24


def write_reviews(folder, count):
    """``count`` reviews of each kind and use, as IMDB has them: ``train/pos/0_9.txt``."""
    random = np.random.default_rng(5)
    for use in ("train", "test"):
        for name, phrases in (("pos", GOOD), ("neg", BAD)):
            (folder / use / name).mkdir(parents=True, exist_ok=True)
            for number in range(count):
                said = [*random.choice(phrases, 2, replace=False), *random.choice(NEUTRAL, 2)]
                random.shuffle(said)
                (folder / use / name / f"{number}_9.txt").write_text(". ".join(said))


def reviews(folder, use, vocabulary):
    """Batches of word numbers and labels."""
    data = ds.IMDBDataset(str(folder), use, shuffle=use == "train")
    words = [text.WhitespaceTokenizer(), text.Lookup(vocabulary, unknown_token="<unk>")]
    data = data.map([lambda line: np.array(str(line).lower().replace(".", " ")), *words], "text")
    return data.map(lambda row: row[:LENGTH], "text").padded_batch(16, pad_info={"text": ([LENGTH], 0)})


class Reader(nn.Cell):
    """Words, an LSTM, and what it says at the end."""

    def __init__(self, words):
        super().__init__()
        self.words = nn.Embedding(words, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, 16, batch_first=True, bidirectional=True)
        self.head = nn.Dense(32, 2)

    def construct(self, ids):
        states, _ = self.lstm(self.words(ids))
        return self.head(ops.amax(states, 1))


def run(folder, epochs):
    """Accuracy, a digest of the weights, and what the network says of two sentences."""
    ms.set_seed(3)
    lines = ds.IMDBDataset(str(folder), "train", shuffle=False)
    lines = lines.map([lambda line: np.array(str(line).lower().replace(".", " ")), text.WhitespaceTokenizer()], "text")
    vocabulary = text.Vocab.from_dataset(lines, "text", freq_range=(2, None), special_tokens=["<pad>", "<unk>"])
    network = Reader(len(vocabulary.vocab()))
    optimizer = nn.Adam(network.trainable_params(), learning_rate=1e-2)
    model = ms.Model(network, nn.CrossEntropyLoss(), optimizer, metrics={"accuracy"})
    with tempfile.TemporaryDirectory() as kept:
        best = str(Path(kept) / "best.safetensors")
        accuracy = 0.0
        for _ in range(epochs):
            model.train(1, reviews(folder, "train", vocabulary))
            now = model.eval(reviews(folder, "test", vocabulary))["accuracy"]
            if now > accuracy:
                accuracy = now
                ms.save_checkpoint(network, best, format="safetensors")
            if accuracy == 1:
                break
        again = Reader(len(vocabulary.vocab())).set_train(False)
        ms.load_checkpoint(best, again, strict_load=True, format="safetensors")
    said = []
    for line in ("never dull I would watch it again", "predictable and a waste of time"):
        ids = [i if i >= 0 else 1 for i in vocabulary.tokens_to_ids(line.lower().split())]
        ids += [0] * (LENGTH - len(ids))
        said.append("good" if int(again(Tensor([ids], ms.int32)).argmax()) == 1 else "bad")
    weights = b"".join(parameter.asnumpy().tobytes() for parameter in again.get_parameters())
    return accuracy, hashlib.sha256(weights).hexdigest()[:16], said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="a folder of IMDB; without it, reviews are made up")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--graph", action="store_true", help="graph mode; the results have the same bits")
    given = parser.parse_args()
    if given.graph:
        ms.set_context(mode=ms.GRAPH_MODE)
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        if given.folder is None:
            write_reviews(folder, 60)
        accuracy, digest, said = run(folder, given.epochs)
    print(f"accuracy: {accuracy:.0%}, two sentences: {', '.join(said)}, bits: {digest}")


if __name__ == "__main__":
    main()
