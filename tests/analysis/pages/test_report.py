import json
import re
import shutil

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages import check, environment
from vicinity_analysis.pages import report as report_module


def write(root, machine, out, *others):
    arguments = ["report", str(root / "results" / machine), "--out", str(out), "--root", str(root), "--check-links"]
    if others:
        arguments += ["--with", *(str(root / "results" / other) for other in others)]
    return main(arguments)


@pytest.fixture(scope="module")
def report(root, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    assert write(root, "gpu-a", out, "gpu-b", "cpu-only") == 0
    return out


def text_of(folder):
    """All pages, one after the other."""
    return "".join(path.read_text() for path in sorted(folder.glob("*.html")))


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_same_records_same_bytes(tmp_path):
    few = {"table1": synthetic.TABLE1, "scaling": synthetic.SCALING | {"load": [1], "possibilities": [8]}}
    root = synthetic.make_root(tmp_path / "root", few)
    for name in ("one", "two"):
        synthetic.make_machine(root / "results", name, "GPU", experiments=few)
    for out in ("first", "second"):
        assert write(root, "one", tmp_path / out, "two") == 0
    first, second = files(tmp_path / "first"), files(tmp_path / "second")
    assert first.keys() == second.keys() and "figures/fang-scaling-states.svg" in first
    assert [name for name in first if first[name] != second[name]] == []


def test_nothing_comes_from_outside(report):
    text = text_of(report)
    assert check.faults_of(report) == [] and not re.search(r'(href|src)="https?:', text) and "@import" not in text
    pages = len(list(report.glob("*.html")))
    assert text.count("default-src 'none'; script-src 'self'; style-src 'unsafe-inline'") == pages > 2
    scripts = set(re.findall(r"<script[^>]*>", text))
    files = {'<script src="plotly.min.js" defer>', '<script src="report.js" defer>'}
    data = {'<script type="application/json">', '<script type="application/json" id="picker-data">'}
    assert files <= scripts <= files | data and not re.search(r"<[^>]* on[a-z]+=", text)
    assert b"plotly.js" in (report / "plotly.min.js").read_bytes()[:200]


def test_what_a_reader_expects(report):
    text = text_of(report)
    for word in ("GeForce GTX Titan X", "Ryzen 7 2700X", "NVIDIA H200", "holds in part", "Speed of light", "skipped"):
        assert word in text
    assert 'title="fang/table1.jsonl:60 (full' in text
    markdown = (report / "report.md").read_text()
    assert "66.30" in markdown and "(figures/fang-table1-times.png)" in markdown
    for name in ("figures/fang-scaling-states.svg", "tables/fang-table1-times.tex", "tables/claims.csv"):
        assert (report / name).stat().st_size > 100


def test_the_summary_has_a_line_a_table_and_implementation_machine_by_machine(report):
    text = (report / "report.md").read_text()
    lines = text[text.index("## How far from") :].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| fang/table")]
    assert len({tuple(row[:3]) for row in rows}) == len(rows)
    tuned = next(row for row in rows if row[:2] == ["fang/table1", "gpu-tuned"])
    smallest, median, largest = (float(cell.rstrip("×").replace(",", "")) for cell in tuned[3:6])
    assert tuned[2] == "GeForce GTX 1080 Ti" and smallest <= median <= largest
    assert tuned[9:12] == ["—"] * 3  # the machine without a GPU


def test_extrapolated_values_are_marked_where_they_stand(report):
    text = text_of(report)
    assert re.search(r"514<sup>e</sup>|51\d<sup>e</sup>", text)
    assert "<sup>e</sup> extrapolated" in text


def test_missing_data_says_how_to_get_it(root, tmp_path):
    copy = tmp_path / "root"
    shutil.copytree(root, copy)
    path = copy / "results" / "gpu-a" / "fang" / "table1.jsonl"
    path.write_text("".join(x + "\n" for x in path.read_text().splitlines() if '"gpu-tuned"' not in x))
    (copy / "results" / "gpu-a" / "fang" / "table2.jsonl").unlink()
    assert write(copy, "gpu-a", tmp_path / "out") == 0
    text = text_of(tmp_path / "out")
    assert "Not measured on NVIDIA H100 80GB HBM3: gpu-tuned." in text
    assert "build/vicinity run experiments/fang/table1.yaml --implementation gpu-tuned" in text
    assert "build/vicinity run experiments/fang/table2.yaml" in text


def test_a_machine_without_gpu_shows_the_recorded_ones(root, tmp_path):
    assert write(root, "cpu-only", tmp_path, "gpu-b") == 0
    text = text_of(tmp_path)
    assert "AMD EPYC 9999 has no GPU" in text and "gpu-tuned (NVIDIA H200)" not in text.split("<svg")[0]
    assert "(NVIDIA H200)" in (tmp_path / "report.md").read_text() or "NVIDIA H200" in text


def test_a_smoke_run_measures_no_row_of_a_table_and_all_links_are_sound(tmp_path):
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    small = {"load": [1], "states": [16], "variables": [8], "possibilities": [1224]}
    synthetic.make_machine(root / "results", "m", experiments={"table1": small}, profile="smoke")
    assert write(root, "m", tmp_path / "out") == 0
    assert check.faults_of(tmp_path / "out") == []
    assert not list((tmp_path / "out" / "tables").glob("*-limits.*"))


def test_an_invalid_case_has_no_time(tmp_path):
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    folder = synthetic.make_machine(root / "results", "m", "GPU", experiments={"table1": synthetic.TABLE1})
    path = folder / "fang" / "table1.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[4].update(status="invalid", samples={}, message="digest differs")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert write(root, "m", tmp_path / "out") == 0
    assert ">INVALID<" in text_of(tmp_path / "out")


def test_broken_links_are_found(report, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(report, copy)
    page = copy / "machines.html"
    page.write_text(page.read_text().replace('id="limits"', 'id="gone"') + '<a href="https://example.org">x</a>')
    page.write_text(page.read_text().replace('id="coverage"', 'id="lost"'))
    (copy / "tables" / "claims.csv").unlink()
    faults = "\n".join(check.faults_of(copy))
    for fault in (
        "no such place on the page: #limits",
        "place on the page: machines.html#coverage",
        "leads outside",
        "no such file: tables/claims.csv",
    ):
        assert fault in faults
    assert main(["check", str(copy)]) == 1


def test_unreadable_folders_are_one_line(root, tmp_path, capsys):
    assert write(root, "nobody", tmp_path) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_two_folders_of_one_machine_are_one_line(root, tmp_path, capsys):
    shutil.copytree(root, tmp_path / "root")
    results = tmp_path / "root" / "results"
    shutil.copytree(results / "gpu-a", results / "copy")
    assert write(tmp_path / "root", "gpu-a", tmp_path / "out", "copy") == 2
    told = capsys.readouterr().err
    assert 'environment.json: "machine" is gpu-a, as in ' in told and told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_checks_of_many_experiments_are_told_as_one(tmp_path):
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    for name in ("gpu-a", "gpu-b"):
        synthetic.make_machine(root / "results", name, "GPU", experiments={"table1": synthetic.TABLE1})
    checks = [("twins a/b smoke", 3, 0), ("twins a/c smoke", 2, 0), ("compute-sanitizer racecheck a/b", 1, 1)]
    found = {
        "sources": "0123",
        "checks": [dict(zip(("name", "cases", "failed"), check, strict=True)) for check in checks],
    }
    (root / "results/gpu-a/verification.json").write_text(json.dumps(found))
    assert write(root, "gpu-a", tmp_path / "out", "gpu-b") == 0
    text = (tmp_path / "out/report.md").read_text()
    assert "twins smoke: 5 cases; compute-sanitizer racecheck: 1 cases, 1 FAILED (a/b) (sources `0123`)" in text
    assert text.count("no verification.json") == 1


def test_the_builds_of_the_records(tmp_path):
    made = [
        synthetic.record("m", "fang/table1", {"load": load}, "gpu", [1.0], **change)
        for load, change in enumerate(({"build": "1"}, {"build": "1"}, {"build": "2"}, {"build": "3"}))
    ]
    folder = synthetic.write_records(tmp_path, "m", made, gpu="GPU")
    machine = load_machine(folder)
    compilers = {"cxx": "GNU 14", "cxx_flags": "-O1", "cuda": None}
    machine.environment["builds"] = {
        "1": {"compilers": compilers, "waiting": {"OMP_WAIT_POLICY": "active"}},
        "3": {"compilers": compilers, "waiting": None},
    }
    rows = [[cell.text for cell in row] for row in environment.builds_table([machine]).rows]
    sources = "00112233aabbccdd"
    assert rows[0] == ["m", "2", sources, "GNU 14", "-O1", "—", "—", "OMP_WAIT_POLICY=active"]
    assert rows[1] == ["m", "1", sources, *["unknown"] * 5]
    assert rows[2] == ["m", "1", sources, "GNU 14", "-O1", "—", "—", "—"]


def test_as_many_machines_as_there_are_newest_first(tmp_path):
    """The report's own comes first whenever it was measured; each has its columns in every table."""
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    case = {"load": 1, "states": 1024, "variables": 8, "possibilities": 1224}
    for month, machine in enumerate("cabed", start=1):
        process = {"pid": 1, "start": f"2026-0{month}-01T00:00:00Z"}
        line = synthetic.record(machine, "fang/table1", case, "gpu", [month * 1e-3] * 3, process=process)
        synthetic.write_records(root / "results", machine, [line], gpu=f"GPU {machine.upper()}")
    assert write(root, "a", tmp_path / "report", "b", "c", "d", "e") == 0
    assert "Beside it: GPU D, GPU E, GPU B, GPU C" in (tmp_path / "report" / "index.html").read_text()
    environments = (tmp_path / "report" / "machines.html").read_text()
    places = [environments.index(f">{machine}</th>") for machine in "adebc"]
    assert places == sorted(places)
    rows = (tmp_path / "report" / "tables" / "fang-table1-times.csv").read_text()
    assert all(f"{machine}/fang/table1.jsonl:1" in rows for machine in "abcde")


def test_a_machine_with_one_experiment_does_not_advise(root, tmp_path):
    few = {"table1": synthetic.TABLE1}
    one = load_machine(synthetic.make_machine(tmp_path, "one", "GPU", experiments=few))
    several, without = (load_machine(root / "results" / name) for name in ("gpu-a", "cpu-only"))
    assert report_module._chooser([one, without, several]) is several
    assert report_module._chooser([without, one]) is one
    assert report_module._chooser([without]) is without


def test_other_machines_without_any_value_of_a_table_are_not_told(root, tmp_path):
    few = {"scaling": synthetic.SCALING | {"load": [1], "possibilities": [8]}}
    synthetic.make_machine(tmp_path, "one", "Other", experiments=few)
    arguments = ["report", str(root / "results" / "gpu-a"), "--with", str(tmp_path / "one"), "--root", str(root)]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "report.md").read_text()
    assert "Not measured on Other" not in text and "Other: median" not in text
