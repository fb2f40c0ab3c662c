"""Anytime curves from traces: medians over seeds, who has no solution yet, ours and peers in one figure."""

from itertools import count

import numpy as np
import pytest
from synthetic import make_root, record, write_records
from vicinity_analysis.pages.measured import record_of
from vicinity_analysis.views import anytime
from vicinity_analysis.views.quality import MEAN_GAP, SEEDS
from vicinity_analysis.views.quantities import Row
from vicinity_analysis.views.usual import shown_with, view_of
from worlds import studies_of, study_of

DESCRIPTOR = """\
schema: 1
title: "Gap against time"
paper: fang
system: fang
problem: grid-path
instances: [easy, hard]
axes: {load: [1]}
implementations: [cpu-serial]
protocol: {repetitions: 1, warmup: 0, time: wall, seeds: {first: 1, count: 3}, budget: {seconds: 10}, trace: true}
check: {kind: prefix, iterations: 1, reference: cpu-serial}
profiles: {smoke: {}, quick: {}, full: {}}
"""
PEER = {"name": "Other", "version": "1.2", "program": "other --fast"}


def run(name, instance, seed, steps, best=1000.0, **changes):
    """`steps`: (seconds, objective) of its improvements."""
    found = record("m", "fang/race", {"load": 1}, name, [10.0], **changes)
    found["case"]["instance"] = instance
    found["case_key"] = f"problem=grid-path;instance={instance};load=1"
    found |= {"seeds": [seed], "best_known": best, "objective": steps[-1][1], "samples": {"wall": [10.0]}}
    found["protocol"] |= {"time": "wall", "budget": {"seconds": 10.0, "target": None}}
    found["trace"] = [{"seconds": s, "iterations": k, "objective": o, "digest": "0"} for k, (s, o) in enumerate(steps)]
    return found


OURS = [
    run("cpu-serial", "easy", 1, [(0.1, 1100), (5.0, 1000)]),
    run("cpu-serial", "easy", 2, [(0.2, 1200), (1.0, 1050)]),
    run("cpu-serial", "easy", 3, [(4.0, 1010), (10.0, 1010)]),
]
THEIRS = [run("Other 1.2", "easy", seed, [(2.0, 1300), (8.0, 1020)], peer=PEER) for seed in (1, 2, 3)]
PROVED = run("Other 1.2", "hard", 1, [(0.05, 1000)], peer=PEER)


@pytest.fixture
def world(tmp_path):
    number = count()

    def make(records):
        root = make_root(tmp_path / str(next(number)))
        (root / "experiments/fang/race.yaml").write_text(DESCRIPTOR)
        write_records(root / "results", "m", records)
        studies = studies_of(root, "m")
        return study_of(studies, "fang/race"), studies

    return make


def curve_of(study, name, instance="easy"):
    return next(c for c in anytime.curves([study], study.machines[0]) if (c.name, c.instance) == (name, instance))


def test_a_run_is_a_step_function_and_the_median_is_over_seeds(world):
    study, _ = world([*OURS, *THEIRS])
    ours = curve_of(study, "cpu-serial")
    assert ours.first == 0.1 and ours.end == 10
    assert list(ours.gaps(0.15, 1000)) == [10, np.inf, np.inf]
    assert ours.percentile(0.15, 1000, 50) == np.inf  # most have no solution
    assert ours.percentile(0.2, 1000, 50) == pytest.approx(20)  # one has none: it is the worst of three
    assert ours.percentile(4.5, 1000, 50) == pytest.approx(5)
    assert ours.percentile(10, 1000, 50) == pytest.approx(1)


def test_the_median_of_an_even_number_is_between_the_two_in_the_middle():
    values = np.array([3.0, np.inf, 1.0, 2.0])
    assert anytime.percentile(values, 50) == 2.5 and anytime.percentile(values, 75) == np.inf
    assert anytime.percentile(np.array([1.0, np.inf]), 50) == np.inf


def test_more_is_better_where_it_is_maximised(world):
    steps = [(1.0, 800), (2.0, 950)]
    study, _ = world([run("cpu-serial", "easy", 1, steps, objective_sense="maximise")])
    assert list(curve_of(study, "cpu-serial").gaps(1.5, 1000)) == [20]
    assert list(curve_of(study, "cpu-serial").gaps(2.0, 1000)) == [5]


def test_who_has_proved_it_keeps_it_to_the_end(world):
    study, _ = world([*OURS, PROVED])
    assert curve_of(study, "Other 1.2", "hard").end == 10


def test_ours_is_solid_and_a_peer_dashed_and_hollow_with_its_version(world):
    study, studies = world([*OURS, *THEIRS])
    view = anytime.anytime(study, studies)
    (figure,) = view.figures
    series = {s["label"]: s for s in figure.chart["panels"][0]["series"] if s["dash"] and not s["band"]}
    assert series["cpu-serial"]["dash"] == "solid" and series["Other 1.2"]["dash"] == "dash"
    points = [s for s in figure.chart["panels"][0]["series"] if s["symbol"]]
    assert {s["label"]: s["hollow"] for s in points} == {"cpu-serial": False, "Other 1.2": True}
    assert series["cpu-serial"]["colour"] != series["Other 1.2"]["colour"]
    assert "dashed, hollow: programs of others" in figure.caption
    assert anytime.anytime(study, studies).figures[0].svg == figure.svg  # the same bytes


def test_the_table_has_medians_at_powers_of_ten_and_at_the_end(world):
    study, studies = world([*OURS, *THEIRS])
    (table,) = anytime.anytime(study, studies).shown
    assert [column.label for column in table.columns[3:]] == ["0.1 s", "1 s", "10 s"]
    rows = {row[1].text: [cell.text for cell in row[2:]] for row in table.rows}
    assert rows["cpu-serial"] == ["3", "—", "10.000", "1.000"]
    assert rows["Other 1.2"] == ["3", "—", "—", "2.000"]
    assert "m/fang/race.jsonl" in table.rows[0][-1].title


def test_mean_gaps_are_over_all_seeds_and_peers_need_no_version(world):
    study, _ = world([*OURS, *THEIRS])
    machine = study.machines[0]
    for name, gap in (("cpu-serial", 2.0), ("Other", 2.0)):
        record = record_of(study, machine, name, Row(("easy",), "fang/race", {"instance": "easy"}))
        assert record.implementation.startswith(name)
        assert MEAN_GAP.of(study, machine, record) == pytest.approx(gap) and SEEDS.of(study, machine, record) == 3
    assert record_of(study, machine, "Oth", Row(("easy",), "fang/race", {"instance": "easy"})) is None


@pytest.mark.parametrize(
    ("sense", "found", "gap"), [("minimise", (1100, 1050, 1010), 5), ("maximise", (7, 900, 950), 10)]
)
def test_mean_gaps_are_of_what_was_found_in_time(world, sense, found, gap):
    steps = list(zip((1.0, 9.0, 10.5), found, strict=True))
    study, _ = world([run("cpu-serial", "easy", 1, steps, objective_sense=sense)])
    (record,) = study.all_runs(study.machines[0])
    assert MEAN_GAP.of(study, study.machines[0], record) == pytest.approx(gap)
    study, _ = world([run("Other 1.2", "easy", 1, [(10.1, 1020)], peer=PEER)])  # told nothing before its end
    (record,) = study.all_runs(study.machines[0])
    assert MEAN_GAP.of(study, study.machines[0], record) == pytest.approx(2)


def test_rows_for_programs_have_marks_seeds_and_records(world):
    study, studies = world([OURS[0] | {"contended": [True], "sources": "a"}, OURS[1] | {"sources": "b"}, *THEIRS])
    (table,) = anytime.anytime(study, studies).shown
    rows = {row["implementation"]: row for row in table.tidy}
    ours, theirs = rows["cpu-serial"], rows["Other 1.2"]
    assert (ours["marks"], ours["seeds"], ours["record"]) == ("contended mixed", 2, "m/fang/race.jsonl:1-2")
    assert (theirs["marks"], theirs["seeds"]) == ("", 3)


def test_instances_are_in_the_order_of_the_descriptor(world):
    study, studies = world([run("cpu-serial", name, 1, [(1.0, 1100)]) for name in ("hard", "easy")])
    view = anytime.anytime(study, studies)
    assert [panel["title"] for panel in view.figures[0].chart["panels"]] == ["easy", "hard"]
    assert [row[0].text for row in view.shown[0].rows] == ["easy", "hard"]


def test_energy_is_of_a_run_where_a_record_tells_it(world):
    study, studies = world([OURS[0] | {"gpu_joules": 800.0}, OURS[1] | {"gpu_joules": 400.0}, *THEIRS])
    (table,) = anytime.anytime(study, studies).shown
    assert table.columns[-1].label == "GPU energy, J"
    assert [row[-1].text for row in table.rows] == ["600", "—"]


@pytest.mark.parametrize(("cpu", "end"), [(True, " above. Threads: cpu-serial 4."), (False, " logarithmic above.")])
def test_threads_are_those_of_the_processor(world, cpu, end):
    gpu = run("gpu-tuned", "easy", 1, [(1.0, 5)], backend="gpu", policy={"threads": 256})
    study, studies = world([gpu, *([OURS[0] | {"policy": {"threads": 4}}] if cpu else [])])
    assert anytime.anytime(study, studies).figures[0].caption.endswith(end)


def test_without_a_best_known_objective_nothing_is_drawn(world):
    study, studies = world([run("cpu-serial", "easy", 1, [(1.0, 5)], best=None)])
    view = anytime.anytime(study, studies)
    assert not view.figures and not view.shown


def test_threads_are_those_of_the_host(world):
    def caption(*records):
        study, studies = world(records)
        return anytime.anytime(study, studies).figures[0].caption

    cpu = run("cpu-serial", "easy", 1, [(1.0, 1000)], policy={"threads": 8})
    gpu = run("gpu", "easy", 1, [(1.0, 1000)], policy={"threads": 256})  # of a block
    assert caption(cpu, gpu).endswith("Threads: cpu-serial 8.") and "Threads" not in caption(gpu)


def test_a_search_that_has_the_best_known_has_no_negative_nothing(world):
    study, studies = world([run("cpu-serial", "easy", 1, [(1.0, 999.999)])])
    (table,) = anytime.anytime(study, studies).shown
    assert [cell.text for cell in table.rows[0] if "0.000" in cell.text] == ["0.000", "0.000"]


def test_times_that_a_budget_gave_are_not_shown(world):
    study, _ = world([run("cpu-serial", "easy", 1, [(1.0, 1000)])])
    view = shown_with("fang/other")(study, [])
    assert not view.folded and view.sentences == ["Shown with fang/other."]
    whole = run("cpu-serial", "easy", 1, [(1.0, 1000)])
    whole["protocol"]["budget"] = None
    study, _ = world([whole])
    assert [table.name for table in shown_with("fang/other")(study, []).folded] == ["fang-race-times"]


def test_where_nothing_is_measured_a_sentence_says_how_to(world):
    study, studies = world([])
    for own in (anytime.anytime, shown_with("fang/other")):
        view = view_of(study, studies, {"fang/race": own})
        assert not view.shown and not view.folded
        assert sum("experiments/fang/race.yaml" in line for line in view.sentences) == 1


def test_the_caption_names_who_is_alone_and_does_not_call_one_run_a_median(world):
    study, studies = world(OURS[:1])
    (figure,) = anytime.anytime(study, studies).figures
    assert "cpu-serial alone. Lines: one run, of one seed. Time" in figure.caption
    study, studies = world(OURS + THEIRS)
    (figure,) = anytime.anytime(study, studies).figures
    assert "Lines: median over the seeds; bars: quartiles. Solid: this project; dashed, hollow:" in figure.caption
    assert "alone" not in figure.caption


def test_a_run_that_ended_by_itself_is_told(world):
    early = [run("cpu-serial", "easy", seed, [(0.1, 1000)]) for seed in (1, 2)]
    for record_, seconds in zip(early, (5.5, 6.5), strict=True):
        record_["samples"] = {"wall": [seconds]}
    study, studies = world(early)
    (table,) = anytime.anytime(study, studies).shown
    told = "easy, cpu-serial: ended by itself after 5.50 to 6.50 s; later columns and the energy are of that."
    assert told in table.notes
    study, studies = world(OURS)
    (table,) = anytime.anytime(study, studies).shown
    assert not any("ended by itself" in note for note in table.notes)


def test_no_gap_is_told_of_a_time_that_was_not_given(world):
    short = [run("gpu", "easy", seed, [(0.5, 1100)]) for seed in (1, 2, 3)]
    for record_ in short:
        record_["protocol"] |= {"budget": {"seconds": 1.0, "target": None}}
    study, studies = world([*OURS, *short])
    (table,) = anytime.anytime(study, studies).shown
    rows = {row[1].text: [cell.text for cell in row[3:]] for row in table.rows}
    assert rows["gpu"] == ["—", "10.000", "—"] and rows["cpu-serial"][-1] == "1.000"


def test_the_caption_dates_what_was_measured_days_apart(world):
    def started(runs, *starts):
        return [one | {"process": {"pid": 1, "start": at}} for one, at in zip(runs, starts, strict=True)]

    def caption(*records):
        study, studies = world([*records])
        return anytime.anytime(study, studies).figures[0].caption

    ours = started(OURS, "2026-01-05T10:00:00Z", "2026-01-03T10:00:00Z", "2026-01-05T11:00:00Z")
    later, soon = ("2026-01-07T09:00:00Z",) * 3, ("2026-01-04T10:00:00Z",) * 3
    told = caption(*ours, *started(THEIRS, *later))
    assert told.endswith(" Measured: ours 2026-01-03 to 2026-01-05; those of others 2026-01-07.")
    assert "Measured" not in caption(*ours)  # nobody beside them
    assert "Measured" not in caption(*started(OURS, *soon), *started(THEIRS, *("2026-01-05T10:00:00Z",) * 3))  # a day
    assert "Measured" in caption(*started(OURS, *soon), *started(THEIRS, *("2026-01-05T10:00:01Z",) * 3))
    unsaid = [one | {"process": None} for one in THEIRS]
    assert "Measured" not in caption(*ours, *unsaid)
