"""Foreign text in messages."""

import json

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.errors import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größe ≈ 3", "größe ≈ 3"),
        ("a\nb\x1b[31m\x00", "a\\nb\\x1b[31m\\x00"),
        ("\x9b2J \u202eevil \udcff", "\\x9b2J \\u202eevil \\udcff"),
    ],
)
def test_control_characters_are_escaped(text, shown):
    assert printable(text) == shown


def test_names_of_files_and_options_too(tmp_path, capsys):
    assert main(["query", str(tmp_path / "no\x1b[2J\nfolder"), "--experiment", "a/b"]) == 2
    assert main(["query", "--no\x1b[2J"]) == 2
    assert main(["query", str(tmp_path / "not-utf-8-\udcff"), "--experiment", "a/b"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err and len(err.splitlines()) == 3


def test_messages_of_records_too(tmp_path, capsys):
    bad = synthetic.record("m", "a/b", {"size": 1}, "gpu", [1.0], status="skipped", message="no \x1b[2J\nmemory")
    folder = synthetic.write_records(tmp_path, "m", [bad])
    (folder / "a" / "c.jsonl").write_text(json.dumps(bad | {"status": "\u001b[2J"}) + "\n")
    assert main(["query", str(folder), "--experiment", "a/b"]) == 2
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err and len(told.out.splitlines()) == len(told.err.splitlines()) == 1
