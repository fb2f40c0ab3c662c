import re

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.catalogue import EXPERIMENTS, PAPERS, find_papers, open_catalogue
from vicinity_analysis.errors import InputError

PACKAGE = """\
from vicinity_analysis.claims import Claim
from vicinity_analysis.paper import Paper
from {package}.judges import always

CLAIM = Claim("ones", "one-max/climb", "it climbs to all ones", "section 1", "always", always)
PAPER = Paper(system="one-max", order={order}, title="Counting ones (A. Stranger)", claims=(CLAIM,))
"""
JUDGES = """\
from vicinity_analysis.claims import HOLDS, Finding


def always(evidence):
    return [Finding("gpu", HOLDS, "as it should")] if evidence.machine else []
"""
DESCRIPTOR = """\
title: "Climbing to all ones"
paper: one-max
published: {csv: published.csv, axes: {size: size}, metric: time}
axes: {size: [64, 128]}
implementations: [cpu-serial, gpu]
protocol: {statistic: median, repetitions: 5, time: wall, seeds: {first: 1, count: 3}}
"""
CSV = """\
paper,table,row_key,instance,params,device,device_kind,implementation,metric,unit,value,spread,spread_kind,notes
one-max,Table 1,r1,,size=64,Abacus,cpu,cpu,time,ms,5,,,
one-max,Table 1,r2,,size=128,Abacus,cpu,cpu,time,ms,9,,,
"""


def stranger(folder, package="one_max_paper", order=9):
    """Another repository: experiments/one-max/ and analysis/<package>/."""
    experiments, code = folder / "experiments" / "one-max", folder / "analysis" / package
    experiments.mkdir(parents=True)
    code.mkdir(parents=True)
    (experiments / "climb.yaml").write_text(DESCRIPTOR)
    (experiments / "published.csv").write_text(CSV)
    (code / "__init__.py").write_text(PACKAGE.format(order=order, package=package))
    (code / "judges.py").write_text(JUDGES)
    return folder / "experiments", folder / "analysis"


def records(machine, seeds=(1, 2, 3)):
    for size in (64, 128):
        for name in ("cpu-serial", "gpu"):
            for seed in seeds:
                found = synthetic.record(machine, "one-max/climb", {"size": size}, name, [1e-3 * seed] * 5)
                yield found | {"system": "one-max", "paper": "one-max", "seeds": [seed]}


@pytest.fixture
def results(tmp_path):
    return synthetic.write_records(tmp_path / "results", "m", records("m"), "GPU")


def report(results, out, *arguments):
    assert main(["report", str(results), "--out", str(out), "--check-links", *map(str, arguments)]) == 0
    return (out / "report.md").read_text()


def test_the_papers_of_the_repository_in_their_order():
    assert list(find_papers()) == ["fang", "sa", "lsm", "alns", "lns"]


def test_a_system_kept_elsewhere_is_shown_with_its_claims(tmp_path, results):
    experiments, papers = stranger(tmp_path / "theirs")
    text = report(results, tmp_path / "out", "--papers", papers, "--experiments", experiments)
    assert "## Counting ones (A. Stranger)" in text and "it climbs to all ones" in text
    assert f"measured again by `build/vicinity run {experiments / 'one-max' / 'climb.yaml'}`" in text
    assert "experiments/one-max/published.csv" in (tmp_path / "out" / "tables" / "one-max-climb-times.csv").read_text()


def test_the_environment_names_folders_too(tmp_path, results, monkeypatch):
    experiments, papers = stranger(tmp_path / "theirs", "one_max_by_environment")
    monkeypatch.setenv(PAPERS, f"{papers}:")
    monkeypatch.setenv(EXPERIMENTS, str(experiments))
    known = open_catalogue()
    assert list(known.papers)[-1] == "one-max" and "one-max/climb" in known.descriptors()
    assert known.descriptors()["one-max/climb"].seeds == (1, 2, 3)


def test_a_stranger_needs_no_python(tmp_path, results):
    experiments, _ = stranger(tmp_path / "theirs", "one_max_unused")
    text = report(results, tmp_path / "out", "--experiments", experiments)
    assert "## one-max" in text and "Climbing to all ones" in text and "| 128 |" in text


def test_quality_over_seeds_needs_no_view_either(tmp_path):
    experiments, _ = stranger(tmp_path / "theirs", "one_max_quality")
    descriptor = experiments / "one-max" / "climb.yaml"
    lines = descriptor.read_text().splitlines(keepends=True)
    descriptor.write_text("instances: [ones]\n" + "".join(line for line in lines if "published" not in line))
    found = [record | {"objective": 60, "objective_sense": "maximise", "best_known": 64} for record in records("m")]
    for record in found:
        record["case"] = record["case"] | {"instance": "ones"}
    results = synthetic.write_records(tmp_path / "results", "m", found, "GPU")
    text = report(results, tmp_path / "out", "--experiments", experiments)
    assert "| ones | 64 | 64 | 3 | 6.250 | 6.250 | 6.250 | 6.250 | 0 of 3 |" in text
    assert "one-max-climb-m.png" in text


def test_nor_a_descriptor(tmp_path, results):
    assert "one-max/climb (descriptor not found)" in report(results, tmp_path / "out")


def test_what_is_wrong_is_said(tmp_path):
    experiments, papers = stranger(tmp_path / "a", "one_max_twice")
    with pytest.raises(InputError, match="no such folder"):
        open_catalogue(papers=[tmp_path / "nowhere"])
    more, again = stranger(tmp_path / "b", "one_max_again")
    with pytest.raises(InputError, match="a second paper of the system 'one-max'"):
        find_papers([papers.resolve(), again.resolve()])
    with pytest.raises(InputError, match="stands in"):
        open_catalogue(experiments=[experiments, more]).descriptors()
    (papers / "one_max_twice").rename(papers / "json")
    with pytest.raises(InputError, match="a module called 'json'"):
        find_papers([papers.resolve()])


def test_a_broken_package_names_its_file(tmp_path):
    for name, text, message in (("no_paper_here", "", "exposes no PAPER"), ("broken_paper", "1 / 0", "ZeroDivision")):
        folder = tmp_path / name
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(text)
        with pytest.raises(InputError, match=rf"{name}/__init__.py: .*{message}"):
            find_papers([folder.resolve()])


def test_tables_stand_by_their_numbers():
    names = [name for name in open_catalogue(synthetic.REPOSITORY).descriptors() if name.startswith("lsm/table")]
    numbers = [int(re.match(r"lsm/table(\d+)", name)[1]) for name in names]
    assert numbers == sorted(numbers) and numbers[-1] == 11
