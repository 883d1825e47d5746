"""The folder that is the truth: files written once, atomically, and found again."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import stat
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from spiral.errors import StoreError, StoreVersionError
from spiral.model import Change, Statement
from spiral.ports import Sighting

FORMAT = 1
MEMORIES, CHANGES, EPISODES = PARTS = ("memories", "changes", "episodes")
RACY = 100_000_000
"""Nanoseconds within which a folder may change twice and look changed once."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A store's root. All paths that go in and out are relative to it, with `/`."""

    root: Path

    def prepare(self) -> None:
        """Make the folder and its format mark; refuse one that a newer Spiral wrote.

        One winner: the mark is renamed into place and says the same whoever writes it; a retry changes nothing.
        """
        mark = self.root / "format.json"
        try:
            found = json.loads(mark.read_text("utf-8"))
            version = found["format"]
        except FileNotFoundError:
            with failing(self.root):
                for part in PARTS:
                    (self.root / part).mkdir(parents=True, exist_ok=True)
            self.write("format.json", json.dumps({"format": FORMAT}) + "\n")
            return
        except (ValueError, KeyError, TypeError):
            raise StoreError(f'{str(mark)!r} is damaged; it should read {{"format": {FORMAT}}}') from None
        except OSError as fault:
            raise StoreError(f"cannot read the memory folder {str(self.root)!r}: {fault.strerror}") from fault
        if not isinstance(version, int) or version > FORMAT:
            raise StoreVersionError(
                f"the memory in {str(self.root)!r} has format {version!r}, this Spiral knows {FORMAT}; upgrade Spiral"
            )

    def path_of(self, memory: Statement) -> str:
        """Where a memory's file goes; its id alone decides the folder, so hand-made folders do not matter."""
        # A folder whose name begins with a dot is not scanned, and `..` is another one.
        folder = memory.id[1:3].replace(".", "-")
        return f"{MEMORIES}/{folder}/{slug(memory.key or memory.text)}-{memory.id}.md"

    def path_of_change(self, change: Change) -> str:
        """Where a change's file goes."""
        return f"{CHANGES}/{change.at:%Y-%m}/{change.verb}-{change.id}.md"

    def holds(self, path: str) -> bool:
        """Whether there is something at this path."""
        return (self.root / path).exists() or (self.root / path).is_symlink()

    def free(self, path: str) -> str:
        """The path of a file to come, or one beside it if it is taken."""
        found, number = path, 1
        while self.holds(found):
            number += 1
            found = f"{path.removesuffix('.md')}-{number}.md"
        return found

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file so that it is there whole or not at all, and durable when this returns."""
        if ".." in PurePosixPath(path).parts or path.startswith("/"):
            raise StoreError(f"{path!r} leads out of the memory folder; nothing was written")
        target = self.root / path
        # A dot keeps half-written files out of every scan.
        fresh = target.with_name(f".{target.name[-40:]}.{secrets.token_hex(4)}.tmp")
        with failing(target):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                with os.fdopen(handle, "wb") as out:
                    out.write(content if isinstance(content, bytes) else content.encode("utf-8"))
                    out.flush()
                    os.fsync(out.fileno())
                fresh.replace(target)
                sync_folder(target.parent)
            except BaseException:
                fresh.unlink(missing_ok=True)
                raise

    def read(self, path: str) -> str:
        """A file's text; bytes that are not UTF-8 become the replacement mark."""
        with failing(self.root / path):
            return (self.root / path).read_bytes().decode("utf-8", "replace")

    def erase(self, path: str) -> None:
        """Remove a file, durably; one that is gone is no error."""
        target = self.root / path
        with failing(target):
            target.unlink(missing_ok=True)
            sync_folder(target.parent)

    def folders(self) -> Iterator[str]:
        """Every folder that is scanned, as a path that ends in `/`."""
        for part in PARTS:
            waiting = [part + "/"]
            while waiting:
                path = waiting.pop()
                yield path
                waiting.extend(self.below(path))

    def below(self, folder: str) -> list[str]:
        """The folders right inside a folder."""
        with scanning(self.root / folder) as entries:
            return [
                f"{folder}{entry.name}/"
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]

    def files(self, folder: str) -> Iterator[Sighting]:
        """The files of one folder with a stamp that changes whenever their content may have."""
        suffix = ".jsonl" if folder.startswith(EPISODES) else ".md"
        with scanning(self.root / folder) as entries:
            for entry in entries:
                if entry.name.endswith(suffix) and not entry.name.startswith("."):
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    if stat.S_ISREG(found.st_mode):
                        yield Sighting(path=folder + entry.name, stamp=stamp_of(found))

    def look(self, folder: str) -> str:
        """A stamp of the folder itself; empty when it is gone or may change again without showing it."""
        try:
            changed = (self.root / folder).stat().st_mtime_ns
        except OSError:
            return ""
        return str(changed) if time.time_ns() - changed > RACY else ""


def stamp_of(found: os.stat_result) -> str:
    """Inode, change time and size: a rename, an edit in place and a replacement all show."""
    return f"{found.st_ino}-{found.st_ctime_ns}-{found.st_size}"


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def scanning(folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder; none if it is gone."""
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        yield iter(())
        return
    except OSError as fault:
        raise StoreError(f"cannot read the memory folder {str(folder)!r}: {fault.strerror}") from fault
    with entries:
        yield entries


CURES = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "the quota is used up; free some space and try again",
    errno.EROFS: "the file system is read-only; mount it writable, or set memory.root elsewhere",
    errno.EACCES: "check who owns the folder",
    errno.EPERM: "check who owns the folder",
}


@contextmanager
def failing(path: Path) -> Iterator[None]:
    """Turn what the operating system says into one clear line with a cure."""
    try:
        yield
    except OSError as fault:
        cure = CURES.get(fault.errno or 0, "")
        raise StoreError(f"cannot use {str(path)!r}: {fault.strerror or fault}{'; ' + cure if cure else ''}") from fault


def slug(text: str) -> str:
    """A few words of the text, fit for a file name on any system."""
    plain = unicodedata.normalize("NFKD", text[:200]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-") or "memory"
