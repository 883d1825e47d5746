"""What an agent's process may see of the environment, and that it does not push."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence

ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "COLORTERM", "TMPDIR", "TZ", "HOSTNAME"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("JAVA_HOME", "GOPATH", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV"),
)
FAMILIES = ("LC_", "XDG_")
SSH_AGENT = "SSH_AUTH_SOCK"
"""The way to the user's keys: only for who may push."""
REFUSED = "spiral-push-is-off://"
"""A scheme that git has no helper for: the address that pushes are sent to, and its own explanation."""
LOCAL = ("/", ".", "file://")
"""Addresses on this machine: a project's tests push there, and nothing leaves it."""


def environment(given: Mapping[str, str], names: Iterable[str], *, push: bool) -> dict[str, str]:
    """The variables that pass: the usual ones and those named. No GIT_*: it would point git elsewhere."""
    usual = {*ALLOWED, *([SSH_AGENT] if push else [])}
    wanted = {*usual, *names}
    return {
        name: value
        for name, value in given.items()
        if (name in wanted or name.startswith(FAMILIES)) and not name.startswith("GIT_")
    }


def without_push(environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment with settings for git under which every push to elsewhere fails, whatever its options.

    A push is refused by rewriting where it goes, which `--no-verify` does not skip as it would a hook: everything is
    rewritten but addresses on this machine, and those too when a remote of the repository has them. A push address of
    its own that a remote has is not rewritten for pushes alone, so fetching from that address fails as well.
    """
    urls, pushes = _remotes(environ, folder)
    rules = [(f"url.{REFUSED}.pushInsteadOf", url) for url in ("", *urls)]
    rules += [(f"url.{place}.pushInsteadOf", place) for place in LOCAL]
    rules += [(f"url.{REFUSED}.insteadOf", url) for url in pushes]
    guarded = dict(environ, GIT_CONFIG_COUNT=str(len(rules)))
    for at, (key, value) in enumerate(rules):
        guarded |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    return guarded


def _remotes(environ: Mapping[str, str], folder: str) -> tuple[Sequence[str], Sequence[str]]:
    """Addresses of the repository's remotes: those it fetches from, and those of their own that it pushes to."""
    command = ["git", "-C", folder, "config", "--null", "--get-regexp", r"^remote\..*\.(url|pushurl)$"]
    try:
        found = subprocess.run(command, env=dict(environ), capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return (), ()
    pairs = [entry.partition("\n")[::2] for entry in found.stdout.split("\0") if entry]
    urls = dict.fromkeys(value for key, value in pairs if key.endswith(".url") and value)
    pushes = dict.fromkeys(value for key, value in pairs if key.endswith(".pushurl") and value)
    return tuple(urls), tuple(pushes)
