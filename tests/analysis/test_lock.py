"""requirements.lock: exact versions with hashes, from no place in particular."""

import re

import synthetic

LOCK = (synthetic.REPOSITORY / "requirements.lock").read_text()


def test_every_package_has_a_version_and_hashes():
    entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE).strip())
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9-]+==[\w.]+( \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry.splitlines()[0]
    names = {entry.split("==")[0] for entry in entries}
    assert {line for line in (synthetic.REPOSITORY / "requirements.txt").read_text().split("\n")[1:] if line} <= names


def test_it_names_no_place():
    assert "://" not in LOCK and "--find-links" not in re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE)


def test_the_set_up_asks_for_hashes():
    installs = [
        line for line in (synthetic.REPOSITORY / "scripts" / "setup").read_text().splitlines() if "pip install" in line
    ]
    assert installs and all("--require-hashes" in line for line in installs)
