"""A folder that is written as a whole: first beside its place, then exchanged with what stands there. A manifest in it
lists its files; no other file is changed or removed, and whatever fails leaves the old folder as it was."""

import ctypes
import errno
import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_json
from vicinity_analysis.inputs.records import warn

MANIFEST = "manifest.json"
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def replace(out: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Writes the files (names with / in them) and exchanges them with those of the last time. Raises InputError where a
    file that is not listed stands in the way, OSError where the disk is full; both leave the folder alone."""
    out = out.resolve()
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: not a folder; name another one")
    before = _listed(out)
    others = [name for name in _inside(out) if name not in before]
    out.parent.mkdir(parents=True, exist_ok=True)
    beside = out.parent / f".{out.name}.{secrets.token_hex(6)}"
    beside.mkdir()
    put: dict[str, str] = {}
    try:
        for name, data in files:
            _refuse_foreign(out, name, others)
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            put[name] = hashlib.sha256(data).hexdigest()
            with (beside / name).open("xb") as file:
                file.write(data)
        _refuse_foreign(out, MANIFEST, others)
        listed = json.dumps({"schema": 1, "files": dict(sorted(put.items()))}, indent=1) + "\n"
        (beside / MANIFEST).write_text(listed, encoding="utf-8")
        for name in others:
            _link(out / name, beside / name)
        if out.exists():
            beside.chmod(out.stat().st_mode & 0o7777)
            _exchange(beside, out)
        else:
            beside.rename(out)
    finally:
        # Ours, of the last time or of a failure; and second names of what is not ours.
        _remove(beside, {*before, *put, MANIFEST, *others})


def _listed(folder: Path) -> set[str]:
    """What the manifest of a folder says is ours; nothing where there is none."""
    path = folder / MANIFEST
    if path.is_symlink() or not path.exists():
        return set()
    names = {MANIFEST, *read_json(path, "manifest")["files"]}
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or name.startswith("/"):
            raise InputError(f"{path}: files: '{name}' leads out of the folder; remove the file")
    return names


def _inside(folder: Path) -> Iterator[str]:
    """All that is no folder, and folders that are empty. Links are not followed."""
    for path, folders, files in os.walk(folder):
        linked = [name for name in folders if (Path(path) / name).is_symlink()]
        for name in (*files, *linked):
            yield (Path(path) / name).relative_to(folder).as_posix()
        if not folders and not files and Path(path) != folder:
            yield Path(path).relative_to(folder).as_posix()


def _refuse_foreign(out: Path, name: str, others: Iterable[str]) -> None:
    parts = PurePosixPath(name).parts
    mine = {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
    for other in others:
        if other in mine or other.startswith(f"{name}/"):
            if (out / other).is_dir() and not (out / other).is_symlink() and other != name:
                continue  # an empty folder where one belongs
            raise InputError(f"{out / other}: {MANIFEST} does not list it; remove it, or name another folder")


def _link(old: Path, new: Path) -> None:
    """A second name for the same file, so that it stands in the new folder and never is missing from the old one."""
    if old.is_dir() and not old.is_symlink():
        new.mkdir(parents=True, exist_ok=True)
        return
    new.parent.mkdir(parents=True, exist_ok=True)
    os.link(old, new, follow_symlinks=False)


def _exchange(new: Path, out: Path) -> None:
    """In one step where the file system can, else in two, the first of which is undone if the second fails."""
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        paths = (ctypes.c_char_p(os.fsencode(path)) for path in (new, out))
        one, two = paths
        if library.renameat2(AT_FDCWD, one, AT_FDCWD, two, RENAME_EXCHANGE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.ENOSYS, errno.EINVAL):
            raise OSError(number, os.strerror(number))
    aside = new.with_name(f"{new.name}.old")
    out.rename(aside)
    try:
        new.rename(out)
    except BaseException:
        aside.rename(out)
        raise
    aside.rename(new)


def _remove(folder: Path, names: Iterable[str]) -> None:
    """These files, and the folders that are empty then. What came in meanwhile is kept, and said."""
    if not folder.exists():
        return
    for name in names:
        path = folder / name
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
    for path, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(path):
            os.rmdir(path)
    if folder.exists():
        warn(f"{folder}: has files that came in while the report was written; look at them")
