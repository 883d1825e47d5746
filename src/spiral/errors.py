"""Everything that can fail, as one tree.

SpiralError
├── UsageError              the caller asked for something that cannot be; the message names the value and the cure
│   ├── ConfigError         a setting that is unknown, mistyped or contradictory
│   └── ScopeError          a scope that is missing, malformed or too wide for what was asked
├── NotFoundError           there is no memory, session or file of that name
├── StoreError              the files or the index cannot be read or written
│   ├── StoreLockedError    another process held the store for longer than we were willing to wait
│   └── StoreVersionError   the store was written by a newer Spiral
├── GitError                git refused or failed; the message names the command and what git said
├── LockedError             another run is at work in this repository
├── EmbedderError           the embedding model or its endpoint did not answer
├── MissingToolError        a program that is needed is not installed
└── MissingExtraError       an optional package is not installed; the message names the extra
"""

from __future__ import annotations


class SpiralError(Exception):
    """The root: catch this to catch everything that Spiral raises on purpose."""

    exit_code = 70


class UsageError(SpiralError):
    """The caller asked for something that cannot be."""

    exit_code = 64


class ConfigError(UsageError):
    """A setting is unknown, mistyped or contradictory."""


class ScopeError(UsageError):
    """A scope is missing, malformed or too wide for what was asked."""


class NotFoundError(SpiralError):
    """There is nothing of that name."""

    exit_code = 66


class StoreError(SpiralError):
    """The files or the index cannot be read or written."""

    exit_code = 74


class StoreLockedError(StoreError):
    """Another process held the store for longer than we were willing to wait."""

    exit_code = 11


class StoreVersionError(StoreError):
    """The store was written by a newer Spiral; this one reads nothing and changes nothing."""


class GitError(SpiralError):
    """Git refused or failed."""


class LockedError(SpiralError):
    """Another run is at work in this repository."""

    exit_code = 11


class EmbedderError(SpiralError):
    """The embedding model or its endpoint did not answer."""

    exit_code = 69


class MissingToolError(SpiralError):
    """A program that is needed is not installed."""

    exit_code = 6


class MissingExtraError(SpiralError):
    """An optional package is not installed; the message names the extra that brings it."""

    exit_code = 6
