"""Records of several processes, and contended samples."""

import json

import numpy as np
import pytest
import synthetic
from vicinity_analysis import frame, stats
from vicinity_analysis.inputs.records import load_machine, of_different_work, over_seeds, ratio, ratio_value, shorten

CASE = {"load": 1, "states": 16, "variables": 8, "possibilities": 80}


def folder(tmp_path, *records):
    return synthetic.write_records(tmp_path, "machine", records)


def one(samples, number=1, implementation="gpu", **changes):
    process = {"pid": 100 + number, "start": "2026-01-01T00:00:00Z", "number": number}
    changes = {"process": process, **changes}
    return synthetic.record("machine", "fang/table1", CASE, implementation, samples, **changes)


def only(machine):
    (record,) = machine.records.values()
    return record


def test_the_processes_of_a_case_are_one_record(tmp_path):
    written = [[1.0, 1.1, 1.2], [2.0, 2.1, 2.2], [3.0, 3.1, 3.2]]
    machine = load_machine(folder(tmp_path, *(one(samples, k) for k, samples in enumerate(written, start=1))))
    record = only(machine)
    assert list(record.times()) == [value for samples in written for value in samples]
    assert record.sources == [f"machine/fang/table1.jsonl:{line}" for line in (1, 2, 3)]
    groups = record.by_process()
    assert [list(values) for values in groups.values()] == written
    assert record.estimate() == stats.estimate(groups) and record.estimate().value == record.typical() == 2.1
    runs = frame(machine.folder)
    assert list(runs.counts) == [True] * 3 and list(runs.process_number) == [1, 2, 3]


def test_the_last_line_of_each_process_counts(tmp_path):
    records = [one([1.0] * 3, 1), one([2.0] * 3, 2), one([5.0] * 3, 1)]
    assert list(only(load_machine(folder(tmp_path, *records))).times()) == [5.0] * 3 + [2.0] * 3


def test_lines_of_another_program_or_descriptor_are_left_out(tmp_path):
    """Two lines of process 1, measured again, are not two processes; nor are lines of older code."""
    records = [one([1.0] * 3, 2, sources="older"), one([2.0] * 3, 2, descriptor="older"), one([3.0] * 3, 1)]
    machine = load_machine(folder(tmp_path, *records))
    assert list(only(machine).times()) == [3.0] * 3
    assert list(frame(machine.folder).counts) == [False, False, True]


def test_records_without_a_number_are_of_one_process(tmp_path):
    old = [synthetic.record("machine", "fang/table1", CASE, "gpu", [value] * 3) for value in (1.0, 2.0)]
    record = only(load_machine(folder(tmp_path, *old)))
    assert list(record.times()) == [2.0] * 3 and record.source.endswith(":2")
    assert record.estimate() == stats.estimate([2.0] * 3)


def test_an_invalid_result_of_one_process_is_one_of_the_case(tmp_path):
    records = [one([1.0] * 3, 1), one([2.0] * 3, 2, status="invalid", message="digest")]
    assert only(load_machine(folder(tmp_path, *records))).marks == ("invalid",)
    skipped = [one([1.0] * 3, 1), one([2.0] * 3, 2, status="skipped")]
    assert list(only(load_machine(folder(tmp_path / "other", *skipped))).times()) == [1.0] * 3


def test_seeds_keep_their_processes(tmp_path):
    records = [one([seed + 10.0 * k] * 2, k, seeds=[seed]) for seed in (1, 2) for k in (1, 2)]
    together = over_seeds(list(load_machine(folder(tmp_path, *records)).records.values()))
    assert [list(values) for values in together.by_process().values()] == [
        [11.0, 11.0, 12.0, 12.0],
        [21.0, 21.0, 22.0, 22.0],
    ]
    assert len(together.sources) == 4


def test_ratios_of_the_same_processes_are_paired(tmp_path):
    random = np.random.default_rng(1)
    records = []
    for k, level in enumerate((1.0, 2.0, 4.0), start=1):
        noise = 1 + 0.001 * random.random((2, 9))
        records += [one(3 * level * noise[0], k, "cpu-serial"), one(level * noise[1], k)]
    slow, fast = load_machine(folder(tmp_path, *records)).records.values()
    found = ratio(slow, fast)
    assert found.value == ratio_value(slow, fast) == pytest.approx(3, rel=2e-3)
    assert found.high - found.low < 0.02


@pytest.mark.parametrize(
    ("contended", "value", "marked"),
    [
        ([False] * 5, 3.0, False),
        ([True, False, False, False, True], 3.0, False),  # three are left
        ([False, False, False, True, True], 2.0, False),
        ([False, True, True, True, False], 3.0, True),  # two of five
        ([True] * 5, 3.0, True),
    ],
)
def test_values_rest_on_what_is_not_contended(tmp_path, contended, value, marked):
    machine = load_machine(folder(tmp_path, one([1.0, 2.0, 3.0, 4.0, 5.0], contended=contended)))
    record = only(machine)
    assert record.estimate().value == record.typical() == value
    assert ("contended" in record.marks) == marked == record.rests_on_contended
    assert len(record.times()) == 5  # nothing is dropped
    row = frame(machine.folder).iloc[0]
    assert row.contended == marked and row.contended_samples == sum(contended) and row.samples == 5


def test_half_of_few_samples_is_enough(tmp_path):
    record = only(load_machine(folder(tmp_path, one([9.0, 1.0], contended=[True, False]))))
    assert record.estimate().value == 1.0 and not record.rests_on_contended


def test_contended_samples_of_one_process_are_left_out(tmp_path):
    records = [one([1.0, 9.0, 1.0], 1, contended=[False, True, False]), one([2.0, 2.0, 2.0], 2, contended=[False] * 3)]
    record = only(load_machine(folder(tmp_path, *records)))
    assert [list(values) for values in record.by_process().values()] == [[1.0, 1.0], [2.0] * 3]


def test_older_records_know_of_no_contention(tmp_path):
    record = only(load_machine(folder(tmp_path, one([1.0, 2.0]))))
    assert not record.contended.any() and "contended" not in json.dumps(record.data)


def seeds(tmp_path, *written, statistic="mean", implementation="gpu", **changes):
    """Records of (seed, samples, iterations, contended, process), one a seed and process, as the machine has them."""
    protocol = {"statistic": statistic, "repetitions": 1, "warmup": 0, "time": "kernel"}
    records = [
        one(samples, k, implementation, seeds=[seed], iterations=n, contended=marks, protocol=protocol, **changes)
        for seed, samples, n, marks, k in written
    ]
    return list(load_machine(folder(tmp_path, *records)).records.values())


def test_a_seed_with_work_of_its_own_is_never_left_out(tmp_path):
    """A seed decides how long such a run is: without the longer one the value is half."""
    runs = seeds(tmp_path, (1, [14.9], 272, [True], 1), (2, [7.4], 133, [False], 1))
    found = over_seeds(runs)
    assert found.typical() == found.estimate().value == pytest.approx(11.15)
    assert found.marks == ("contended",) and found.estimate().samples == 2


def test_seeds_of_the_same_work_are_repetitions(tmp_path):
    runs = seeds(tmp_path, (1, [9.0], 1000, [True], 1), (2, [2.0], 1010, [False], 1))
    assert over_seeds(runs).typical() == 2.0 and not over_seeds(runs).marks
    assert over_seeds(runs, apart=True).typical() == 5.5 and over_seeds(runs, apart=True).marks == ("contended",)


@pytest.mark.parametrize(("iterations", "different"), [((100, 100), False), ((100, 105), False), ((100, 106), True)])
def test_seeds_do_different_work_where_their_counts_differ(tmp_path, iterations, different):
    runs = seeds(tmp_path, *((seed, [1.0], n, [False], 1) for seed, n in enumerate(iterations, start=1)))
    assert of_different_work(runs) == different
    assert not of_different_work(runs[:1]) and not of_different_work([])
    assert of_different_work(runs, apart=True) and not of_different_work(runs[:1], apart=True)


def test_evaluations_are_work_too(tmp_path):
    few, many = (
        seeds(tmp_path / str(n), (n, [1.0], 5, [False], 1), evaluations=evaluations)[0]
        for n, evaluations in enumerate((0, 7))
    )
    assert of_different_work([few, many]) and not of_different_work([few, few])


def test_seeds_of_different_work_weigh_the_same_in_whichever_process(tmp_path):
    """One process has one seed, another four: no median of two means."""
    written = [(1, [10.0], 100, [False], 1), *((seed, [1.0 * seed], 10 * seed, [False], 2) for seed in (2, 3, 4, 5))]
    runs = seeds(tmp_path, *written)
    assert over_seeds(runs).typical() == (10 + 2 + 3 + 4 + 5) / 5
    low, high = over_seeds(runs).estimate().low, over_seeds(runs).estimate().high
    assert 2 <= low < 4.8 < high <= 10
    assert over_seeds(seeds(tmp_path / "median", *written, statistic="median")).typical() == 4.0


def test_repetitions_within_a_seed_count_for_its_value_alone(tmp_path):
    """Per seed the contended ones are left out and the processes give a median."""
    written = [
        (1, [1.0, 90.0], 10, [False, True], 1),
        (1, [2.0], 10, [False], 2),
        (1, [6.0], 10, [False], 3),
        (2, [20.0], 100, [False], 1),
    ]
    found = over_seeds(seeds(tmp_path, *written))
    assert found.typical() == (2 + 20) / 2 and not found.marks


def test_ratios_are_of_common_seeds_where_seeds_do_different_work(tmp_path):
    slow = over_seeds(seeds(tmp_path / "slow", (1, [30.0], 10, [False], 1), implementation="cpu-serial"))
    written = [(seed, [3.0 * seed], 10 * seed, [False], 1) for seed in (1, 2, 3)]
    fast = over_seeds(seeds(tmp_path / "fast", *written))
    assert fast.typical() == 6.0 and ratio_value(slow, fast) == ratio(slow, fast).value == 10.0
    assert fast.of_seeds({2, 3}).typical() == 7.5 and fast.of_seeds({2, 3}).data["seeds"] == [2, 3]
    assert fast.of_seeds({1, 2, 3}) is fast.of_seeds({7}) is fast
    other = over_seeds(seeds(tmp_path / "other", (7, [30.0], 70, [False], 1), implementation="cpu-serial"))
    assert ratio_value(other, fast) == 5.0  # none in common


def test_ratios_of_the_same_work_are_of_all_seeds(tmp_path):
    slow = over_seeds(seeds(tmp_path / "slow", (1, [30.0], 10, [False], 1), implementation="cpu-serial"))
    fast = over_seeds(seeds(tmp_path / "fast", *((seed, [1.0 * seed], 10, [False], 1) for seed in (1, 2, 3))))
    assert ratio_value(slow, fast) == 15.0


def test_whose_work_the_samples_are_is_not_believed(tmp_path):
    record = only(load_machine(folder(tmp_path, one([1.0, 2.0], sample_works=[1, 2]))))
    assert list(record.works) == [1, 1]


def test_one_scaled_run_among_others_scales_them_all(tmp_path):
    scaled = {"lengths": [1, 2, 4]}
    for name, changes in (("first", ({"extrapolated": scaled}, {})), ("last", ({}, {"extrapolated": scaled}))):
        records = [one([1.0] * 3, number, **change) for number, change in enumerate(changes, start=1)]
        record = only(load_machine(folder(tmp_path / name, *records)))
        assert not record.whole and "extrapolated" in record.marks


def test_parts_that_one_process_lacks_are_left_out(tmp_path):
    records = [one([1.0] * 3, number) for number in (1, 2)]
    records[0]["samples"]["host"] = [0.5] * 3
    assert "host" not in only(load_machine(folder(tmp_path, *records))).parts


def test_the_folder_of_a_machine_may_have_a_space_in_its_name(tmp_path):
    records = [one([1.0] * 3, number) for number in (1, 2, 3)]
    record = only(load_machine(folder(tmp_path, *records).rename(tmp_path / "my copy 2 of it")))
    assert record.sources == [f"my copy 2 of it/fang/table1.jsonl:{line}" for line in (1, 2, 3)]
    assert len(shorten([record.source, "b.csv:1", "b.csv:2"]).split("jsonl")) == 2


def test_one_core_is_one_thread(tmp_path):
    for threads in (1, 16):
        run = one([1.0] * 3, 1, "cpu-other", policy={"threads": threads})
        assert only(load_machine(folder(tmp_path / str(threads), run))).one_core == (threads == 1)
