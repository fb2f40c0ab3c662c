"""What `report --out` does to the folder it writes."""

import json
import os
import resource
import subprocess
import sys

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.errors import InputError
from vicinity_analysis.pages import check, folder


def content(path):
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}


@pytest.fixture
def out(tmp_path):
    path = tmp_path / "out"
    folder.replace(path, [("index.html", b"old"), ("figures/a.svg", b"a"), ("tables/a.csv", b"a")])
    return path


def test_a_folder_is_replaced_whole_and_files_of_others_stay(out, tmp_path):
    (out / "notes.txt").write_text("mine")
    (out / "figures" / "mine.svg").write_text("mine")
    (out / "tables" / "link").symlink_to(tmp_path)
    (out / "empty").mkdir()
    folder.replace(out, [("index.html", b"new"), ("tables/b.csv", b"b")])
    found = content(out)
    assert found.pop("manifest.json") and (out / "tables" / "link").is_symlink() and (out / "empty").is_dir()
    assert found == {"index.html": b"new", "tables/b.csv": b"b", "notes.txt": b"mine", "figures/mine.svg": b"mine"}
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("name", ["index.html", "figures/a.svg", "manifest.json"])
def test_a_file_that_is_not_ours_is_never_replaced(tmp_path, name):
    path = tmp_path / "out"
    (path / name).parent.mkdir(parents=True)
    (path / name).write_text('{"schema": 1, "files": {}}' if name == "manifest.json" else "mine")
    (path / "index.html").write_text("mine")
    before = content(path)
    with pytest.raises(InputError, match=r"manifest\.json does not list it"):
        folder.replace(path, [("index.html", b"new"), ("figures/a.svg", b"new")])
    assert content(path) == before and os.listdir(tmp_path) == ["out"]


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "figures").symlink_to(tmp_path / "theirs")
    with pytest.raises(InputError, match="does not list it"):
        folder.replace(tmp_path / "out", [("figures/a.svg", b"a")])
    assert os.listdir(tmp_path / "theirs") == []


@pytest.mark.parametrize("name", ["../precious", "/precious", "a/../../precious"])
def test_a_manifest_that_leads_out_is_not_believed(out, tmp_path, name):
    (tmp_path / "precious").write_text("mine")
    (out / "manifest.json").write_text(json.dumps({"schema": 1, "files": {name: "0" * 64}}))
    with pytest.raises(InputError, match="leads out"):
        folder.replace(out, [("index.html", b"new")])
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_folder_whole(out, tmp_path, failure):
    before = content(out)

    def files():
        yield "index.html", b"new"
        raise failure

    with pytest.raises(type(failure)):
        folder.replace(out, files())
    assert content(out) == before and os.listdir(tmp_path) == ["out"]


def test_without_an_exchange_in_one_step(out, tmp_path, monkeypatch):
    monkeypatch.setattr(folder.ctypes, "CDLL", lambda *_, **__: object())
    folder.replace(out, [("index.html", b"new")])
    assert content(out)["index.html"] == b"new" and len(content(out)) == 2 and os.listdir(tmp_path) == ["out"]


def test_a_full_disk_leaves_the_old_report_whole(tmp_path):
    """Files of more than 20 kB cannot be written, as on a disk that fills while the report is written."""
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    synthetic.make_machine(root / "results", "m", experiments={"table1": synthetic.TABLE1})
    call = [sys.executable, "-m", "vicinity_analysis", "report", str(root / "results" / "m"), "--root", str(root)]
    environment = {**os.environ, "PYTHONPATH": str(synthetic.REPOSITORY / "analysis")}
    assert subprocess.run(call, env=environment, check=False, capture_output=True, timeout=300).returncode == 0
    report = root / "results" / "m" / "report"
    before = content(report)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    done = subprocess.run(
        call, env=environment, check=False, capture_output=True, text=True, timeout=300, preexec_fn=limit
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "is as it was" in done.stderr
    assert content(report) == before and check.faults_of(report) == []
    assert [name for name in os.listdir(report.parent) if name.startswith(".report")] == []


def test_text_of_records_is_data(tmp_path):
    """A name that is markup, a pattern of Python and a formula of TeX at once."""
    nasty = 'x"><img src=x onerror=alert(1)>\\1 \\g<9> $\\frac$ ](javascript:1) ![a](b) --> &lt;'
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    results = synthetic.make_machine(root / "results", "m", nasty, experiments={"table1": synthetic.TABLE1})
    path = results / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"machine": nasty}))
    case = {"problem": "grid-path", "instance": nasty, "size": 4, nasty: nasty}
    lines = [
        json.dumps(
            synthetic.record(nasty, "new/search", case | {"size": size}, name, [1e-3 * size] * 5)
            | {"message": nasty, "profile": nasty, "seeds": [seed], "best_known": 100, "paper": nasty}
        )
        for size in (4, 8, 16)
        for name in ("gpu", f"gpu-{nasty}")
        for seed in (1, 2)
    ]
    (results / "new").mkdir()
    (results / "new" / "search.jsonl").write_text("".join(line + "\n" for line in lines))
    call = ["report", str(results), "--root", str(root), "--out", str(tmp_path / "out"), "--check-links"]
    assert main(call) == 0
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<img" not in page and "onerror=alert(1)&gt;" in page
    assert "Content-Security-Policy" in page and "default-src 'none'" in page
    text = (tmp_path / "out" / "report.md").read_text()
    assert "<img" not in text and "](javascript" not in text and "![a](b)" not in text
    for figure in (tmp_path / "out" / "figures").glob("*.svg"):
        assert "<img" not in figure.read_text()
    assert all("/" not in name and '"' not in name for name in os.listdir(tmp_path / "out" / "figures"))
