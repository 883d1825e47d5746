"""What tokens cost, for agents that tell only how many they used."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from spiral.errors import ConfigError
from spiral.model import EMPTY
from spiral.work import Usage

Price = tuple[float, float, float]
"""Dollars for a million tokens: input, output, cached input."""
Prices = Mapping[str, Price]
CACHE_WRITE = 1.25
"""What it costs to put input into the cache, as a multiple of plain input."""


def price_table(own: Mapping[str, object] = EMPTY) -> Prices:
    """Price by the beginning of a model's name, with the user's over the packaged ones. Raises ConfigError."""
    table = dict(packaged())
    for model, value in own.items():
        numbers = value if isinstance(value, list | tuple) else ()
        sound = all(isinstance(item, int | float) and math.isfinite(item) and item >= 0 for item in numbers)
        if len(numbers) not in (2, 3) or not sound:
            raise ConfigError(f"act.prices.{model} must be dollars for [input, output, cached], not {value!r}")
        table[model.lower()] = (float(numbers[0]), float(numbers[1]), float(numbers[-1 if len(numbers) == 3 else 0]))
    return table


@cache
def packaged() -> Prices:
    """The prices that come with the package."""
    table = tomllib.loads((files(__package__) / "prices.toml").read_text(encoding="utf-8"))
    return {model: (float(row[0]), float(row[1]), float(row[2])) for model, row in table["models"].items()}


def priced(usage: Usage, model: str, prices: Prices) -> Usage:
    """The usage with what it costs by the table: estimated; or unknown, when the table does not have the model."""
    if not usage.tokens:
        return usage
    price = price_of(model, prices)
    if price is None:
        return replace(usage, unknown=True)
    into, out, cached = price
    dollars = (usage.input + usage.cache_write * CACHE_WRITE) * into + usage.output * out + usage.cache_read * cached
    return replace(usage, cost=dollars / 1_000_000, estimated=True)


def price_of(model: str, prices: Prices) -> Price | None:
    """The price under the longest name that the model's begins with, without its provider and its variant."""
    name = re.sub(r"\[.*\]$", "", model.lower()).rpartition("/")[2]
    known = [key for key in prices if name == key or name.startswith((f"{key}-", f"{key}.", f"{key}:", f"{key}@"))]
    if "/" in model and model.lower() in prices:
        return prices[model.lower()]
    return prices[max(known, key=len)] if known else None
