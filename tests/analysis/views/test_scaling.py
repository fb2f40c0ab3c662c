import pytest
import synthetic
from vicinity_analysis import catalogue
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.views import scaling
from worlds import studies_of, study_of


@pytest.fixture(scope="module")
def study(root):
    return study_of(studies_of(root, "gpu-a"), "fang/scaling")


def test_where_the_gpu_starts_to_win():
    found = scaling.win({1: 0.25, 16: 0.5, 256: 2.0, 4096: 8.0})
    assert found.start == 256 and found.crossing == pytest.approx(64) and not found.everywhere
    assert scaling.win({1: 2.0, 4: 3.0}).everywhere
    assert scaling.win({1: 0.2, 4: 0.3}).start is None
    assert scaling.win({1: 2.0, 4: 0.5, 16: 3.0}).start == 16
    assert scaling.describe(scaling.win({1: 0.2, 4: 0.3})) == "never; at best 0.300× at 4"
    assert scaling.describe(scaling.win({1: 8.0, 4: 0.5})) == "not at 4; at best 8.00× at 1"


def test_growth():
    assert scaling.exponent({1: 5.0, 10: 1.0, 100: 100.0}) == pytest.approx(2)
    assert scaling.exponent({1: 5.0}) is None


def test_axes_and_panels(study):
    assert scaling.varying_axes(study) == ["load", "states", "possibilities"]
    found = scaling.panels(study, "states")
    assert len(found) == 9 and all(len(panel.lines) == 5 for panel in found)
    assert scaling.chosen(found)[0].title == "load = 1, |λ| = 8, |R| = 8"
    assert len(scaling.chosen(found)) == 3


def test_beside_a_full_sweep_stand_no_cases_of_shorter_ones(tmp_path):
    root = synthetic.make_root(tmp_path, {"scaling": synthetic.SCALING, "table1": synthetic.TABLE1})

    def records(profile, variables):
        return [
            synthetic.record("m", f"fang/{name}", case, "cpu-serial", [1.0], profile)
            for name, axes in (("scaling", synthetic.SCALING), ("table1", synthetic.TABLE1))
            for case in synthetic.cases(axes | {"variables": [variables]})
        ]

    quick = records("quick", 9)
    both = synthetic.write_records(tmp_path / "results", "both", records("full", 8) + quick)
    short = synthetic.write_records(tmp_path / "results", "short", quick)

    def variables(name, *folders):
        machines = [load_machine(folder) for folder in folders]
        found = study_of(catalogue.open_catalogue(root).studies(machines), name)
        return {dict(key)["variables"] for machine in found.records.values() for s in machine.values() for key in s}

    assert variables("fang/scaling", both, short) == {"8"}
    assert variables("fang/scaling", short, both) == {"8", "9"}
    assert variables("fang/table1", both, short) == {"8", "9"}  # a printed table wants all there is


def test_baseline_is_the_fastest_cpu(study):
    smallest = scaling.panels(study, "states")[0]
    ratios = scaling.speedups(smallest)[("NVIDIA H100 80GB HBM3", "gpu-tuned")]
    seconds = {line.implementation: line.seconds() for line in smallest.lines}
    assert seconds["cpu-serial"][1.0] < seconds["cpu-openmp"][1.0]
    assert ratios[1.0] == pytest.approx(seconds["cpu-serial"][1.0] / seconds["gpu-tuned"][1.0])


def test_tables(study):
    wins = scaling.wins_table(study)
    assert [row[1].text for row in wins.rows] == ["gpu", "gpu-recompute", "gpu-tuned"]
    assert "AMD EPYC 9999, 16 cores" in wins.notes[0]
    assert len(scaling.crossover_table(study, "states").rows) == 9


def test_the_gpu_wins_by_the_seeds_that_both_have(tmp_path):
    """The seed decides how long a search is; the CPU ran the long one alone."""

    def records(size):
        for name, found in {"gpu": {1: 4.0, 2: 0.5, 3: 0.5}, "cpu-serial": {1: 8.0}}.items():
            for seed, seconds in found.items():
                line = synthetic.record("m", "new/search", {"size": size}, name, [seconds] * 3, seeds=[seed])
                yield line | {"iterations": int(100 * seconds) * size, "evaluations": size}

    synthetic.write_records(tmp_path / "results", "m", [r for n in (8, 16, 32) for r in records(n)], "GPU")
    made = study_of(studies_of(tmp_path, "m"), "new/search")
    assert [row[-1].text for row in scaling.wins_table(made).rows] == ["2.00×"]
    (panel,) = scaling.panels(made, "size")
    assert list(scaling.speedups(panel).values()) == [{8.0: 2.0, 16.0: 2.0, 32.0: 2.0}]
