"""The agents that the settings name, each made when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spiral.backends.agents.prices import price_table
from spiral.backends.agents.process import CommandAgent
from spiral.backends.agents.sandbox import wrapper
from spiral.backends.agents.table import Adapter, adapters
from spiral.errors import ConfigError
from spiral.sources import closest
from spiral.tables import ActSettings


class Agents(Mapping[str, CommandAgent]):
    """Agents by name."""

    def __init__(self, act: ActSettings, environ: Mapping[str, str], git_dir: str) -> None:
        self.table: Mapping[str, Adapter] = adapters(act.agents)
        self._act = act
        self._environ = environ
        self._git_dir = git_dir
        self._prices = price_table(act.prices)
        self._made: dict[str, CommandAgent] = {}
        wrapper(act.sandbox)

    def __getitem__(self, name: str) -> CommandAgent:
        """The agent; ConfigError when there is none of that name."""
        if name not in self.table:
            raise ConfigError(f"unknown agent {name!r}; {closest(name, tuple(self.table))}")
        if name not in self._made:
            self._made[name] = CommandAgent(
                self.table[name],
                environ=self._environ,
                prices=self._prices,
                names=self._act.env,
                push=self._act.push,
                sandbox=self._act.sandbox,
                git_dir=self._git_dir,
            )
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.table

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)


def open_agents(url: str, act: ActSettings, environ: Mapping[str, str], git_dir: str = "") -> Agents:
    """The agents of `command:`; a wrong setting raises ConfigError here, not in the middle of a run."""
    if url != "command:":
        raise ConfigError(f"nothing is known to come after 'command:' in {url!r}; write 'command:'")
    return Agents(act, environ, git_dir)
