"""Our WordPiece against the `tokenizers` library, of which it must give the pieces."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece as Model
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from spiral.backends.minilm import VOCABULARY
from spiral.backends.wordpiece import CACHED_WORDS, LONGEST_TEXT, WordPiece

PIECES = VOCABULARY.read_text(encoding="utf-8").removesuffix("\n").split("\n")
CLS, SEP, UNK = 101, 102, 100


def reference() -> Tokenizer:
    ids = {piece: position for position, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(Model(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True
    )
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", SEP), ("[CLS]", CLS))
    tokenizer.enable_truncation(256)
    return tokenizer


THEIRS = reference()
OURS = WordPiece(PIECES)


def stable(char: str) -> bool:
    """Whether the class of a character is the same in the oldest Unicode that Python knows and in its own."""
    return unicodedata.ucd_3_2_0.category(char) == unicodedata.category(char)


TEXT = st.text(st.characters(exclude_categories=["Cs"]).filter(stable), max_size=200)
WORDS = st.lists(st.sampled_from([piece.removeprefix("##") for piece in PIECES]), max_size=300)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\r\n ",
        "def embed(self, texts: Sequence[str]) -> Vectors:\n\treturn np.zeros((len(texts), 384))  # noqa: S101",
        "src/spiral/backends/minilm.py:42: error: Name 'numpy' is not defined [name-defined]",
        "C:\\Users\\me\\AppData\\Local\\Temp\\x_y-z.tar.gz --dry-run=true && rm -rf ~/.cache/**/*.pyc",
        "SHA 8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6 + 0xDEADBEEF",
        "Crème brûlée à la façon de Zoë; naïve coöperation; Ångström; ŁÓDŹ; İstanbul; ﬁnance",
        "ΟΔΥΣΣΕΥΣ Σίσυφος στροφές",
        "数据库连接失败，请重试。日本語テスト 한국어 시험 漢字かな交じり文 豈更",
        "Привет, мир! Ёлка. שלום עולם مرحبا بالعالم नमस्ते ไทย",
        "deploy 🚀🔥 👩‍👩‍👧 flag 🇩🇪 ok✅",
        "zero\u200bwidth\u200dnon\ufeffbreaking\u00a0space\u2028line\u3000wide",
        "nul\x00bell\x07esc\x1b[31m del\x7f nel\x85 \ufffd soft\u00adhyphen",
        "a" * 100,
        "a" * 101,
        "supercalifragilisticexpialidocious " * 60,
        "“quoted” – dash — it’s ‘fine’… §4 ¶ 50€ ½ ² ™ © _under_ `tick` ^ ~ | $",
    ],
)
def test_hand_picked_texts_give_the_pieces_of_the_library(text: str) -> None:
    assert OURS.encode(text) == THEIRS.encode(text).ids


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_any_text_gives_the_pieces_of_the_library(text: str) -> None:
    assert OURS.encode(text) == THEIRS.encode(text).ids


@settings(max_examples=100, deadline=None)
@given(WORDS)
def test_any_words_of_the_vocabulary_give_the_pieces_of_the_library(words: list[str]) -> None:
    text = " ".join(words)
    assert OURS.encode(text) == THEIRS.encode(text).ids


def test_every_character_of_the_first_plane_gives_the_pieces_of_the_library() -> None:
    chars = [char for char in map(chr, range(0x10000)) if stable(char) and unicodedata.category(char) != "Cs"]
    texts = [f"a{char}b {char}" for char in chars]
    theirs = [encoding.ids for encoding in THEIRS.encode_batch(texts)]
    assert [char for char, text, ids in zip(chars, texts, theirs, strict=True) if OURS.encode(text) != ids] == []


def test_special_tokens_in_a_text_are_plain_words() -> None:
    assert not {CLS, SEP} & set(OURS.encode("[CLS] ignore this [SEP] [PAD]")[1:-1])


def test_lone_surrogates_are_dropped() -> None:
    assert OURS.encode("a\ud800b \udfff") == OURS.encode("ab")


def test_a_text_is_cut_to_the_limit_with_its_end_mark() -> None:
    ids = OURS.encode("word " * 1_000)
    assert (len(ids), ids[0], ids[-1]) == (256, CLS, SEP)


@pytest.mark.parametrize("text", ["word and path/to/file.py " * 400_000, "x" * 10_000_000, "\u200b" * 10_000_000])
def test_ten_megabytes_take_no_longer_than_their_beginning(text: str) -> None:
    before = time.perf_counter()
    ids = OURS.encode(text)
    assert time.perf_counter() - before < 0.2
    assert ids == OURS.encode(text[:LONGEST_TEXT])


def test_the_memory_of_words_is_bounded_and_forgetting_changes_nothing() -> None:
    tokenizer = WordPiece(PIECES)
    first = tokenizer.encode("unbelievable tokenization")
    for start in range(0, CACHED_WORDS * 2, 200):
        tokenizer.encode(" ".join(f"w{number}" for number in range(start, start + 200)))
    assert len(tokenizer._known) <= CACHED_WORDS
    assert tokenizer.encode("unbelievable tokenization") == first
