"""What a descriptor leaves out, and how many values there are."""

from dataclasses import replace

import pytest
import synthetic
import yaml
from vicinity_analysis.__main__ import main
from vicinity_analysis.catalogue import open_catalogue
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.published import Spared, read_descriptor
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages.coverage import Coverage, coverage_of, coverage_table
from vicinity_analysis.views import tables
from vicinity_analysis.views.usual import view_of
from worlds import study_of

DESCRIPTOR = """\
title: "Climbing to all ones"
paper: one-max
{published}axes: {{size: [64, 128], depth: [1]}}
sweeps: [{{size: [64]}}, {{size: [128, 256]}}]
implementations: [cpu-serial, gpu]
protocol: {{statistic: median, repetitions: 5, time: wall}}
left_out:
  - {{where: {{size: [128, 256]}}, implementations: [cpu-serial], reason: it takes a day}}
  - {{implementations: [gpu-odd], reason: nobody has one}}
profiles: {{full: {{}}}}
"""
PRINTED = "published: {csv: published.csv, axes: {size: size}, metric: time}\n"
CSV = """\
paper,table,row_key,instance,params,device,device_kind,implementation,metric,unit,value,spread,spread_kind,notes
one-max,Table 1,r1,,size=64,Abacus,cpu,cpu,time,ms,5,,,
one-max,Table 1,r2,,size=128,Abacus,cpu,cpu,time,ms,9,,,
one-max,Table 1,r3,,size=256,Abacus,cpu,cpu,time,ms,20,,,
"""
DAY = "size = 128 or 256, cpu-serial: not run: it takes a day."
NOBODY = "gpu-odd: not run: nobody has one."


def record(size, name, **more):
    case = {"size": size, "depth": 1}
    return synthetic.record("m", "one-max/climb", case, name, [1e-3] * 5, **more) | {"system": "one-max"}


@pytest.fixture
def world(tmp_path):
    """make(records, printed) -> the study of these records on machine m."""

    def make(records, printed=True):
        folder = tmp_path / "experiments" / "one-max"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "climb.yaml").write_text(DESCRIPTOR.format(published=PRINTED if printed else ""))
        (folder / "published.csv").write_text(CSV)
        results = synthetic.write_records(tmp_path / "results", "m", records, "GPU")
        known = open_catalogue(synthetic.REPOSITORY, experiments=[folder.parent])
        return study_of(known.studies([load_machine(results)]), "one-max/climb")

    return make


def test_a_value_that_is_left_out_says_why(world):
    study = world([record(64, "cpu-serial"), record(64, "gpu"), record(128, "gpu")])
    (_, second, third) = tables.times_table(study).rows
    gpu, serial = 2, 3  # after the size and the printed time
    assert second[serial].title == third[serial].title == "not run: it takes a day"
    assert second[serial].text == "—" and third[gpu].title == "not measured"
    view = view_of(study, [study], {})
    assert [note for note in view.shown[0].notes if "not run" in note] == [DAY, NOBODY]


def test_a_reason_stands_only_where_a_value_is_missing(world):
    study = world([record(size, name) for size in (64, 128, 256) for name in ("cpu-serial", "gpu")])
    assert tables.left_out(study) == [NOBODY]


def test_without_a_printed_table_every_reason_stands(world):
    study = world([record(size, name) for size in (64, 128) for name in ("cpu-serial", "gpu")], printed=False)
    assert tables.left_out(study) == [DAY, NOBODY]


@pytest.mark.parametrize("printed", [True, False])
def test_counts(world, printed):
    scaled = {"axis": "size", "at": [1, 2, 3], "to": 256}
    records = [
        record(64, "cpu-serial"),
        record(64, "gpu", profile="smoke"),
        record(128, "gpu") | {"status": "skipped", "message": "it does not fit"},
        record(256, "gpu") | {"extrapolated": scaled},
    ]
    study = world(records, printed)
    found = coverage_of(study, study.machines[0])
    assert found == Coverage(rows=3, whole=1, scaled=1, explained=3, missing=1, versions="0.1.0")
    assert found.values == 6


def test_fewer_seeds_than_are_asked_for_are_said_and_are_no_gap(world):
    def runs(seeds):
        return [
            record(size, "gpu", seeds=[seed]) for size, upto in ((64, 10), (128, 3), (256, 1)) for seed in seeds[:upto]
        ]

    study = world(runs(range(1, 11)))
    asked = replace(study, descriptor=replace(study.descriptor, seeds=tuple(range(1, 11))))
    found = coverage_of(asked, asked.machines[0])
    assert (found.whole, found.fewer_seeds, found.seeds) == (3, 2, "1 to 3 of 10 seeds")
    assert found.missing == coverage_of(study, study.machines[0]).missing
    (line,) = coverage_table([asked]).rows
    assert line[-2].text == "2: 1 to 3 of 10 seeds"
    assert coverage_table([study]).rows[0][-2].text == ""  # one is asked for
    sparing = replace(asked.descriptor, spared=Spared(seeds_under=1e-4))  # of what takes no less, the first alone
    assert coverage_of(replace(asked, descriptor=sparing), asked.machines[0]).fewer_seeds == 0


def test_how_many_seeds_are_asked_for():
    """As `Repeats` of harness/cli/run_command.cpp has it."""
    assert Spared().seeds_of(10, 1e9, 1e9) == 10
    limited = Spared(seeds_under=1)
    assert [limited.seeds_of(10, *of) for of in ((0.9, 2.9), (1, 0), (0.1, 3))] == [10, 1, 1]
    shared = Spared(seeds_under=1, processes_under=10, divided=5)
    assert [shared.seeds_of(30, seconds, 0) for seconds in (0.5, 1, 10)] == [30, 5, 1]
    assert Spared(processes_under=10, divided=5).seeds_of(30, 10, 0) == 6


@pytest.mark.parametrize(
    ("protocol", "spared"),
    [
        ("seeds: [1, 2]", Spared()),
        ("seeds: {count: 10, under: 60}", Spared(60)),
        ("seeds: {count: 10, under: 1, divided: true}, processes: {count: 5, under: 3}", Spared(1, 3, 5)),
        ("seeds: {count: 10, divided: true}, processes: 4", Spared(divided=4)),
    ],
)
def test_what_a_descriptor_spares(tmp_path, protocol, spared):
    (tmp_path / "one-max").mkdir()
    path = tmp_path / "one-max" / "climb.yaml"
    path.write_text(DESCRIPTOR.format(published="").replace("repetitions: 5", f"repetitions: 5, {protocol}"))
    assert read_descriptor(path).spared == spared


def test_what_needs_a_gpu_is_no_gap_of_a_machine_without_one(world):
    study = world([record(size, "cpu-serial") for size in (64, 128)])
    assert coverage_of(study, study.machines[0]).missing == 3  # the GPU's
    study.machines[0].environment["gpu"] = None
    found = coverage_of(study, study.machines[0])
    assert (found.whole, found.explained, found.missing) == (2, 4, 0)


def test_other_machines_have_a_line_only_where_they_have_a_value(world):
    study = world([record(64, "gpu")])
    other = replace(study.machines[0], environment={"machine": "other"}, all_records=[])
    both, here_alone = replace(study, machines=[study.machines[0], other]), replace(study, machines=[other])
    assert [row[1].text for row in coverage_table([both]).rows] == [study.machines[0].title]
    assert len(coverage_table([here_alone]).rows) == 1 and not coverage_table([here_alone], empty=False).rows


def test_cases_of_the_profile_full(tmp_path):
    folder = tmp_path / "one-max"
    folder.mkdir()
    text = DESCRIPTOR.format(published="")
    (folder / "climb.yaml").write_text(text)
    size = [dict(key)["size"] for key in read_descriptor(folder / "climb.yaml").cases]
    assert size == ["64", "128", "256"]
    own_axes = yaml.safe_load(text) | {"profiles": {"full": {"axes": {"size": [7]}, "instances": ["a", "b"]}}}
    (folder / "climb.yaml").write_text(yaml.safe_dump(own_axes, sort_keys=False))
    keys = read_descriptor(folder / "climb.yaml").cases
    assert keys == tuple((("instance", name), ("size", "7"), ("depth", "1")) for name in "ab")
    (folder / "climb.yaml").write_text(text.replace("reason: it takes a day", "why: it takes a day"))
    with pytest.raises(InputError, match=r"climb\.yaml: left_out"):
        read_descriptor(folder / "climb.yaml")


def test_the_command_prints_a_table_and_its_status(world, tmp_path, capsys):
    world([record(64, "cpu-serial"), record(64, "gpu"), record(128, "gpu"), record(256, "gpu")])
    given = [str(tmp_path / "results" / "m"), "--root", str(synthetic.REPOSITORY)]
    given += ["--experiments", str(tmp_path / "experiments")]
    assert main(["coverage", *given]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "one-max/climb" in line)
    assert [word.strip() for word in line.split("|")[3:-1]] == ["3", "6", "4", "0", "2", "0", "0", "", "0.1.0"]
    assert main(["coverage", "--strict", *given]) == 1  # of the other experiments nothing is measured


def test_every_left_out_entry_is_of_its_experiment():
    """Axes and implementations are known; `vicinity` checks the values. Whole cases, and implementations, are in no
    plan; of an entry with both the plan leaves the pairs out."""
    known = open_catalogue(synthetic.REPOSITORY)
    for descriptor in known.descriptors().values():
        for entry in descriptor.left_out:
            assert entry.reason and set(entry.where) <= {axis for key in descriptor.cases for axis, _ in key}
            pairs = [(name, key) for key in descriptor.cases for name in descriptor.implementations]
            covered = [pair for pair in pairs if entry.covers(*pair)]
            both = entry.where and entry.implementations
            assert len(covered) < len(pairs) if both else not covered, descriptor.experiment
