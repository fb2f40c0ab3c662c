"""scripts/fetch.py against a web server of our own: only whole files with the right checksum ever appear."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

pytest.importorskip("yaml")

CONTENT = {"one": b"2\n0 1\n1 0\n0 3\n3 0\n", "two": b"2\n0 2\n2 0\n0 4\n4 0\n", "made": b"2\n"}


def catalogue_text(base: str) -> str:
    def entry(name: str, more: str = "") -> str:
        sha = hashlib.sha256(CONTENT[name]).hexdigest()
        return f"  - {{name: {name}, family: f, file: f/{name}.dat, sha256: {sha}, source: s{more}}}\n"

    return (
        f"families: {{f: text, g: text}}\norigins: {{f: {{addresses: ['{base}']}}}}\ninstances:\n"
        + entry("one")
        + entry("two")
        + entry("made", ", generator: {name: x}")
        + "  - {name: far, family: g, file: g/far.dat, sha256: 0, source: a library}\n"
    )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Path]:
    """The folder that http://127.0.0.1:<port>/ serves; the address stands in the file `address` beside it."""
    folder = tmp_path / "www"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / f"{name}.dat").write_bytes(content)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        (tmp_path / "address").write_text(f"http://127.0.0.1:{listening.server_port}/")
        yield folder
        listening.shutdown()


class Fetch:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.target = folder / "instances"
        (folder / "catalogue.yaml").write_text(catalogue_text((folder / "address").read_text()))

    def __call__(self, *arguments: str, search: str = "") -> subprocess.CompletedProcess[str]:
        own = ["--to", str(self.target), "--catalogue", str(self.folder / "catalogue.yaml")]
        return subprocess.run(
            [sys.executable, str(ROOT / "scripts/fetch.py"), *own, *arguments],
            env={**os.environ, "VICINITY_INSTANCES": search, "no_proxy": "*"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.target.rglob("*") if path.is_file()}


@pytest.fixture
def fetch(tmp_path: Path, server: Path) -> Fetch:
    return Fetch(tmp_path)


def test_fetches_what_no_generator_makes_and_only_once(fetch: Fetch) -> None:
    first = fetch()
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == f"2 fetched into {fetch.target}, 0 already there, 0 failed\n"
    assert fetch.files() == {"one.dat": CONTENT["one"], "two.dat": CONTENT["two"]}
    assert fetch().stdout == f"0 fetched into {fetch.target}, 2 already there, 0 failed\n"


def test_by_name_even_what_a_generator_makes(fetch: Fetch) -> None:
    assert fetch("made").returncode == 0
    assert fetch.files() == {"made.dat": CONTENT["made"]}


def test_unknown_names_and_families_without_address(fetch: Fetch) -> None:
    unknown = fetch("none")
    assert unknown.returncode == 2
    assert unknown.stderr == "vicinity: error: none: unknown instance; data/catalogue.yaml has one, two, made, far\n"
    assert fetch("far").stderr == "vicinity: error: far: no address to get it from; its source is a library\n"


def test_wrong_checksum_leaves_nothing_and_the_others_arrive(fetch: Fetch, server: Path) -> None:
    (server / "one.dat").write_bytes(b"tampered")
    result = fetch()
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("one: http://127.0.0.1:") and "SHA-256 is" in result.stderr
    assert fetch.files() == {"two.dat": CONTENT["two"]}


def test_missing_on_the_server_is_one_line(fetch: Fetch, server: Path) -> None:
    (server / "two.dat").unlink()
    result = fetch()
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1 and "two.dat: HTTP Error 404" in result.stderr
    assert set(fetch.files()) == {"one.dat"}


def test_second_address_when_the_first_fails(fetch: Fetch, server: Path) -> None:
    result = fetch("one", "--from", "http://127.0.0.1:9/", "--from", server.as_uri())
    assert result.returncode == 0, result.stderr
    nothing = fetch("two", "--from", "http://127.0.0.1:9/")
    assert nothing.returncode == 1
    assert nothing.stderr.startswith("two: http://127.0.0.1:9/two.dat: ") and "refused" in nothing.stderr


def test_files_of_the_search_path_are_not_fetched(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "own/deep").mkdir(parents=True)
    (tmp_path / "own/deep/one.dat").write_bytes(CONTENT["one"])
    result = fetch(search=str(tmp_path / "own"))
    assert result.stdout.startswith("1 fetched") and "1 already there" in result.stdout
    assert set(fetch.files()) == {"two.dat"}


def test_broken_file_in_place_is_replaced_and_one_in_the_way_is_named(fetch: Fetch, tmp_path: Path) -> None:
    (fetch.target / "f").mkdir(parents=True)
    (fetch.target / "f/one.dat").write_bytes(b"half")
    assert fetch("one").returncode == 0
    assert fetch.files() == {"one.dat": CONTENT["one"]}
    (tmp_path / "own").mkdir()
    (tmp_path / "own/one.dat").write_bytes(b"half")
    result = fetch("one", search=str(tmp_path / "own"))
    assert result.returncode == 1
    assert "own/one.dat: has the wrong SHA-256 and is found before" in result.stderr
    assert (tmp_path / "own/one.dat").read_bytes() == b"half"


def test_target_that_cannot_be_written(fetch: Fetch) -> None:
    fetch.target.write_text("in the way")
    result = fetch("one")
    assert result.returncode == 1
    assert result.stderr.startswith("one: ") and len(result.stderr.splitlines()) == 1


def with_file(fetch: Fetch, name: str) -> None:
    path = fetch.folder / "catalogue.yaml"
    path.write_text(path.read_text().replace("file: f/one.dat", f"file: '{name}'"))


@pytest.mark.parametrize("name", ["../../one.dat", "/tmp/one.dat", "f/../../one.dat", "*/one.dat", ".hidden"])
def test_files_stay_inside_the_folder(fetch: Fetch, tmp_path: Path, name: str) -> None:
    with_file(fetch, name)
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    result = fetch("one")
    assert result.returncode == 2 and "is no path below a folder" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_nor_through_a_link(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    fetch.target.mkdir()
    (fetch.target / "f").symlink_to(tmp_path / "elsewhere")
    result = fetch("one")
    assert result.returncode == 1 and "a link leads out of" in result.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("head", [b"", b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n"], ids=["head", "body"])
def test_a_server_that_drips_is_left_after_the_deadline(fetch: Fetch, head: bytes) -> None:
    """Each byte comes soon enough, the whole never."""
    listening = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            connection.sendall(head)
            for _ in range(100):
                connection.sendall(b"x")
                time.sleep(0.2)

    threading.Thread(target=drip, daemon=True).start()
    start = time.monotonic()
    result = fetch("one", "--seconds", "1", "--from", f"http://127.0.0.1:{listening.getsockname()[1]}/")
    listening.close()
    assert time.monotonic() - start < 10
    assert result.returncode == 1 and "not through in 1 s" in result.stderr and len(result.stderr.splitlines()) == 1


def test_what_a_server_says_does_not_act_on_the_terminal(fetch: Fetch) -> None:
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = listening.accept()
        connection.recv(1000)
        connection.sendall(b"HTTP/1.0 404 \x1b[31mred\r\n\r\n")
        connection.close()

    threading.Thread(target=answer, daemon=True).start()
    result = fetch("one", "--from", f"http://127.0.0.1:{listening.getsockname()[1]}/")
    listening.close()
    assert result.returncode == 1 and "\x1b" not in result.stderr and "\\x1b[31mred" in result.stderr


@pytest.mark.parametrize(
    "text",
    ["[", "a: [1", "3", "instances: 3", "instances: [3]", "instances: [{name: x}]", "{instances: [], origins: {f: 3}}"],
)
def test_a_catalogue_that_is_none_is_one_line(fetch: Fetch, text: str) -> None:
    (fetch.folder / "catalogue.yaml").write_text(text)
    result = fetch()
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1 and "catalogue.yaml:" in result.stderr
