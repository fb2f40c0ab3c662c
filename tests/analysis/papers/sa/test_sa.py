import csv
import io

import pytest
import synthetic_sa
from vicinity_analysis.claims import FAILS, HOLDS, OPEN, PART
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages import compare
from vicinity_analysis.papers.sa import PAPER, runs, steady, tables
from vicinity_analysis.views import cells, limits
from vicinity_analysis.views.usual import view_of
from worlds import GPU, judge, studies_of, study_of


def measured(judged, name):
    return judged[name].measured[0][1][0]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = synthetic_sa.make_root(tmp_path_factory.mktemp("sa"))
    synthetic_sa.make_machine(root / "results", "gpu-a", synthetic_sa.everything("gpu-a"), GPU)
    cpu = synthetic_sa.everything("cpu-only", synthetic_sa.CPU, seeds=12)
    synthetic_sa.make_machine(root / "results", "cpu-only", cpu, cores=2)
    return root


@pytest.fixture(scope="module")
def studies(root):
    return studies_of(root, "gpu-a")


def model(**speed):
    """A cost model in which each implementation takes a fixed time a proposal, by N and I."""

    def seconds(name, n, i):
        return i * 1e-9 * speed[name.replace("-", "_")](n, i)

    return seconds


def world(tmp_path, iterations=(10**3, 10**4, 10**5, 10**6, 10**7, 10**8), **speed):
    """A machine on which all N behave as `speed` says (ns a proposal)."""
    base = {"cpu_traditional": lambda n, i: 1e4, "cpu_delta": lambda n, i: 1e2, "cpu_serial": lambda n, i: 1e2}
    base |= {"cpu_openmp": lambda n, i: 50, "gpu": lambda n, i: 1, "gpu_tuned": lambda n, i: 0.5}
    root = synthetic_sa.make_root(tmp_path)
    arguments = ("m", "sa/figure1", (100, 300), iterations, synthetic_sa.ALL)
    records = synthetic_sa.figure(*arguments, model=model(**{**base, **speed}))
    synthetic_sa.make_machine(root / "results", "m", records, GPU)
    return judge(root, "m")


def figure1_runs(studies):
    study = study_of(studies, "sa/figure1")
    return runs.pooled(study, studies, study.machines[0])


def test_printed_thresholds_are_those_of_the_claims(studies):
    """The rules spell out numbers; these are the file's."""
    stated = {o.row_key: o for o in study_of(studies, "sa/figure1").statements}
    assert [stated[f"s0{k}"].value for k in range(1, 9)] == [50, 100, 100, 100, 10_000, 1e4, 1e6, 1e7]
    table = tables.statements_table(study_of(studies, "sa/figure1"))
    assert len(table.rows) == 11 and table.rows[4][-1].text == "10,000×"
    assert table.tidy[0]["record"] == "data/published/sa_figures.csv:2"


def test_claims_when_everything_is_as_printed(tmp_path):
    def p(i):
        return {10**3: 0.3, 10**4: 1.0, 10**5: 8, 10**6: 40}.get(i, 100.5)

    judged = world(
        tmp_path,
        cpu_traditional=lambda n, i: 100 * p(i) if i >= 10**7 else 80 if i < 10**6 else 105,
        gpu=lambda n, i: 1e2 / p(i),
    )
    for name in ("crossover", "delta-threshold", "low-iterations", "same-results", "fifty-to-hundred", "plateau"):
        assert judged[name].verdict == HOLDS, (name, judged[name].measured)
    for name in ("hundred-over-delta", "delta-over-traditional", "ten-thousand"):
        assert judged[name].verdict == HOLDS, (name, judged[name].measured)
    finding = measured(judged, "fifty-to-hundred")
    assert finding.subject == "gpu over cpu-serial (1 core, AMD EPYC 9999)"
    assert (
        "N = 100: 10" in finding.numbers and "over the fastest CPU implementation (AMD EPYC 9999, 16" in finding.numbers
    )
    assert finding.sources.startswith("m/sa/figure1.jsonl:")
    assert "extrapolated" not in measured(judged, "ten-thousand").numbers
    (_, told), *_ = judged["ten-thousand"].unjudged
    assert told.startswith("scaled: not judged: cpu-traditional in ")


def test_claims_flip_with_the_data(tmp_path):
    judged = world(
        tmp_path,
        cpu_traditional=lambda n, i: 300,
        gpu=lambda n, i: {10**3: 2, 10**4: 3, 10**5: 4}.get(i, 10 if i <= 10**7 else 2),
    )
    verdicts = {name: judged[name].verdict for name in judged}
    for name in ("crossover", "delta-threshold", "fifty-to-hundred", "low-iterations", "plateau", "ten-thousand"):
        assert verdicts[name] == (PART if name == "fifty-to-hundred" else FAILS) or name == "fifty-to-hundred", name
    assert verdicts["delta-over-traditional"] == FAILS
    assert "at most 1000" in measured(judged, "crossover").numbers


def test_in_part_for_half_of_the_sizes(tmp_path):
    judged = world(tmp_path, gpu=lambda n, i: 1 if n == 100 else 50)
    assert judged["fifty-to-hundred"].verdict == PART
    assert judged["hundred-over-delta"].verdict in (HOLDS, PART)


def test_half_of_an_up_to_claim_is_in_part(tmp_path):
    assert world(tmp_path, gpu=lambda n, i: 1e2 / 60)["hundred-over-delta"].verdict == PART


def test_nothing_measured_is_said(tmp_path):
    root = synthetic_sa.make_root(tmp_path)
    records = synthetic_sa.figure("m", "sa/figure1", (30,), (1000, 10000), synthetic_sa.CPU)
    synthetic_sa.make_machine(root / "results", "m", records)
    judged = judge(root, "m")
    for name in ("crossover", "fifty-to-hundred", "plateau", "same-results", "longer-is-better"):
        assert judged[name].verdict == OPEN, name
    study = study_of(studies_of(root, "m"), "sa/figure2")
    notes = " ".join(note for table in view_of(study, [study], PAPER.views).shown for note in table.notes)
    assert "Not measured on AMD EPYC 9999" in notes and "experiments/sa/figure2.yaml" in notes


def test_a_run_that_was_not_identical_is_no_same_result(tmp_path):
    root = synthetic_sa.make_root(tmp_path)
    records = list(synthetic_sa.figure("m", "sa/figure1", (30,), (1000, 10000), synthetic_sa.ALL))
    next(r for r in records if r["implementation"] == "gpu").update(digest="f" * 16)
    synthetic_sa.make_machine(root / "results", "m", records, GPU)
    findings = {f.subject: f for f in judge(root, "m")["same-results"].measured[0][1]}
    assert findings["gpu"].verdict == FAILS and "1 of 2 runs" in findings["gpu"].numbers
    assert findings["gpu-tuned"].verdict == HOLDS


def test_both_figures_draw_on_both_experiments(studies, root):
    evidence = figure1_runs(studies)
    found = runs.values(runs.pairs(evidence, ("cpu-serial",), "gpu"))
    assert list(found) == list(synthetic_sa.SIZES) and max(found[30]) == 10**8
    expected = synthetic_sa.seconds("cpu-serial", 1000, 10**8) / synthetic_sa.seconds("gpu", 1000, 10**8)
    assert found[1000][10**8] == pytest.approx(expected, rel=0.05)


def test_measured_goes_before_extrapolated_and_the_fastest_counts(studies):
    evidence = figure1_runs(studies)
    pair = runs.pairs(evidence, runs.FASTEST, "gpu")[300][10**7]
    assert pair.slow.implementation == "cpu-openmp" and pair.marks == ()
    only = runs.pairs(evidence, ("cpu-traditional",), "gpu")[300][10**7]
    assert "extrapolated" in only.marks


def test_tables_name_their_baseline_and_trace_their_numbers(studies):
    table = tables.plateau_table(study_of(studies, "sa/figure2"), studies)
    assert [c.label for c in table.columns[3:]][:2] == ["gpu over cpu-serial", "gpu-tuned over cpu-serial"]
    assert "cpu-serial (1 core, AMD EPYC 9999)" in table.notes[0] and "cpu-openmp (up to 16 cores)" in table.notes[0]
    row = next(
        r for r in table.tidy if r["size"] == 1000 and r["implementation"] == "gpu" and r["over"] == "cpu-serial"
    )
    assert row["iterations"] == 10**8 and row["numerator"].startswith("gpu-a/sa/figure2.jsonl:")
    assert table.rows[0][3].note == ""  # one run each: no interval to show
    every = tables.improvement_table(study_of(studies, "sa/figure2"), studies)
    assert len(every.rows) == 4 * 6 and len(every.tidy) == 4 * 6 * 4


def test_acceptance(studies):
    table = tables.acceptance_table(study_of(studies, "sa/figure1"), studies)
    row = next(r for r in table.tidy if r["size"] == 100 and r["iterations"] == 10**6)
    assert row["rate"] == pytest.approx(0.01) and "figure1.jsonl" in row["record"]
    assert table.rows[1][4].text == "1.00"


def test_where_the_gpu_wins(studies):
    table = tables.crossing_table(study_of(studies, "sa/crossover"), studies)
    sizes = [row[1].text for row in table.rows]
    assert sizes == ["10", "30", "100", "300", "1000"]
    ten = [r for r in table.tidy if r["size"] == 10]
    assert [r["wins_from"] for r in ten] == [None] * 4
    hundred = next(
        r for r in table.tidy if r["size"] == 100 and r["implementation"] == "gpu" and r["over"] == "one core"
    )
    assert hundred["wins_from"] == 10**4 and 10**3 < hundred["equal_near"] < 10**4


def test_costs_in_the_steady_state_come_from_differences(studies):
    states = {(s.implementation, s.temperature): s for s in steady.steady_states(study_of(studies, "sa/steady"))}
    cold, warm = states["gpu-tuned", 1.0], states["gpu-tuned", 3000.0]
    assert cold.accepted == 0 and cold.scan == pytest.approx(1e-9) and cold.swap is None
    assert warm.accepted == 9000 and warm.swap == pytest.approx(2e-6 + 999e-9, rel=1e-3)
    table = steady.steady_table(study_of(studies, "sa/steady"))
    row = next(r for r in table.tidy if r["t"] == 3000)
    assert row["seconds_a_swap_without_scan"] == pytest.approx(2e-6, rel=1e-6)
    assert row["record"] != row["minus"] and row["minus"].startswith("gpu-a/sa/steady.jsonl:")
    assert table.rows[0][6].text in ("1.00 G", "1,000 M")


def test_one_core_baselines_are_held_against_one_core(root):
    machine = load_machine(root / "results" / "gpu-a")
    machine.environment["ceilings"]["cpu_integer_core"] = {"value": 5e9, "unit": "op/s"}
    for name in ("cpu-delta", "cpu-serial", "cpu-traditional"):
        record = next(r for r in machine.of("sa/figure1") if r.implementation == name)
        record.data["work"] = {"cpu_integer": 1e6}
        assert compare.clock(machine, record) == 5e9 and limits.floor(record, machine).ceiling == "cpu_integer_core"
    openmp = next(r for r in machine.of("sa/figure1") if r.implementation == "cpu-openmp")
    assert compare.clock(machine, openmp) == 5e11


def test_csv(studies):
    table = tables.crossing_table(study_of(studies, "sa/crossover"), studies)
    rows = list(csv.DictReader(io.StringIO(cells.tidy_csv(table))))
    assert len(rows) == 5 * 4 and {row["over"] for row in rows} == {"one core", "the fastest CPU"}
