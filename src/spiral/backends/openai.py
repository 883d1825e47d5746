"""Embeds through any endpoint that speaks OpenAI's `/embeddings`: a vendor's, a gateway, or a local server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from spiral.errors import ConfigError, EmbedderError

if TYPE_CHECKING:
    from spiral.ports import Vectors

BASE_URL = "https://api.openai.com/v1"
BATCH = 128
LONGEST_TEXT = 8_000
"""Characters that are sent: within the 8,192 tokens that OpenAI's models take."""
LONGEST_ANSWER = 64 * 1024 * 1024
PATIENCE = 20.0
"""Seconds that all waits between the tries of one batch may take together."""
AGAIN = (429, 500, 502, 503, 504)


def open_embedder(
    url: str,
    *,
    base_url: str = "",
    api_key: str = "",
    dimensions: int = 0,
    timeout: float = 30.0,
    sleep: Callable[[float], None] = time.sleep,
) -> OpenAi:
    """The embedder of `openai:model-name`, at OpenAI or at the base URL; nothing is sent before the first text.

    `dimensions` asks the model to shorten its vectors, which only some can; 0 leaves them as they are.
    """
    model = url.partition(":")[2].strip("/")
    if not model:
        raise ConfigError(f"no model in {url!r}; write for example 'openai:text-embedding-3-small'")
    try:
        base = urlsplit(base_url or BASE_URL)
        sound = base.scheme in ("http", "https") and base.hostname and base.port != 0
    except ValueError as error:
        raise ConfigError(f"the base URL for {url!r} cannot be read; check its brackets and its port") from error
    if not sound:
        raise ConfigError(f"the base URL for {url!r} must begin with http:// or https:// and a host")
    if base.username or base.password or base.query:
        raise ConfigError(f"the base URL for {url!r} must hold no key; give it as the API key")
    if not api_key.isascii() or not api_key.isprintable():
        raise ConfigError("the API key holds characters that no header can carry; copy it again")
    return OpenAi(
        model=model,
        base_url=base.geturl().rstrip("/"),
        api_key=api_key,
        dimensions=dimensions,
        timeout=timeout,
        sleep=sleep,
    )


class OpenAi:
    """A model behind HTTP. The key is sent in a header to the base URL, and appears nowhere else.

    A try that is refused for being one too many (429) or fails on the other side (5xx) is made again, after the
    seconds that the endpoint asks for or else 0.5, 1, 2, …, until the patience is spent; a retry changes nothing
    there. An endpoint that is silent or out of reach is not tried again: whoever asks can go on without vectors.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str,
        dimensions: int,
        timeout: float,
        sleep: Callable[[float], None],
    ) -> None:
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._asked = self._dimensions = dimensions
        self._timeout = timeout
        self._sleep = sleep
        self._opener = build_opener(_NoRedirect)

    @property
    def name(self) -> str:
        """The model, where it runs, and the length that was asked for: each may change what comes back."""
        place = urlsplit(self._base_url)
        return f"{self._model}@{place.netloc}{place.path}" + (f"#{self._asked}" if self._asked else "")

    @property
    def dimensions(self) -> int:
        """The length that was asked for or came back; asks the endpoint when it is not yet known."""
        return self._dimensions or self.embed(["length"]).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit-length row per text, of which the first 8,000 characters count; zeros when it is blank.

        Blank texts are not sent. Raises EmbedderError when the endpoint refuses, is silent, or answers nonsense.
        """
        import numpy as np

        # A lone surrogate is no text to any server.
        clean = [text[:LONGEST_TEXT].encode("utf-8", "replace").decode() for text in texts]
        filled = [at for at, text in enumerate(clean) if text.strip()]
        found = [
            self._rows([clean[at] for at in filled[start : start + BATCH]]) for start in range(0, len(filled), BATCH)
        ]
        result = np.zeros((len(clean), self._dimensions if filled else self.dimensions), np.float32)
        if found:
            result[filled] = np.concatenate(found)
        return result

    def close(self) -> None:
        """Nothing is held between calls."""

    def _rows(self, texts: list[str]) -> Vectors:
        """The endpoint's vectors in the order of the texts, checked and brought to unit length."""
        import numpy as np

        answer = self._ask(texts)
        try:
            data = json.loads(answer)["data"]
            at = [int(item.get("index", place)) for place, item in enumerate(data)]
            rows = np.array([item["embedding"] for item in data], np.float64)
            _, length = rows.shape
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise self._fault("gave no embeddings in its answer") from error
        if sorted(at) != list(range(len(texts))):
            raise self._fault(f"gave {len(data)} vectors for {len(texts)} texts, or not one for each")
        if length != (self._dimensions or length):
            raise self._fault(f"gave {length} dimensions instead of {self._dimensions}")
        with np.errstate(all="ignore"):
            sizes = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(sizes).all() or not sizes.all():
            raise self._fault("gave a vector without a direction")
        self._dimensions = length
        result = np.empty(rows.shape, np.float32)
        result[at] = rows / sizes
        return result

    def _ask(self, texts: list[str]) -> bytes:
        """The endpoint's answer, asked again as long as it says "later" and the patience lasts."""
        body: dict[str, object] = {"model": self._model, "input": texts}
        if self._asked:
            body["dimensions"] = self._asked
        headers = {"Content-Type": "application/json", "User-Agent": "spiral"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        # The scheme of the base URL was looked at when it came in.
        request = Request(f"{self._base_url}/embeddings", json.dumps(body).encode(), headers)  # noqa: S310
        waited, pause = 0.0, 0.5
        while True:
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    return bytes(response.read(LONGEST_ANSWER))
            except HTTPError as error:
                with error:
                    wait = _seconds(error.headers.get("Retry-After")) or pause
                if error.code not in AGAIN or waited + wait > PATIENCE:
                    raise self._fault(f"answered {error.code}{_advice(error.code)}") from error
            except (URLError, HTTPException, OSError) as error:
                raise self._fault(f"did not answer: {getattr(error, 'reason', None) or error!r}") from error
            self._sleep(wait)
            waited, pause = waited + wait, pause * 2

    def _fault(self, what: str) -> EmbedderError:
        place = urlsplit(self._base_url).netloc
        return EmbedderError(f"the embedding endpoint {place!r} {what} (model {self._model!r})")


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: the key would go along to wherever it points."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _seconds(value: str | None) -> float:
    """What `Retry-After` asks for, if it says so in seconds."""
    return float(value) if value and value.isascii() and value.isdigit() else 0.0


def _advice(code: int) -> str:
    if code in (401, 403):
        return ": check the API key"
    if code // 100 == 3 or code == 404:
        return ": check the base URL and the model"
    return ""
