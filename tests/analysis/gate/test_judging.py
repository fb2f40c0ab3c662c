import math

import numpy as np
import pytest
from vicinity_analysis.gate import judging
from vicinity_analysis.gate.judging import Round
from vicinity_analysis.inputs.records import RecordKey

KEY = RecordKey("fang/table1", "states=16", "gpu", 1)


def rounds_of(logs, noise=0.0, levels=None):
    """Rounds with these log ratios, and base processes so far apart that the noise is `noise`."""
    distance = noise * judging.NORMAL_QUARTILE * math.sqrt(2) / 2
    levels = np.zeros(len(logs)) if levels is None else levels
    return [
        Round(*np.exp([level - distance, level + log - 0.3, level + log + 0.3, level + distance]))
        for level, log in zip(levels, logs, strict=True)
    ]


def drawn(random, slowdown=1.0, count=6, scatter=0.02):
    logs = random.normal(0, scatter, (count, 4)) + np.log(slowdown) * np.array([0, 1, 1, 0])
    return [Round(*row) for row in np.exp(logs)]


def outcome(rounds, **options):
    return judging.decide([judging.judge(KEY, rounds, **options)])[0].outcome


AROUND = np.array([-0.002, -0.001, 0.0, 0.0, 0.001, 0.002])


@pytest.mark.parametrize(
    ("slowdown", "expected"),
    [
        (0.9, "faster"),
        (0.995, "pass"),
        (1.0, "pass"),
        (1.005, "pass"),
        (1.0095, "inconclusive"),
        (1.0105, "inconclusive"),
        (1.02, "slower"),
        (1.03, "slower"),
    ],
)
def test_the_interval_decides_not_the_ratio(slowdown, expected):
    """With a floor of 1%: ratios on either side of it whose intervals reach across are inconclusive."""
    found = judging.decide([judging.judge(KEY, rounds_of(np.log(slowdown) + AROUND))])[0]
    assert found.outcome == expected and ("reaches across 1.0%" in found.why) == (expected == "inconclusive")


def test_a_few_rounds_beyond_the_threshold_are_no_proof():
    """Ratio 1.107 [1.090, 1.197] was once passed."""
    found = judging.judge(KEY, rounds_of(np.log([1.03, 1.05, 1.10, 1.11, 1.12, 1.2])), floor=0.05)
    assert found.ratio > 1.08 and found.low < 1.05
    assert judging.decide([found])[0].outcome == "inconclusive"


def test_threshold_is_the_larger_of_floor_and_three_times_the_noise():
    for noise, floor, expected in [(0.001, 0.01, 0.01), (0.02, 0.01, math.expm1(0.06)), (0.02, 0.1, 0.1)]:
        found = judging.judge(KEY, rounds_of(AROUND, noise), floor)
        assert found.noise == pytest.approx(noise) and found.threshold == pytest.approx(expected)


@pytest.mark.parametrize(("noise", "expected"), [(0.001, "slower"), (0.02, "pass")])
def test_a_slowdown_within_the_noise_is_none(noise, expected):
    assert outcome(rounds_of(math.log(1.04) + AROUND, noise)) == expected


def test_noise_is_that_of_the_base():
    """Candidates 0.6 apart, bases not at all."""
    assert judging.round_noise(rounds_of(AROUND)) == 0.0


def test_noise_is_estimated_right():
    random = np.random.default_rng(1)
    ratios = judging.effects(drawn(random, count=20000))
    assert judging.round_noise(drawn(random, count=20000)) == pytest.approx(ratios.std(), rel=0.03)


def test_a_loud_case_passes_only_by_a_fine_interval():
    """Threshold 35%: an interval up to 4% passes, one up to 6% or 20% does not."""
    outcomes = [outcome(rounds_of(math.log(slowdown) + AROUND, 0.1)) for slowdown in (1.035, 1.06, 1.2, 1.45)]
    assert outcomes == ["pass", "inconclusive", "inconclusive", "slower"]
    assert outcome(rounds_of(math.log(1.06) + AROUND, 0.1), floor=0.08) == "pass"


def test_no_slowdown_is_told_apart_from_a_speedup():
    found = judging.judge(KEY, [Round(1.0, 2.0, 2.0, 1.0)] * 6)
    assert found.ratio == pytest.approx(2) and found.p < 1e-6
    assert judging.judge(KEY, [Round(2.0, 1.0, 1.0, 2.0)] * 6).p > 1 - 1e-6


def test_what_all_processes_of_a_round_share_cancels():
    found = judging.judge(KEY, rounds_of(0.03 + AROUND, levels=np.array([0.0, 1.0, -1.0, 2.0, 0.5, -2.0])))
    assert found.low > 1.02 and found.high < 1.04


def test_a_linear_drift_cancels():
    times = np.exp(0.05 * np.arange(24)).reshape(6, 4)
    assert judging.judge(KEY, [Round(*row) for row in times]).high == pytest.approx(1)


def test_one_spoilt_round_of_six_changes_little():
    found = judging.judge(KEY, rounds_of(np.array([0.0, 0.001, 0.002, 0.001, 0.002, 2.0])))
    assert found.ratio == pytest.approx(1.0015, abs=1e-4) and found.high < 1.01


@pytest.mark.parametrize("count", [3, 6, 12])
def test_intervals_cover_the_truth_as_often_as_they_say(count):
    random = np.random.default_rng(2)
    found = [judging.judge(KEY, drawn(random, 1.05, count)) for _ in range(1000)]
    covered = np.mean([judgement.low <= 1.05 <= judgement.high for judgement in found])
    above = np.mean([judgement.low > 1.05 for judgement in found])
    assert 0.93 < covered < 0.975 and 0.01 < above < 0.04


def test_p_and_interval_agree():
    """p is at most 2.5% exactly where the interval lies beyond the threshold."""
    random = np.random.default_rng(3)
    for slowdown in (1.02, 1.04, 1.06):
        for _ in range(50):
            found = judging.judge(KEY, drawn(random, slowdown, scatter=0.01))
            assert (found.p <= judging.FALSE_DISCOVERIES) == (found.low > 1 + found.threshold)


def test_many_cases_ask_for_more_than_one_does():
    """An interval just beyond the threshold is a slowdown alone, and inconclusive as one of forty."""
    spread = 1.2 * np.array([-0.02, -0.01, 0.0, 0.0, 0.01, 0.02])
    alone = judging.judge(KEY, rounds_of(math.log(1.04) + spread))
    others = [judging.judge(KEY, rounds_of(AROUND)) for _ in range(39)]
    assert 0.001 < alone.p < 0.025 and alone.low > 1 + alone.threshold
    assert judging.decide([alone])[0].outcome == "slower"
    among = judging.decide([alone, *others])[0]
    assert among.outcome == "inconclusive" and "significant" in among.why and among.p_adjusted > 0.025


def test_too_few_rounds_are_inconclusive_and_no_test_among_others():
    few = judging.judge(KEY, rounds_of(AROUND[:2]))
    sure = judging.judge(KEY, rounds_of(0.1 + AROUND))
    found = judging.decide([few, sure])
    assert [judgement.outcome for judgement in found] == ["inconclusive", "slower"]
    assert "2 rounds" in found[0].why and found[1].p_adjusted == sure.p
    assert not found[0].moved and not found[0].stayed


@pytest.mark.parametrize(
    ("slowdown", "moved", "stayed"),
    [(0.97, True, False), (0.9895, False, False), (1.0, False, True), (1.0095, False, False), (1.03, True, False)],
)
def test_control_that_moves(slowdown, moved, stayed):
    found = judging.judge(KEY, rounds_of(math.log(slowdown) + AROUND))
    assert (found.moved, found.stayed) == (moved, stayed)


def test_a_process_counts_for_its_lower_quartile():
    quick = [1.0, 1.01, 1.02, 1.03]
    assert judging.typical(np.array(quick)) == 1.0
    assert judging.typical(np.array([*quick, *[9.0] * 8, 8.0, 7.0, 6.0, 5.0])) == 1.03  # three quarters are disturbed
    assert judging.typical(np.array([0.1, *[1.0] * 11])) == 1.0  # one freak is not the typical time


def test_quartiles_are_resampled_as_a_bootstrap_would():
    random = np.random.default_rng(7)
    samples = random.lognormal(0, 0.4, 45)
    quick = np.concatenate([judging._resampled(samples, random) for _ in range(50)])
    drawn = samples[random.integers(45, size=(10000, 45))]
    plain = np.log(np.sort(drawn, axis=1)[:, judging._rank(45) - 1])
    for share in (0.025, 0.5, 0.975):
        assert np.quantile(quick, share) == pytest.approx(np.quantile(plain, share), abs=0.03)


@pytest.mark.parametrize(("slowdown", "expected"), [(1.0, "pass"), (1.5, "slower"), (1.05, "inconclusive")])
def test_against_a_recorded_process(slowdown, expected):
    random = np.random.default_rng(8)
    stored = random.lognormal(0, 0.01, 400)
    levels = judging.typical(stored) * slowdown * random.lognormal(0, 0.01, 12)
    judged = judging.decide([judging.judge_stored(KEY, stored, levels)])
    assert judged[0].outcome == expected


def test_against_nothing_usable():
    found = judging.decide([judging.judge_stored(KEY, np.array([]), [1.0, 1.0, 1.0])])
    assert found[0].outcome == "inconclusive" and math.isnan(found[0].ratio)
