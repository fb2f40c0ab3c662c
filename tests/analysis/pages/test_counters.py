"""What Nsight Compute counted, by kernel, in a machine's counters.csv and in the report."""

import re
from pathlib import Path

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages import counters

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
HEAD = ["ID", "Kernel Name", counters.TIME, *(metric for metric, _ in counters.SHARES.values())]
HEAD += [STALL.format(name) for name in ("barrier", "long_scoreboard", "selected", "barrier_not_issued")]
UNITS = ["", "", "us", *("%" for _ in counters.SHARES), *("inst" for _ in range(4))]


def launch(kernel: str, time: str, share: str = "10") -> list[str]:
    return ["0", kernel, time, *(share for _ in counters.SHARES), "3", "1", "9", "50"]


def watched(folder: Path, launches: list[list[str]], sizes: tuple[int, ...] = (4,)) -> Path:
    """A folder as scripts/counters leaves it."""
    folder.mkdir()
    lines = [",".join(f'"{text}"' for text in line) for line in (HEAD, UNITS, *launches)]
    (folder / "ncu.csv").write_text("==PROF== Connected\n" + "\n".join(lines) + "\n")
    records = [synthetic.record("m", "fang/table1", {"size": size}, "gpu", [1e-3], profile="quick") for size in sizes]
    synthetic.write_records(folder / "results", "m", records, gpu="M")
    return folder


def test_the_kernel_that_takes_most_time_counts_and_its_launches_by_their_time(tmp_path: Path) -> None:
    launches = [
        launch("a(int)", "1,000"),
        launch("void vicinity::<unnamed>::b<(bool)0, int>(int)", "900", "20"),
        launch("void vicinity::<unnamed>::b<(bool)1, int>(int)", "300", "60"),
    ]
    line = counters.line_of(watched(tmp_path / "run", launches))
    assert (line["kernel"], line["launches"], line["milliseconds"]) == ("b", "2", "1.2")
    assert {line[name] for name in counters.SHARES} == {"30.0"}
    assert (line["waits_for"], line["waiting"]) == ("barrier", "75")
    assert counters.key_of(line)[::2] == ("fang/table1", "gpu")


def test_a_line_replaces_that_of_the_same_run_and_the_report_shows_it(tmp_path: Path) -> None:
    run = watched(tmp_path / "run", [launch("a(int)", "5")])
    machine = run / "results" / "m"
    out = machine / counters.FILE
    for _ in range(2):
        assert main(["counters", str(run), "--out", str(out)]) == 0
    assert len(counters.read(out)) == 1
    table = counters.counters_table([load_machine(machine)])
    assert table is not None
    assert [cell.text for cell in table.rows[0]][1:4] == ["fang/table1", "gpu", "a"]
    assert table.rows[0][-1].text == "barrier (75 %)"


@pytest.mark.parametrize("text", ["==ERROR== ERR_NVGPUCTRPERM - no permission\n", "==PROF== Connected\n"])
def test_what_was_not_watched_is_said(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = watched(tmp_path / "run", [])
    (run / "ncu.csv").write_text(text)
    assert main(["counters", str(run), "--out", str(tmp_path / "counters.csv")]) == 2
    told = capsys.readouterr().err
    assert "ERR_NVGPUCTRPERM" in told if "ERROR" in text else "no kernel was watched" in told
    assert not (tmp_path / "counters.csv").exists()


def test_one_case_is_watched_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = watched(tmp_path / "run", [launch("a(int)", "5")], (4, 5))
    assert main(["counters", str(run), "--out", str(tmp_path / "counters.csv")]) == 2
    assert "2 cases recorded; watch one of them (WHERE)" in capsys.readouterr().err


def test_a_damaged_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "counters.csv").write_text("experiment,case\nx,y\n")
    run = watched(tmp_path / "run", [launch("a(int)", "5")])
    assert main(["counters", str(run), "--out", str(tmp_path / "counters.csv")]) == 2
    assert "counters.csv:2: not the columns" in capsys.readouterr().err


def test_what_ncu_is_to_count_is_what_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["counters", "--metrics"]) == 0
    counted = capsys.readouterr().out.strip().split(",")
    assert counted[:-1] == HEAD[2 : 3 + len(counters.SHARES)]
    assert all(re.search(counted[-1].removeprefix("regex:"), name) for name in HEAD[3 + len(counters.SHARES) :])
