"""What the front page says of a paper."""

import synthetic
from vicinity_analysis.views.headline import headline_of, printed_ratios, ratios_over
from worlds import studies_of, study_of

LARGE = {"load": 1, "states": 4096, "variables": 32, "possibilities": 9800}
SMALL = {"load": 1, "states": 1024, "variables": 8, "possibilities": 1224}


OVER_OLD = (("cpu-old", "cpu-older"), "the faster of two old codes", ("fang/table1",))


def world(tmp_path, records):
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    synthetic.write_records(root / "results", "m", records, "GPU")
    return study_of(studies_of(root, "m"), "fang/table1")


def record(case, name, seconds, experiment="fang/table1", **change):
    return synthetic.record("m", experiment, case, name, [seconds] * 5) | change


def printed(study, case):
    row = next(row for row, key in study.published.rows.items() if dict(key) == {k: str(v) for k, v in case.items()})
    return min(o.value for (r, c), o in study.published.cells.items() if r == row and "1080 Ti" in c.device)


def test_bars_are_medians_over_whole_cases_and_the_largest_win_is_split(tmp_path):
    scaled = {"axis": "states", "at": [1, 2, 3], "to": 4096}
    records = [record(LARGE, "gpu", 4e-3), record(LARGE, "gpu-tuned", 1e-3), record(LARGE, "cpu-openmp", 8e-3)]
    records += [record(SMALL, "gpu", 1e-9, extrapolated=scaled), record(SMALL, "gpu-tuned", 1e-3)]
    study = world(tmp_path, records)
    found = headline_of([study], printed_ratios)
    theirs, ours = found.bars
    large, small = printed(study, LARGE), printed(study, SMALL)
    assert theirs.value == large / 4e-3 and theirs.left_out == 1
    assert ours.value == (large / 1e-3 + small / 1e-3) / 2 and ours.left_out == 0
    assert "1080 Ti" in found.over and found.machine.name == "m"
    split = found.split
    assert (round(split.base * split.algorithm, 6), round(split.algorithm, 6)) == (round(large / 1e-3, 6), 4)
    assert round(split.cores, 6) == 8


def test_the_largest_win_is_one_that_can_be_split(tmp_path):
    records = [record(LARGE, "gpu", 4e-3), record(LARGE, "gpu-tuned", 1e-3), record(SMALL, "gpu-tuned", 1e-9)]
    split = headline_of([world(tmp_path, records)], printed_ratios).split
    assert dict(split.ratio.key)["states"] == str(LARGE["states"]) and split.base is not None
    split = headline_of([world(tmp_path / "none", records[1:])], printed_ratios).split
    assert dict(split.ratio.key)["states"] == str(SMALL["states"]) and split.base is None


def test_contended_and_unverified_values_make_no_headline(tmp_path):
    for change in ({"contended": [True] * 5}, {"verified": False}, {"profile": "smoke"}):
        study = world(tmp_path / next(iter(change)), [record(LARGE, "gpu-tuned", 1e-3, **change)])
        found = headline_of([study], printed_ratios)
        assert found.bars[1].value is None and found.bars[1].left_out == 1 and found.split is None


def test_over_the_papers_own_code_on_one_machine(tmp_path):
    records = [record(LARGE, "gpu", 2e-3), record(LARGE, "cpu-old", 8e-3), record(LARGE, "cpu-older", 1.0)]
    study = world(tmp_path, records)
    found = headline_of([study], ratios_over(*OVER_OLD))
    assert found.over == "the faster of two old codes, on one host core"
    assert round(found.bars[0].value, 6) == 4 and not found.bars[0].ratios[0].published
    assert found.bars[1].text == "not measured yet"


def test_the_faster_code_is_chosen_case_by_case(tmp_path):
    records = [record(LARGE, "gpu", 2e-3), record(LARGE, "cpu-old", 8e-3), record(LARGE, "cpu-older", 4e-3)]
    records += [record(SMALL, "gpu", 1e-3), record(SMALL, "cpu-old", 5e-3), record(SMALL, "cpu-older", 9e-3)]
    found = headline_of([world(tmp_path, records)], ratios_over(*OVER_OLD))
    assert sorted(round(ratio.value, 6) for ratio in found.bars[0].ratios) == [2, 5]


def test_a_slower_code_does_not_stand_in_for_the_faster_one(tmp_path):
    fast, slow = record(LARGE, "cpu-old", 4e-3, contended=[True] * 5), record(LARGE, "cpu-older", 8e-3)
    for name, codes in (("contended", (fast, slow)), ("first-missing", (slow,))):
        study = world(tmp_path / name, [record(LARGE, "gpu", 2e-3), *codes])
        assert headline_of([study], ratios_over(*OVER_OLD)).bars[0].value is None
    slow |= {"contended": [True] * 5}
    fast |= {"contended": [False] * 5}
    study = world(tmp_path / "slow-contended", [record(LARGE, "gpu", 2e-3), fast, slow])
    assert round(headline_of([study], ratios_over(*OVER_OLD)).bars[0].value, 6) == 2


def test_other_experiments_are_not_in_the_headline(tmp_path):
    study = world(tmp_path, [record(LARGE, "gpu", 2e-3), record(LARGE, "cpu-old", 8e-3)])
    assert headline_of([study], ratios_over(*OVER_OLD[:2], ("fang/table2",))).machine is None


def test_a_case_of_two_tables_counts_once_where_its_value_is_sound(tmp_path):
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1, "table2": synthetic.TABLE2})
    records = [record(LARGE, "gpu-tuned", 1e-3), record(SMALL, "gpu-tuned", 1e-3)]
    records += [record(SMALL, "gpu-tuned", 2e-3, "fang/table2")]
    records += [record(SMALL, "gpu", 3e-3, contended=[True] * 5), record(SMALL, "gpu", 4e-3, "fang/table2")]
    synthetic.write_records(root / "results", "m", records, "GPU")
    studies = studies_of(root, "m")
    theirs, ours = headline_of(studies, printed_ratios).bars
    large, small = (printed(study_of(studies, "fang/table1"), case) for case in (LARGE, SMALL))
    assert sorted(ratio.value for ratio in ours.ratios) == sorted((large / 1e-3, small / 1e-3)) and ours.left_out == 0
    assert theirs.value == small / 4e-3 and theirs.left_out == 0


def test_without_records_there_is_nothing(tmp_path):
    study = world(tmp_path, [record(LARGE, "cpu-serial", 1.0)])
    found = headline_of([study], printed_ratios)
    assert (
        found.machine is None and found.split is None and [bar.text for bar in found.bars] == ["not measured yet"] * 2
    )


def test_the_largest_win_is_one_of_ours_over_the_papers_algorithm(tmp_path):
    large, small = (
        [record(case, "gpu", theirs), record(case, "gpu-tuned", ours)]
        for case, theirs, ours in ((LARGE, 2e-3, 1e-3), (SMALL, 1e-6, 2e-6))
    )
    split = headline_of([world(tmp_path, [*large, *small])], printed_ratios).split
    assert dict(split.ratio.key)["states"] == str(LARGE["states"]) and round(split.algorithm, 6) == 2
    split = headline_of([world(tmp_path / "none", small)], printed_ratios).split
    assert round(split.algorithm, 6) == 0.5  # said as it is
