"""Which implementation for which size."""

import synthetic
from vicinity_analysis.views.choice import Point, Problem, problems_of, size_of
from worlds import studies_of


def point(size, *names, setting=()):
    return Point(size, setting, tuple((name, 1.0 + at) for at, name in enumerate(names)), "m/x.jsonl:1")


def advice(*points):
    return Problem("any", "p", "size", list(points)).advice


def test_adjacent_sizes_with_one_answer_are_one_range():
    found = advice(point(10, "cpu-serial", "gpu"), point(20, "cpu-openmp"), point(30, "cpu-openmp"), point(1e6, "gpu"))
    assert found == [("up to 30", "cpu-openmp"), ("from 1,000,000 on", "gpu")]


def test_where_it_depends_both_are_named():
    many = [point(20, "cpu-openmp", setting=(("iterations", 1.0),)), point(20, "gpu", setting=(("iterations", 9.0),))]
    found = advice(point(10, "cpu-serial"), *many, point(30, "gpu-tuned"))
    assert found == [("up to 10", "cpu-serial"), ("20", "gpu or cpu-openmp"), ("from 30 on", "gpu-tuned")]
    assert advice(point(10, "gpu"), point(40, "gpu")) == [("10 to 40", "gpu")]


def test_sizes_of_cases_and_of_instances():
    assert size_of({"instance": None, "size": 30, "n": 9}, ("size", "n"), {}) == ("size", 30.0)
    assert size_of({"instance": "tai100a"}, ("size", "n"), {"tai100a": 100}) == ("size", 100)
    assert size_of({"instance": "unknown"}, ("size",), {}) == ("size", None)
    assert size_of({"other": 3}, ("size",), {}) == ("", None)


def test_only_whole_runs_of_two_implementations_count(tmp_path):
    def record(size, name, seconds, **change):
        return synthetic.record("m", "new/search", {"size": size}, name, [seconds] * 5) | change

    records = [
        record(8, "gpu", 2.0),
        record(8, "cpu-openmp", 1.0),
        record(16, "gpu", 2.0),
        record(16, "cpu-openmp", 3.0),
    ]
    records += [record(32, "gpu", 2.0), record(32, "cpu-openmp", 9.0, contended=[True] * 5), record(64, "gpu", 1.0)]
    synthetic.write_records(tmp_path / "results", "m", records, "GPU")
    studies = [study for study in studies_of(tmp_path, "m") if study.name == "new/search"]
    (problem,) = problems_of(studies, studies[0].machines[0], {})
    assert [(p.size, p.fastest) for p in problem.points] == [(8, "cpu-openmp"), (16, "gpu")]
    assert problem.data["points"][1]["t"] == [["gpu", 2.0], ["cpu-openmp", 3.0]]
    assert problem.advice == [("up to 8", "cpu-openmp"), ("from 16 on", "gpu")]


def test_a_variant_with_a_path_of_its_own_is_no_choice(tmp_path):
    root = synthetic.make_root(tmp_path)
    found = {"gpu": (2.0, 70), "cpu-openmp": (3.0, 70), "gpu-other": (1.0, 71)}
    records = [
        synthetic.record("m", "new/search", {"size": size}, name, [seconds] * 5) | {"objective": objective}
        for size in (8, 16)
        for name, (seconds, objective) in found.items()
    ]
    synthetic.write_records(root / "results", "m", records, "GPU")
    studies = studies_of(root, "m")
    (problem,) = problems_of(studies, studies[0].machines[0], {})
    assert problem.advice == [("8 to 16", "gpu")]


def test_implementations_are_compared_over_common_seeds(tmp_path):
    """One core ran the long seed alone: over all of its seeds the GPU would look faster. A contended seed that is not
    compared does not count."""

    def records(size):
        for name, found in {"gpu": {1: 8.0, 2: 1.0, 3: 1.0}, "cpu-serial": {1: 6.0}}.items():
            for seed, seconds in found.items():
                line = synthetic.record("m", "new/search", {"size": size}, name, [seconds] * 3, seeds=[seed])
                yield line | {"iterations": int(100 * seconds), "objective": seed, "contended": [seed == 3] * 3}

    synthetic.write_records(tmp_path / "results", "m", [r for size in (8, 16) for r in records(size)], "GPU")
    studies = [study for study in studies_of(tmp_path, "m") if study.name == "new/search"]
    (problem,) = problems_of(studies, studies[0].machines[0], {})
    assert [p.seconds for p in problem.points] == [(("cpu-serial", 6.0), ("gpu", 8.0))] * 2


def test_cases_without_a_gpu_are_no_advice_where_others_have_one(tmp_path):
    def records(size, *names):
        return [synthetic.record("m", "new/search", {"size": size}, name, [1.0 + len(name)] * 5) for name in names]

    found = [record for size in (8, 16) for record in records(size, "gpu", "cpu-serial")]
    found += records(32, "cpu-serial", "cpu-openmp")
    synthetic.write_records(tmp_path / "results", "m", found, "GPU")
    studies = [study for study in studies_of(tmp_path, "m") if study.name == "new/search"]
    (problem,) = problems_of(studies, studies[0].machines[0], {})
    assert problem.advice == [("8 to 16", "gpu")]
