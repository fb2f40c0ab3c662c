"""What comes in through a pull request, checked and packed."""

import io
import json
import shutil
import subprocess
import tarfile

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.pages import counters


@pytest.fixture
def folder(tmp_path):
    return synthetic.make_machine(tmp_path / "results", "gpu-a", "GPU", experiments={"table1": synthetic.TABLE1})


def submit(folder, tmp_path, *more):
    return main(["submit", str(folder), "--out", str(tmp_path), *more])


def change(folder, line, **members):
    path = folder / "fang" / "table1.jsonl"
    rows = path.read_text().splitlines()
    rows[line - 1] = json.dumps(json.loads(rows[line - 1]) | members)
    path.write_text("".join(row + "\n" for row in rows))


def test_the_archive_has_the_records_and_nothing_else(folder, tmp_path, capsys):
    (folder / "report").mkdir()
    (folder / "report" / "index.html").write_text("x")
    (folder / "notes.txt").write_text("mine")
    assert submit(folder, tmp_path) == 0
    data = (tmp_path / "gpu-a-records.tar.gz").read_bytes()
    with tarfile.open(fileobj=io.BytesIO(data)) as found:
        assert found.getnames() == ["gpu-a/environment.json", "gpu-a/fang/table1.jsonl"]
        packed = found.extractfile("gpu-a/fang/table1.jsonl").read()
    assert packed == (folder / "fang" / "table1.jsonl").read_bytes()
    assert submit(folder, tmp_path) == 0 and (tmp_path / "gpu-a-records.tar.gz").read_bytes() == data
    assert "60 records of GPU" in capsys.readouterr().out


def test_what_was_counted_is_packed_and_checked(folder, tmp_path, capsys):
    (folder / counters.FILE).write_text(",".join(counters.COLUMNS) + "\n")
    assert submit(folder, tmp_path) == 0
    with tarfile.open(tmp_path / "gpu-a-records.tar.gz") as found:
        assert "gpu-a/counters.csv" in found.getnames()
    (folder / counters.FILE).write_text("experiment,case\nx,y\n")
    assert submit(folder, tmp_path) == 1
    assert "counters.csv:2: not the columns" in capsys.readouterr().out


def test_checking_packs_nothing(folder, tmp_path, capsys):
    assert submit(folder, tmp_path, "--check") == 0
    assert not list(tmp_path.glob("*.tar.gz")) and "60 records of GPU a, sound" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("members", "told"),
    [
        (
            {"status": "invalid", "samples": {}, "message": "digest differs"},
            "table1.jsonl:7: status: invalid: digest differs",
        ),
        ({"verified": False}, "table1.jsonl:7: verified: its result was not checked"),
        ({"profile": "smoke"}, "table1.jsonl:7: profile: smoke"),
        ({"case": "none"}, "table1.jsonl:7: case"),
    ],
)
def test_a_record_that_is_not_fit_is_named_and_nothing_is_packed(folder, tmp_path, capsys, members, told):
    change(folder, 7, **members)
    assert submit(folder, tmp_path) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert told in line and not list(tmp_path.glob("*.tar.gz"))


def test_a_line_that_a_killed_run_left_is_named_and_nothing_is_packed(folder, tmp_path, capsys):
    with (folder / "fang" / "table1.jsonl").open("a") as records:
        records.write('{"schema":1,"exper')
    for check in ([], ["--check"]):
        assert submit(folder, tmp_path, *check) == 1
        (line,) = capsys.readouterr().out.splitlines()
        assert "table1.jsonl:61: unfinished last line: run the experiment again" in line
    assert not list(tmp_path.glob("*.tar.gz"))


def test_without_packages_the_script_says_how_to_get_them(tmp_path):
    shutil.copytree(synthetic.REPOSITORY / "scripts", tmp_path / "scripts")
    (tmp_path / "results").mkdir()
    for script in (["compare", "results/a", "results/b"], ["submit", "--check"], ["fetch", "x"]):
        done = subprocess.run(
            [tmp_path / "scripts" / script[0], *script[1:]], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
        assert "call scripts/setup python" in done.stderr


def test_the_folder_has_the_machines_name_and_an_environment(folder, tmp_path, capsys):
    other = shutil.copytree(folder, folder.parent / "other")
    assert submit(other, tmp_path) == 1 and "while the folder is 'other'" in capsys.readouterr().out
    (other / "environment.json").unlink()
    assert submit(other, tmp_path) == 1 and "environment.json: missing" in capsys.readouterr().out


def test_a_place_that_cannot_be_written_is_one_line(folder, tmp_path, capsys):
    assert submit(folder, tmp_path / "nowhere") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_recorded_here_is_fit(capsys):
    folders = [str(path.parent) for path in sorted((synthetic.REPOSITORY / "results").glob("*/environment.json"))]
    assert main(["submit", "--check", *folders]) == 0, capsys.readouterr().out
