import csv
import io
import re

import pytest
import synthetic
import synthetic_sa
from vicinity_analysis import catalogue
from vicinity_analysis.claims import FAILS, HOLDS, NOT_JUDGED, OPEN, PART
from vicinity_analysis.inputs.records import load_machine, ratio_value
from vicinity_analysis.pages import compare
from vicinity_analysis.papers.sa import PAPER, runs, steady, tables
from vicinity_analysis.views import cells, limits
from vicinity_analysis.views.choice import problems_of
from vicinity_analysis.views.headline import headline_of
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


def test_the_headline_is_over_the_faster_of_the_papers_codes_in_its_figures(studies):
    found = headline_of(studies, PAPER.ratios)
    assert found.over == "the faster of the paper's two CPU codes, on one host core"
    bar, faster = found.bars[0], set()
    assert {ratio.study.name for ratio in bar.ratios} == {"sa/figure1", "sa/figure2"}
    for ratio in bar.ratios:
        series = ratio.study.series(ratio.machine)
        timed = [series[code][ratio.key] for code in runs.PAPER.implementations if ratio.key in series.get(code, {})]
        best = min(timed, key=lambda record: record.typical())
        faster.add(best.implementation)
        assert ratio.value == pytest.approx(best.typical() / series["gpu"][ratio.key].typical())
    assert faster == set(runs.PAPER.implementations)


def model(**speed):
    """A cost model in which each implementation takes a fixed time a proposal, by N and I."""

    def seconds(name, n, i):
        return i * 1e-9 * speed[name.replace("-", "_")](n, i)

    return seconds


def world(tmp_path, names=synthetic_sa.ALL, change=None, swap=2e-6, **speed):
    """A machine on which all N behave as `speed` says (ns a proposal); `change` alters a record of Figure 1."""
    base = {"cpu_traditional": lambda n, i: 1e4, "cpu_delta": lambda n, i: 1e2, "cpu_serial": lambda n, i: 1e2}
    base |= {"cpu_delta_matrix": lambda n, i: 1e2, "cpu_openmp": lambda n, i: 50}
    base |= {"gpu": lambda n, i: 1, "gpu_tuned": lambda n, i: 0.5}
    root = synthetic_sa.make_root(tmp_path)
    arguments = ("m", "sa/figure1", (100, 300), tuple(10**k for k in range(3, 9)), names)
    records = list(synthetic_sa.figure(*arguments, model=model(**{**base, **speed}), cut=10**9))
    for record in records:
        if change:
            change(record)
    records += synthetic_sa.steady("m", [name for name in names if name.startswith("gpu")], swap)
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


FIGURES = ("crossover", "delta-threshold", "low-iterations", "same-results", "fifty-to-hundred", "hundred-over-delta")
FIGURES += ("delta-over-traditional", "ten-thousand", "plateau")
OF_THE_MATRIX = [name for name in FIGURES if name not in ("low-iterations", "same-results", "ten-thousand")]


def test_claims_when_everything_is_as_printed(tmp_path):
    def p(i):
        return {10**3: 0.3, 10**4: 1.0, 10**5: 8, 10**6: 40}.get(i, 103)

    judged = world(
        tmp_path,
        cpu_traditional=lambda n, i: 100 * p(i) if i >= 10**7 else 80 if i < 10**6 else 105,
        gpu=lambda n, i: 1e2 / p(i),
    )
    for name in FIGURES:
        assert judged[name].verdict == HOLDS, (name, judged[name].measured)
    finding = measured(judged, "fifty-to-hundred")
    assert (
        finding.subject == "gpu over the paper's CPU code (cpu-delta-matrix or cpu-traditional; 1 core, AMD EPYC 9999)"
    )
    assert "N = 100: 10" in finding.numbers and finding.sources.startswith("m/sa/figure1.jsonl:")


def test_every_judge_can_say_no(tmp_path):
    """The matrix never loses and never gains much, P falls and rises where it should not, swaps cost nothing, as many
    are accepted in every run, and one run took another path."""

    def change(record):
        record["counters"] = record["counters"] | {"accepted": record["iterations"] // 10}
        if record["implementation"] == "gpu" and record["iterations"] == 1000:
            record["digest"] = "f" * 16

    judged = world(
        tmp_path,
        change=change,
        swap=1e-9,
        cpu_traditional=lambda n, i: 300,
        gpu=lambda n, i: {10**3: 3, 10**4: 4, 10**5: 5}.get(i, 10 if i <= 10**7 else 4),
    )
    for name in FIGURES:
        assert judged[name].verdict == FAILS, (name, judged[name].measured)
    assert "at most 1,000" in measured(judged, "crossover").numbers


def test_without_the_papers_cpu_code_nothing_stands_in_for_it(tmp_path):
    judged = world(tmp_path, names=[name for name in synthetic_sa.ALL if name != "cpu-delta-matrix"])
    for name in OF_THE_MATRIX:
        assert judged[name].verdict == OPEN, name
        first, *beside = judged[name].measured[0][1]
        assert first.numbers == "no record of cpu-delta-matrix" and first.verdict == OPEN
        assert {finding.verdict for finding in beside} <= {NOT_JUDGED}
    assert any(f.subject.startswith("gpu over cpu-serial") for f in judged["fifty-to-hundred"].measured[0][1])


@pytest.mark.parametrize("faster", ["gpu_tuned", "cpu_serial"])
def test_ours_decides_nothing(tmp_path, faster):
    """`gpu-tuned` may be a thousand times faster, and our one core as fast as the GPU."""
    judged = world(tmp_path, gpu=lambda n, i: 5, **{faster: lambda n, i: 0.01})
    assert judged["fifty-to-hundred"].verdict == FAILS and judged["hundred-over-delta"].verdict == FAILS
    verdicts = {finding.subject.split(" (")[0]: finding.verdict for finding in judged["plateau"].measured[0][1]}
    assert verdicts.pop("gpu over the paper's CPU code") == PART and set(verdicts.values()) == {NOT_JUDGED}
    assert set(verdicts) == {
        "gpu-tuned over the paper's CPU code",
        "gpu over cpu-serial",
        "gpu over the fastest CPU",
        "gpu-tuned over the fastest CPU",
    }


def test_the_papers_code_is_the_faster_of_its_two(tmp_path):
    judged = world(tmp_path, cpu_traditional=lambda n, i: 10, gpu=lambda n, i: 20 if i < 10**5 else 5)
    assert "N = 100: 3" in measured(judged, "crossover").numbers  # over the matrix it would be ahead throughout


def test_in_part_for_half_of_the_sizes(tmp_path):
    judged = world(tmp_path, gpu=lambda n, i: 1 if n == 100 else 50)
    assert judged["fifty-to-hundred"].verdict == PART
    assert judged["hundred-over-delta"].verdict in (HOLDS, PART)


def test_half_of_an_up_to_claim_is_in_part(tmp_path):
    assert world(tmp_path, gpu=lambda n, i: 1e2 / 60)["hundred-over-delta"].verdict == PART


def test_a_share_that_falls_is_not_a_cost_that_does(tmp_path):
    assert world(tmp_path, swap=1e-9)["low-iterations"].verdict == PART


def test_start_up_is_no_suffering(tmp_path):
    """A start of a second makes a proposal of a short run dear; without runs at one temperature nothing is judged."""
    root = synthetic_sa.make_root(tmp_path)
    arguments = ("m", "sa/figure1", (100,), (1000, 10**6), synthetic_sa.ALL)
    records = synthetic_sa.figure(*arguments, model=lambda name, n, i: 1 + 1e-9 * i)
    synthetic_sa.make_machine(root / "results", "m", records, GPU)
    assert judge(root, "m")["low-iterations"].verdict == OPEN


def test_nothing_measured_is_said(tmp_path):
    root = synthetic_sa.make_root(tmp_path)
    records = synthetic_sa.figure("m", "sa/figure1", (30,), (1000, 10000), synthetic_sa.CPU)
    synthetic_sa.make_machine(root / "results", "m", records)
    judged = judge(root, "m")
    for name in ("crossover", "fifty-to-hundred", "plateau", "same-results", "longer-is-better"):
        assert judged[name].verdict == OPEN, name
    study = study_of(studies_of(root, "m"), "sa/figure2")
    view = view_of(study, [study], PAPER.views)
    notes = " ".join([*view.sentences, *(note for table in view.shown for note in table.notes)])
    assert "Not measured on AMD EPYC 9999" in notes and "experiments/sa/figure2.yaml" in notes


@pytest.mark.parametrize("change", [{"digest": "f" * 16}, {"objective": 1}, {"status": "invalid", "samples": {}}])
def test_a_run_that_is_not_the_traditional_one_is_no_same_result(tmp_path, change):
    root = synthetic_sa.make_root(tmp_path)
    records = list(synthetic_sa.figure("m", "sa/figure1", (30,), (1000, 10000), synthetic_sa.ALL))
    next(r for r in records if r["implementation"] == "gpu").update(change)
    synthetic_sa.make_machine(root / "results", "m", records, GPU)
    judged = judge(root, "m")["same-results"]
    findings = {f.subject: f for f in judged.measured[0][1]}
    assert judged.verdict == FAILS and findings["gpu"].numbers.startswith("1 of 2 runs")
    assert findings["gpu-tuned"].verdict == NOT_JUDGED and findings["gpu-tuned"].numbers.startswith("2 of 2 runs")


def test_a_scaled_run_is_no_witness_of_the_same_results(tmp_path):
    root = synthetic_sa.make_root(tmp_path)
    records = synthetic_sa.figure("m", "sa/figure1", (300,), (10**7,), synthetic_sa.ALL)
    synthetic_sa.make_machine(root / "results", "m", records, GPU)
    assert judge(root, "m")["same-results"].verdict == OPEN


def test_both_figures_draw_on_both_experiments(studies, root):
    evidence = figure1_runs(studies)
    found = runs.values(runs.pairs(evidence, runs.SERIAL, "gpu"))
    assert list(found) == list(synthetic_sa.SIZES) and max(found[30]) == 10**8
    expected = synthetic_sa.seconds("cpu-serial", 1000, 10**8) / synthetic_sa.seconds("gpu", 1000, 10**8)
    assert found[1000][10**8] == pytest.approx(expected, rel=0.05)


def test_measured_goes_before_extrapolated_and_the_fastest_counts(studies):
    evidence = figure1_runs(studies)
    pair = runs.pairs(evidence, runs.FASTEST, "gpu")[300][10**7]
    assert pair.slow.implementation == "cpu-openmp" and pair.marks == ()
    only = runs.pairs(evidence, runs.TRADITIONAL, "gpu")[300][10**7]
    assert "extrapolated" in only.marks


def test_tables_name_their_baseline_and_trace_their_numbers(studies):
    table = tables.plateau_table(study_of(studies, "sa/figure2"), studies)
    assert [c.label for c in table.columns[3:]][:2] == [
        "gpu over the paper's CPU code",
        "gpu-tuned over the paper's CPU code",
    ]
    assert "AMD EPYC 9999, one core, or up to 16 of cpu-openmp" in table.notes[0]
    row = next(
        r for r in table.tidy if r["size"] == 1000 and r["implementation"] == "gpu" and r["over"] == "cpu-serial"
    )
    assert row["iterations"] == 10**8 and row["numerator"].startswith("gpu-a/sa/figure2.jsonl:")
    assert table.rows[0][3].note == ""  # one run each: no interval to show
    every = tables.improvement_table(study_of(studies, "sa/figure2"), studies)
    assert len(every.rows) == 4 * 6 and len(every.tidy) == 4 * 6 * 6


def test_ratios_for_programs_have_the_marks_of_both_sides(tmp_path):
    root = synthetic_sa.make_root(tmp_path)
    records = list(synthetic_sa.figure("m", "sa/figure2", (100,), (10**6, 10**7), synthetic_sa.ALL))
    for record in records:
        record["throttled"] = record["implementation"] == "gpu"
    synthetic_sa.make_machine(root / "results", "m", records, GPU)
    found = studies_of(root, "m")
    rows = tables.improvement_table(study_of(found, "sa/figure2"), found).tidy
    assert {(row["implementation"], row["marks"]) for row in rows} >= {("gpu", "throttled"), ("gpu-tuned", "")}


def of_seeds(folder, more):
    """Studies of a machine with Figure 1, each implementation's first seed and `more`."""
    root = synthetic_sa.make_root(folder)
    sweep = (100, 300), (10**3, 10**5, 10**7, 10**8)
    records = list(synthetic_sa.figure("m", "sa/figure1", *sweep, synthetic_sa.ALL, cut=10**9))
    synthetic_sa.make_machine(root / "results", "m", [*records, *more(records)], GPU)
    return root


def test_ratios_are_of_the_seeds_that_both_have(tmp_path):
    """Counts are alike, but how many swaps are accepted depends on the seed: in tables, claims, on the front page."""
    one = of_seeds(tmp_path / "one", lambda records: [])
    five = of_seeds(tmp_path / "five", synthetic_sa.further_seeds)
    heads, ratios, told = [], [], []
    for root in (one, five):
        studies = studies_of(root, "m")
        heads.append([bar.value for bar in headline_of(studies, PAPER.ratios).bars])
        table = tables.improvement_table(study_of(studies, "sa/figure2"), studies)
        ratios.append([[cell.text for cell in row] for row in table.rows])
        judged = judge(root, "m")
        told.append({name: [(f.verdict, f.numbers) for f in judged[name].measured[0][1]] for name in FIGURES})
    assert heads[0] == heads[1] and None not in heads[0]
    assert ratios[0] == ratios[1]
    assert told[0] == told[1]


def test_without_a_common_seed_there_is_no_ratio_to_judge(tmp_path):
    def change(record):
        if record["implementation"] == "gpu":
            record["seeds"] = [2]

    for name in OF_THE_MATRIX:
        found = measured(world(tmp_path / name, change=change), name)
        assert (found.verdict == OPEN) == found.subject.startswith("gpu over"), name


def test_builds_of_seeds_that_are_not_compared_do_not_count(tmp_path):
    def more(records):
        return [r | {"sources": "f" * 16} for r in synthetic_sa.further_seeds(records)]

    found = measured(judge(of_seeds(tmp_path, more), "m"), "plateau")
    assert found.verdict != NOT_JUDGED, found.numbers


def test_the_papers_faster_code_is_chosen_over_common_seeds(tmp_path):
    """cpu-traditional is the faster one of further seeds alone."""

    def more(records):
        own = [r for r in records if r["implementation"] == "cpu-traditional"]
        return synthetic_sa.further_seeds(own, "cpu", 1e-6)

    one, five = of_seeds(tmp_path / "one", lambda records: []), of_seeds(tmp_path / "five", more)
    heads = [[bar.value for bar in headline_of(studies_of(root, "m"), PAPER.ratios).bars] for root in (one, five)]
    assert heads[0] == heads[1]
    for root in (one, five):
        pair = runs.pairs(figure1_runs(studies_of(root, "m")), runs.PAPER, "gpu")[100][10**8]
        assert pair.slow.implementation == "cpu-delta-matrix"


def test_times_of_quality_are_compared_over_common_seeds(tmp_path):
    """Twenty seeds of the GPU beside ten of the CPU, of equal counts; those that only the GPU ran are the slow ones."""

    def records(names, first, last, factor):
        sizes = {"tai20a": synthetic_sa.BEST["tai20a"], "tai100a": synthetic_sa.BEST["tai100a"]}
        made = synthetic_sa.quality("m", names, sizes, (10**5,), last, experiment="sa/quality_times")
        for record in made:
            seed = record["case"].pop("seed") + 1
            if first < seed:
                samples = {part: [factor] for part in record["samples"]}
                yield record | {"case_key": f"{record['case']}", "seeds": [seed], "samples": samples}

    root = synthetic_sa.make_root(tmp_path)
    both = [*records(["cpu-serial"], 0, 10, 3.0), *records(["gpu-tuned"], 0, 10, 1.0)]
    synthetic_sa.make_machine(root / "results", "m", [*both, *records(["gpu-tuned"], 10, 20, 100.0)], GPU)
    studies = studies_of(root, "m")
    study = study_of(studies, "sa/quality_times")
    slow, fast = (study.series(study.machines[0])[name] for name in ("cpu-serial", "gpu-tuned"))
    assert len(fast) == 2 and {len(record.data["seeds"]) for record in fast.values()} == {20}
    assert {ratio_value(slow[key], fast[key]) for key in fast} == {3.0}
    (problem,) = problems_of(studies, study.machines[0], {"tai20a": 20, "tai100a": 100})
    assert {point.seconds for point in problem.points} == {(("gpu-tuned", 1.0), ("cpu-serial", 3.0))}


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
    assert [r["wins_from"] for r in ten] == [None] * 6
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
    assert table.rows[-1][9].text == "rows of proposals" and "none of evaluations" in table.notes[1]


@pytest.mark.parametrize(
    ("samples", "known"),
    [
        (([1.0, 1.1, 1.2], [1.3, 1.4, 1.5]), False),
        (([1.0, 1.0, 1.0], [1.3, 1.4, 1.5]), True),
        (([1.0, 1.1, 1.2], [1.0, 1.1, 1.2]), False),
        (([1.0], [9.0]), False),
    ],
)
def test_a_difference_within_its_own_interval_is_no_number(tmp_path, samples, known):
    root = synthetic_sa.make_root(tmp_path)
    cases = [{"size": 100, "iterations": i, "t0": 1, "tf": 1} for i in (10**6, 10**7)]
    pairs = zip(cases, samples, strict=True)
    records = [synthetic_sa.run("m", "sa/steady", "gpu-tuned", c, s, counters={"accepted": 0}) for c, s in pairs]
    synthetic_sa.make_machine(root / "results", "m", records, GPU)
    study = study_of(studies_of(root, "m"), "sa/steady")
    (state,) = steady.steady_states(study)
    assert (state.seconds is not None) == known == (state.scan is not None)
    assert (steady.steady_table(study).rows[0][6].text == steady.NOISE) != known


def test_a_chain_of_single_evaluations_has_a_limit_only_with_its_latency(root):
    machine = load_machine(root / "results" / "gpu-a")
    machine.environment["ceilings"]["integer"] = {"value": 1e13, "unit": "op/s"}
    machine.environment["ceilings"]["grid_barrier"] = {"value": 1e-6, "unit": "s"}
    chain, sweep, *_ = (r for r in machine.of("sa/figure1") if r.implementation == "gpu")
    chain.data["work"] = {"integer": 1e6}
    assert limits.floor(chain, machine) is None and limits.percent(chain, machine) is None
    sweep.data.update(work={"integer": 1e6}, evaluations=100 * sweep.data["iterations"])  # a hundred at once
    assert limits.floor(sweep, machine).ceiling == "integer"
    table = limits.summary_table(catalogue.open_catalogue(root).studies([machine]))
    assert [row[-1].text for row in table.rows] == ["1"] and table.notes == [limits.CHAINS]
    chain.data["work"]["grid_barrier"] = 2 * chain.data["counters"]["accepted"]
    assert not limits.without_latency(chain)
    chain.data["work"] = {"grid_barrier": 1e6}  # and no operations: what a run on a GPU says
    assert limits.floor(chain, machine) is None and limits.percent(chain, machine) is None
    table = limits.summary_table(catalogue.open_catalogue(root).studies([machine]))
    assert [row[-1].text for row in table.rows] == ["1"] and table.notes == [limits.MEETING]


def test_one_core_baselines_are_held_against_one_core(root):
    machine = load_machine(root / "results" / "gpu-a")
    machine.environment["ceilings"]["cpu_integer_core"] = {"value": 5e9, "unit": "op/s"}
    for name in ("cpu-delta", "cpu-serial", "cpu-traditional"):
        record = next(r for r in machine.of("sa/figure1") if r.implementation == name)
        record.data.update(work={"cpu_integer": 1e6}, evaluations=5 * record.data["iterations"])
        assert compare.clock(machine, record) == 5e9 and limits.floor(record, machine).ceiling == "cpu_integer_core"
    openmp = next(r for r in machine.of("sa/figure1") if r.implementation == "cpu-openmp")
    assert compare.clock(machine, openmp) == 5e11


def test_the_descriptors_ask_for_every_implementation_and_for_the_papers_own():
    asked = {study.name: study.descriptor for study in studies_of(synthetic.REPOSITORY) if study.name.startswith("sa/")}
    for name in ("sa/figure1", "sa/crossover"):
        assert {"gpu", *runs.PAPER.implementations} <= set(asked[name].implementations), name
    for name in ("sa/figure2", "sa/steady", "sa/quality_times"):
        assert {"gpu", *runs.MATRIX.implementations} <= set(asked[name].implementations), name
    assert set(asked["sa/quality"].seeds) == set(asked["sa/quality_times"].seeds)
    named = {
        "cpu_ref/sa/implementations.cpp": r'\{(?:\.name = )?"([a-z-]+)",\s+(?:\.backend = )?Backend::',
        "kernels/sa/implementations.cu": r'\{(?:\.name = )?"([a-z-]+)",\s+(?:\.backend = )?Backend::',
        "cpu_ref/sa/mpi.cpp": r'on_ranks\(Backend::\w+, "([a-z-]+)"',
    }
    registered = {
        name for file, words in named.items() for name in re.findall(words, (synthetic.REPOSITORY / file).read_text())
    }
    assert len(registered) == 12 and registered == {name for one in asked.values() for name in one.implementations}


def test_csv(studies):
    table = tables.crossing_table(study_of(studies, "sa/crossover"), studies)
    rows = list(csv.DictReader(io.StringIO(cells.tidy_csv(table))))
    assert len(rows) == 5 * 6 and {row["over"] for row in rows} == {
        "the paper's CPU code",
        "one core",
        "the fastest CPU",
    }
