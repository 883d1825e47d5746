"""What is forgotten is no longer served, what is erased is nowhere, and both stay within one's own scope."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conftest import Run
from spiral import Memory, Message
from spiral.backends.sqlite.index import SqliteIndex
from spiral.errors import NotFoundError, ScopeError, UsageError
from spiral.memory.erase import OWED
from spiral.memory.sync import follow
from spiral.model import Evidence

ODD = "zanzibarquux"
RULE = f"Always use the {ODD} cache for sessions."


@pytest.fixture
def bob(repo: Path) -> Iterator[Memory]:
    """Another person in the same store; `words` belongs to the one who runs the tests."""
    with Memory.open(repo, flags={"embedder.model": "none", "memory.owner": "bob"}) as memory:
        yield memory


def texts(memory: Memory, question: str, **rest: object) -> list[str]:
    return [hit.text for hit in memory.recall(question, **rest)]  # type: ignore[arg-type]


def said(text: str, role: str = "user", source: str = "") -> list[Message]:
    return [Message(role=role, text=text, source=source)]  # type: ignore[arg-type]


def holding(repo: Path, word: str = ODD) -> list[Path]:
    return [path for path in repo.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_a_private_episode_is_shown_to_its_owner_alone(words: Memory, bob: Memory) -> None:
    [episode] = words.ingest(said("My salary is 100."), session="s9", visibility="private", learn=False).episodes
    assert words.episode(episode.id[:8]) == episode
    with pytest.raises(NotFoundError, match="there is no episode"):
        bob.episode(episode.id)


def test_what_a_session_was_told_is_told_again_only_to_who_may_see_it(words: Memory, bob: Memory) -> None:
    words.remember("My salary is 100.", visibility="private")
    words.remember("Salaries are paid on Fridays.", app="other")
    assert words.recall("salary", session="s9").hits
    assert words.recall("salaries paid", session="s9", app="other").hits
    assert words.served("s9") == ["My salary is 100."]
    assert bob.served("s9") == []


def test_only_who_sees_a_memory_takes_back_that_it_was_forgotten(words: Memory, bob: Memory) -> None:
    change = words.forget(words.remember("My salary is 100.", visibility="private").id)
    team = words.forget(words.remember("Deploys go out on Fridays.", user="ada").id, user="ada")
    for name, scope in ((change.id, {}), (team.id, {}), (team.id, {"user": "ada", "app": "other"})):
        with pytest.raises(NotFoundError, match="there is no change"):
            bob.undo(name, **scope)
    bob.undo(team.id, user="ada")
    undone = words.undo(change.id)
    with pytest.raises(NotFoundError, match="there is no change"):
        bob.undo(undone.id)
    assert texts(words, "salary") == ["My salary is 100."]


def test_forgetting_stays_within_one_app(words: Memory) -> None:
    words.remember("The port is 1.", key="port")
    words.remember("The port is 2.", key="port", app="other", visibility="org")
    for level in ("app", "org"):
        for way in ({"key": "port"}, {"source": "user"}):
            with pytest.raises(ScopeError, match="is for asking"):
                words.forget(**way, **{level: "*"})
            with pytest.raises(ScopeError, match="is for asking"):
                words.erase(**way, **{level: "*"})
    assert len(words.forget(key="port").targets) == 1
    [shared] = words.list(app="other")
    with pytest.raises(ScopeError, match="--app other"):
        words.forget(shared.id)
    assert texts(words, "port") == ["The port is 2."]


def test_a_copied_file_is_erased_with_the_original(words: Memory, repo: Path) -> None:
    kept = words.remember(RULE)
    path = repo / ".agent/memory" / words.store.folder.path_of(kept.memory)
    shutil.copy(path, path.parent.parent / "zcopy.md")
    shutil.copy(path, path.parent.parent / "zzcopy.md")
    words.recall("cache")
    words.erase(kept.id)
    assert (texts(words, "cache"), holding(repo)) == ([], [])


def test_a_reason_that_repeats_the_text_is_erased_and_others_stay_forgotten(words: Memory, repo: Path) -> None:
    kept, other = words.remember(RULE), words.remember("Deploys go out on Fridays.")
    words.undo(words.forget(kept.id, reason=f"no more {ODD}").id)
    words.forget(kept.id, other.id, reason=f"no more {ODD}")
    words.erase(kept.id)
    assert holding(repo) == []
    assert words.get(other.id).state == "forgotten"
    words.reindex()
    assert words.get(other.id).state == "forgotten"


def test_every_session_that_said_it_is_erased(words: Memory, repo: Path) -> None:
    words.ingest(said(RULE), session="one")
    words.ingest(said(RULE), session="two")
    [kept] = words.list()
    words.erase(kept.id)
    assert (texts(words, ODD), holding(repo)) == ([], [])


def test_an_older_version_of_the_same_words_is_erased_too(words: Memory, repo: Path) -> None:
    words.remember(RULE, authority="inferred")
    words.erase(words.remember(RULE, authority="directive").id)
    assert holding(repo) == []


@pytest.mark.parametrize("way", ["id", "session", "source"])
def test_an_episode_is_erased_with_what_was_learned_from_it(words: Memory, repo: Path, way: str) -> None:
    [episode] = words.ingest(said(RULE, source="app:chat"), session="one").episodes
    words.ingest(said("The kettle is green."), session="two", learn=False)
    assert len(words.list()) == 1
    erased = words.erase(episode.id) if way == "id" else words.erase(**{way: "one" if way == "session" else "app:chat"})
    assert episode.id in erased.ids
    assert (words.list(), holding(repo), texts(words, "kettle")) == ([], [], ["The kettle is green."])


def test_erasing_one_of_two_sessions_keeps_what_the_other_supports(words: Memory, repo: Path) -> None:
    words.ingest(said(RULE), session="one")
    words.ingest(said(RULE), session="two")
    [kept] = words.list()
    words.erase(session="two")
    assert [item.id for item in words.list()] == [kept.id]
    assert len(words.get(kept.id).memory.evidence) == 1
    assert list((repo / ".agent/memory/changes").rglob("*.md")) == []


def test_erasing_takes_no_episode_that_one_may_not_see(words: Memory, bob: Memory) -> None:
    [episode] = words.ingest(said("My salary is 100."), visibility="private", session="one", learn=False).episodes
    quoting = bob.remember("A note.", evidence=[Evidence(kind="quote", text="x", source=episode.id)])
    bob.erase(quoting.id)
    assert words.episode(episode.id) == episode
    with pytest.raises(NotFoundError):
        bob.erase(session="one")


def test_a_copied_or_torn_segment_is_erased_too(words: Memory, repo: Path) -> None:
    [episode] = words.ingest(said(RULE), session="one", learn=False).episodes
    [segment] = (repo / ".agent/memory/episodes").rglob("*.jsonl")
    line = segment.read_text()
    segment.with_name("copy.jsonl").write_text(line)
    segment.write_text(line + line[:-9] + "\n")
    words.recall("cache")
    words.erase(episode.id)
    assert holding(repo) == []


def test_what_a_killed_writer_left_is_erased(words: Memory, repo: Path) -> None:
    kept = words.remember(RULE)
    path = repo / ".agent/memory" / words.store.folder.path_of(kept.memory)
    shutil.copy(path, path.with_name(f".{path.name[-40:]}.12345678.tmp"))
    shutil.copytree(repo / ".git/spiral/index" / words.store.index.home.name, repo / ".git/spiral/index/g-dead")  # type: ignore[attr-defined]
    words.erase(kept.id)
    assert holding(repo) == []


def test_the_page_forgets_at_once_in_a_process_that_lives_on(words: Memory, repo: Path) -> None:
    kept = words.remember(RULE)
    words.close()
    assert ODD in (repo / ".agent/memory/MEMORY.md").read_text()
    words.erase(kept.id)
    assert ODD not in (repo / ".agent/memory/MEMORY.md").read_text()


def test_a_reader_that_keeps_the_text_is_told_and_the_work_is_finished_later(spiral: Run, repo: Path) -> None:
    kept = json.loads(spiral("remember", RULE, "--json").stdout)["id"]
    [database] = (repo / ".git/spiral/index").glob("g-*/index.db")
    reader = sqlite3.connect(database, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM doc").fetchall()
    assert "until it ends" in spiral("forget", "--hard", kept, code=11).stderr
    assert "until it ends" in spiral("doctor", code=2).stdout
    reader.close()
    spiral("doctor")
    assert holding(repo) == []


def test_what_is_erased_during_a_rebuild_is_owed_until_its_end(words: Memory, spiral: Run, repo: Path) -> None:
    kept, other = words.remember(RULE), words.remember("Deploys go out on Fridays.")
    with closing(words.store.index.successor()) as fresh:
        follow(words.store.folder, fresh, words.store.default, full=True)
        assert "until it ends" in words.erase(kept.id).left
        fresh.succeed()
    assert holding(repo) != []
    spiral("doctor")
    assert (holding(repo), [item.id for item in words.list()]) == ([], [other.id])
    assert words.erase(other.id).left == ""


def test_a_rebuild_takes_out_what_was_erased_meanwhile(
    words: Memory, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = words.remember(RULE)
    succeed = SqliteIndex.succeed

    def erase_and_succeed(index: SqliteIndex) -> None:
        assert "until it ends" in words.erase(kept.id).left
        succeed(index)

    monkeypatch.setattr(SqliteIndex, "succeed", erase_and_succeed)
    words.reindex()
    assert (holding(repo), words.list()) == ([], [])


def test_an_erasure_that_was_killed_half_way_is_finished(words: Memory, repo: Path) -> None:
    kept = words.remember(RULE)
    path = repo / ".agent/memory" / words.store.folder.path_of(kept.memory)
    with words.store.index.atomic():
        words.store.index.note(OWED, "1")
    path.unlink()
    words.erase(words.remember("Deploys go out on Fridays.").id)
    assert holding(repo) == []


def test_episodes_of_a_revoked_source_are_not_served_until_it_is_taken_back(words: Memory, repo: Path) -> None:
    words.ingest(said("The xylophone is stored in the cellar.", "tool", "web:bad"), session="one", learn=False)
    before = datetime.now(UTC)
    change = words.forget(source="web:bad")
    assert (texts(words, "xylophone"), texts(words, "xylophone", true_at=datetime.now(UTC))) == ([], [])
    assert len(texts(words, "xylophone", as_of=before)) == 1
    words.reindex()
    assert texts(words, "xylophone") == []
    assert words.brief("xylophone", budget=200, session="one", recent=3).recent == ()
    words.undo(change.id)
    assert len(texts(words, "xylophone")) == 1


def test_an_episode_that_comes_after_its_retirement_stays_retired(words: Memory, repo: Path) -> None:
    [episode] = words.ingest(said("The xylophone is in the cellar."), session="one", learn=False).episodes
    words.forget(episode.id)
    [segment] = (repo / ".agent/memory/episodes").rglob("*.jsonl")
    away = repo / "away.jsonl"
    segment.rename(away)
    words.counts()
    away.rename(segment)
    assert texts(words, "xylophone") == []


def test_a_session_is_forgotten_and_taken_back(spiral: Run) -> None:
    spiral("ingest", "--session", "one", "--user", "ada", stdin=RULE)
    told = spiral("forget", "--session", "one", "--user", "ada").stdout
    assert "recall" not in told and "2 retired" in told
    assert json.loads(spiral("recall", ODD, "--user", "ada", "--json").stdout)["hits"] == []
    undo = told.split("`")[1].replace("'", "").split()[1:]
    assert "undone" in spiral(*undo).stdout
    assert json.loads(spiral("recall", ODD, "--user", "ada", "--json").stdout)["hits"]


def test_erasing_a_fact_brings_nothing_older_back_and_erasing_a_source_does(words: Memory) -> None:
    old = words.remember("The port is 5432.")
    words.erase(words.remember("The door is 6543.", supersedes=[old.id]).id)
    words.reindex()
    assert words.get(old.id).state == "forgotten"
    words.remember("The key is red.", key="key", source="user")
    words.remember("The key is blue.", key="key", source="web:bad")
    words.erase(source="web:bad")
    assert texts(words, "key") == ["The key is red."]


def test_a_pending_fact_outlives_the_erasure_of_the_present_one(words: Memory) -> None:
    now = words.remember("The port is 5432.", key="port")
    later = words.remember("The port is 6543.", key="port", valid_from="2999-01-01")
    words.erase(now.id)
    assert words.get(later.id).state == "pending"


def test_both_sides_of_a_contradiction_are_listed_however_old(words: Memory) -> None:
    first = words.remember("The staging server listens on port 8080.")
    second = words.remember("The staging server listens on port 9090.")
    for number in range(60):
        words.remember(f"Shelf {number} holds {number + 7} books about gardens.")
    assert [item.id for item in words.list(conflicts=True, limit=50)] == [first.id, second.id]
    words.forget(first.id)
    assert words.list(conflicts=True) == []
    assert len(words.list(conflicts=True, retired=True)) == 2


def test_a_limit_beyond_all_counting_lists_everything(spiral: Run) -> None:
    spiral("remember", "Deploys go out on Fridays.")
    assert "Fridays" in spiral("memory", "list", "--limit", "9" * 20).stdout


def test_one_way_of_saying_what_to_forget(words: Memory) -> None:
    with pytest.raises(UsageError, match="one way"):
        words.forget(key="a", session="b")
