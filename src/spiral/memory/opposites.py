"""Words that exclude one another: where one holds, the others do not."""

from __future__ import annotations

from spiral.memory.stems import stem

OPPOSITES = """
always never
enabled disabled
on off
before after
allowed forbidden
allow deny
accepted rejected
accept reject
required optional
mandatory optional
up down
start end
begin end
first last
public private
client server
frontend backend
staging production development testing
sync async
synchronous asynchronous
open closed
true false
yes no
hourly daily weekly monthly yearly nightly quarterly
minimum maximum
min max
increase decrease
keep split remove drop
more less
parallel serial sequential
married single divorced
local remote
stdout stderr
tabs spaces
light dark
left right
ascending descending
lowercase uppercase
mutable immutable
online offline
hot cold
read write
import export
upgrade downgrade
commit ignore
strict lenient
stable unstable
vegetarian meat
present absent
pass fail
included excluded
include exclude
inside outside
manual automatic
manually automatically
safe unsafe
early late
cheap expensive
monolith microservices
"""

_GROUPS: dict[str, set[str]] = {}
for _line in OPPOSITES.strip().splitlines():
    _stems = {stem(_word) for _word in _line.split()}
    for _word in _stems:
        _GROUPS.setdefault(_word, set()).update(_stems - {_word})


def opposed(one: str, other: str) -> bool:
    """Whether two stems exclude one another."""
    return other in _GROUPS.get(one, ())
