"""What cuts texts into tokens, what changes texts, and words as vectors, as MindSpore's documentation says."""

import numpy as np
import pytest

import duograph as ms
import duograph.dataset as ds
from duograph.dataset import text

PIECES = text.Vocab.from_list(
    "床 前 明 月 光 i am mak ##ing small mistake ##s during work ##hour 繁 體 字 [CLS] [UNK]".split()
)


def test_pieces_of_bert():
    bert = text.BertTokenizer(PIECES)
    assert bert("床前明月光").tolist() == list("床前明月光")
    words = "i am mak ##ing small mistake ##s during work ##hour ##s".split()
    assert bert("i am making small mistakes during workhours").tolist() == words
    assert bert("[CLS]i am xyz, i").tolist() == ["[CLS]", "i", "am", "[UNK]", "[UNK]", "i"]
    assert text.BertTokenizer(PIECES, lower_case=True, unknown_token="")("I AM Ünknown").tolist() == [
        "i",
        "am",
        "unknown",
    ]
    assert text.WordpieceTokenizer(PIECES, max_bytes_per_token=3)(["am", "work"]).tolist() == ["am", "[UNK]"]


def test_offsets_are_bytes():
    words, starts, limits = text.BertTokenizer(PIECES, with_offsets=True)("床 making")
    assert words.tolist() == ["床", "mak", "##ing"] and starts.dtype == np.uint32
    assert starts.tolist() == [0, 4, 7] and limits.tolist() == [3, 7, 10]
    rows = ds.NumpySlicesDataset(["to é!"], ["text"]).map(
        text.RegexTokenizer(r"\s+|\p{P}", r"\p{P}", with_offsets=True), "text", ["token", "from", "to"]
    )
    row = next(rows.create_dict_iterator(output_numpy=True))
    assert (
        row["token"].tolist() == ["to", "é", "!"]
        and row["from"].tolist() == [0, 3, 5]
        and row["to"].tolist() == [2, 5, 6]
    )


def test_basic_tokens():
    assert text.BasicTokenizer(True)("[CLS]Ünï Café’s\tOK [unused3]!").tolist() == [
        "[CLS]", "uni", "cafe", "’", "s", "ok", "[unused3]", "!",
    ]  # fmt: skip
    assert text.BasicTokenizer(keep_whitespace=True)("a  b.").tolist() == ["a", "  ", "b", "."]
    assert text.BasicTokenizer(preserve_unused_token=False)("[CLS]").tolist() == ["[", "CLS", "]"]
    with pytest.raises(TypeError, match="lower_case"):
        text.BasicTokenizer(lower_case=1)


def test_patterns():
    assert text.RegexTokenizer(r"[\p{P}\s]+")("a, b—c d").tolist() == ["a", "b", "c", "d"]
    assert str(text.RegexReplace("(a)(b)", r"$2\$$1")("xabab")) == "xb$ab$a"
    assert text.RegexReplace("a", "b", replace_all=False)(["aa", "ca"]).tolist() == ["ba", "cb"]
    for wrong in ("(", r"\p{Q}", "[[a]b]"):
        with pytest.raises(RuntimeError, match="RegexReplace|general category"):
            text.RegexReplace(wrong, "")


def test_texts_made_anew():
    assert str(text.CaseFold()("Straße ﬁ A\u00ad")) == "strasse fi a"
    assert str(text.NormalizeUTF8()("①")) == "1" and len(str(text.NormalizeUTF8(text.NormalizeForm.NFD)("é"))) == 2
    assert text.ToNumber(ms.int8)(["1", "-2"]).tolist() == [1, -2]
    with pytest.raises(RuntimeError, match="not a number of type int8"):
        text.ToNumber(ms.int8)("300")


def test_rows_of_words():
    assert text.Ngram([2, 4])(["a", "b", "c"]).tolist() == ["a b", "b c", ""]
    assert text.Ngram(3, ("_", 9), ("-", 1), "")(["a"]).tolist() == ["__a", "_a-"]
    assert text.AddToken("E", begin=False)([["a"], ["b"]]).tolist() == [["a", "E"], ["b", "E"]]
    assert text.Truncate(2)([1, 2, 3]).tolist() == [1, 2]
    pairs = [(4, 5, 2), (3, 3, 2), (3, 3, 3), (2, 1, 4), (9, 3, 3)]
    for longest, one, two in pairs:
        sizes = [one, two]
        while sum(sizes) > longest:
            sizes[0 if sizes[0] > sizes[1] else 1] -= 1
        cut = text.TruncateSequencePair(longest)(np.arange(one), np.arange(two))
        assert [c.size for c in cut] == sizes, (longest, one, two)


def test_words_as_vectors(tmp_path):
    (tmp_path / "glove.txt").write_text("ok 0.5 0.25\nthis 1 2\nok 9 9\n")
    (tmp_path / "wiki.vec").write_text("2 2\nok 0.5 0.25\nthis 1 2\n")
    glove = text.GloVe.from_file(str(tmp_path / "glove.txt"))
    assert text.ToVectors(glove, [7, 7], lower_case_backup=True)(["OK", "no"]).tolist() == [[0.5, 0.25], [7, 7]]
    assert text.ToVectors(text.FastText.from_file(str(tmp_path / "wiki.vec")))("this").tolist() == [1, 2]
    assert text.ToVectors(text.Vectors.from_file(str(tmp_path / "glove.txt"), 1))(["this"]).tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="same length as vectors"):
        text.ToVectors(glove, [1.0])("ok")
    (tmp_path / "bad.txt").write_text("a 1 2\nb 1\n")
    for name in ("bad.txt", "wiki.vec", "none.txt"):
        with pytest.raises(RuntimeError, match="GloVe"):
            text.GloVe.from_file(str(tmp_path / name))


def test_texts_print_as_tensors_of_strings():
    rows = ds.GeneratorDataset(["to be"], "text").map(text.WhitespaceTokenizer(), "text")
    assert repr(next(rows.create_tuple_iterator())) == "[Tensor(shape=[2], dtype=String, value= ['to', 'be'])]"
