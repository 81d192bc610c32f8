"""Words as numbers, and what cuts texts into words."""

import numpy as np
import pytest

import duograph as ms
import duograph.dataset as ds
from duograph.dataset import text


def test_tokenizers():
    assert text.WhitespaceTokenizer()("a  bc\td").tolist() == ["a", "bc", "d"]
    assert text.UnicodeCharTokenizer()("aé好").tolist() == ["a", "é", "好"]
    assert text.PythonTokenizer(lambda s: s.split(","))(np.array("a,b")).tolist() == ["a", "b"]
    assert text.WhitespaceTokenizer()(" ").tolist() == [""]
    with pytest.raises(RuntimeError, match="should be string"):
        text.WhitespaceTokenizer()(np.array(3))
    with pytest.raises(TypeError, match="callable"):
        text.PythonTokenizer(3)


@pytest.fixture
def words():
    rows = ["b a b", "c b c", "a"]
    return ds.GeneratorDataset(rows, "text", shuffle=False).map(text.WhitespaceTokenizer(), "text")


def test_vocab_of_a_dataset(words):
    assert text.Vocab.from_dataset(words).vocab() == {"b": 0, "a": 1, "c": 2}
    vocab = text.Vocab.from_dataset(words, "text", top_k=2, special_tokens=["<pad>"], special_first=False)
    assert vocab.vocab() == {"b": 0, "a": 1, "<pad>": 2}
    assert text.Vocab.from_dataset(words, ["text"], freq_range=(3, None)).vocab() == {"b": 0}


def test_vocabs_of_other_sources(tmp_path):
    (tmp_path / "words").write_text("x,1\ny,2\nz,3\n")
    vocab = text.Vocab.from_file(str(tmp_path / "words"), ",", 2, ["<unk>"])
    assert vocab.vocab() == {"<unk>": 0, "x": 1, "y": 2}
    assert vocab.tokens_to_ids(["y", "q"]) == [2, -1] and vocab.tokens_to_ids("x") == 1
    assert vocab.ids_to_tokens([1, 9]) == ["x", ""] and vocab.ids_to_tokens(np.array([0])) == ["<unk>"]
    assert text.Vocab.from_dict({"q": 7}).tokens_to_ids("q") == 7
    with pytest.raises(ValueError, match="duplicate"):
        text.Vocab.from_list(["a", "a"])
    with pytest.raises(TypeError):
        text.Vocab.from_dict({"a": "b"})
    with pytest.raises(ValueError, match="interval"):
        vocab.ids_to_tokens(-1)


def test_lookup(words):
    vocab = text.Vocab.from_list(["a", "b"], ["<unk>"])
    rows = words.map(text.Lookup(vocab, "<unk>"), "text").create_tuple_iterator(output_numpy=True)
    assert [row[0].tolist() for row in rows] == [[2, 1, 2], [0, 2, 0], [1]]
    assert text.Lookup(vocab, data_type=ms.int64)(np.array(["b"])).dtype == np.int64
    with pytest.raises(RuntimeError, match=r"word \[c\] does not exist"):
        text.Lookup(vocab)(np.array(["a", "c"]))
    with pytest.raises(ValueError, match="unknown_token"):
        text.Lookup(vocab, "c")
    with pytest.raises(TypeError):
        text.Lookup({})


def test_texts_of_rows_are_asked_for_their_contents_as_tensors_are():
    data = ds.NumpySlicesDataset({"text": ["x", "yy"], "n": [1, 2]}, shuffle=False)
    rows = [(row["text"].asnumpy().item(), row["n"].asnumpy().item()) for row in data.create_dict_iterator()]
    assert rows == [("x", 1), ("yy", 2)]
    (texts, _), = data.batch(2).create_tuple_iterator()  # fmt: skip
    assert texts.asnumpy().tolist() == ["x", "yy"] and type(texts.asnumpy()) is np.ndarray


def test_windows_and_encodings():
    pairs = ds.NumpySlicesDataset([["a", "b", "c"]], "text", shuffle=False).map(text.SlidingWindow(2, 0), "text")
    (row,) = next(iter(pairs.create_tuple_iterator(output_numpy=True)))
    assert row.tolist() == [["a", "b"], ["b", "c"]]
    encoded = text.to_bytes(np.array(["häuser"]))
    assert encoded.dtype.kind == "S" and text.to_str(encoded).tolist() == text.to_str(np.array(["häuser"])).tolist()
    for bad, error in ((lambda: text.SlidingWindow(0), ValueError), (lambda: text.SlidingWindow("2"), TypeError)):
        with pytest.raises(error, match="width"):
            bad()
    with pytest.raises(TypeError, match="NumPy array"):
        text.to_str(b"a")
