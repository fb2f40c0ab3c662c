import pytest
import synthetic_lsm
from vicinity_analysis.__main__ import main
from vicinity_analysis.pages.coverage import coverage_of
from vicinity_analysis.papers.lsm import PAPER
from vicinity_analysis.papers.lsm import tables as lsm_tables
from vicinity_analysis.views import quality, speedups, tables
from vicinity_analysis.views.headline import headline_of
from vicinity_analysis.views.usual import view_of
from worlds import GPU, column, studies_of, study_of

MISSING = ("d1291", "pr2392", "fnl4461", "rl5915")
SHOWN = (
    "tenure_tsp",
    "table1",
    "table2",
    "table6",
    "table8",
    "table9",
    "table9_small",
    "precision",
    "scaling_tsp",
    "climbing_qap",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = synthetic_lsm.make_root(tmp_path_factory.mktemp("lsm"))
    names = (*SHOWN, "table3", "table4", "table7", "quality_tsp")
    records = [r for name in names for r in synthetic_lsm.experiment("gpu-a", name, skipped=MISSING)]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    return root


@pytest.fixture(scope="module")
def studies(root):
    return studies_of(root, "gpu-a")


def lsm(studies, name):
    return study_of(studies, f"lsm/{name}")


def test_the_headline_is_over_the_named_card_and_has_every_case_once(studies):
    found = headline_of(studies, PAPER.ratios)
    assert found.over == "Tesla M2050 (448 cores), as published"
    for bar in found.bars:
        assert {ratio.over for ratio in bar.ratios} == {found.over}
        assert len({ratio.case for ratio in bar.ratios}) == len(bar.ratios)
        # Tables 8 and 9 print the GTX 280; Tables 7, 10 and 11 have the cases of 6 and 4.
        assert {ratio.study.name for ratio in bar.ratios} == {f"lsm/table{number}" for number in (2, 3, 4, 6)}
        assert bar.elsewhere == 27 and "; 27 over another device left out" in bar.spread


def test_the_largest_win_is_split_by_times_where_printed_times_differ(studies):
    split = headline_of(studies, PAPER.ratios).split
    series = split.ratio.study.series(split.ratio.machine)
    theirs, ours = (series[name][split.ratio.key].typical() for name in ("gpu", "gpu-tuned"))
    assert split.algorithm == pytest.approx(theirs / ours)
    assert split.base * split.algorithm == pytest.approx(split.ratio.value)


def test_what_the_paper_prints_besides_times(studies):
    study = lsm(studies, "table8")
    assert set(study.others) == {"speedup", "share"}
    assert [c.implementation for c in study.others["speedup"].columns] == ["gpu-tex-cpu-generation", "gpu-tex"]


def test_measured_values_are_held_against_the_papers_own_version_on_its_best_card(studies):
    table = tables.ratio_table(lsm(studies, "table2"))
    labels = [c.label for c in table.columns[2:]]
    assert labels == [
        "gpu-tuned vs Tesla M2050 gpu-tex",
        "gpu vs Tesla M2050 gpu",
        "gpu-texture vs Tesla M2050 gpu-tex",
    ]
    labels = [c.label for c in tables.ratio_table(lsm(studies, "table8")).columns]
    assert "gpu-host-neighborhood vs GTX 280 gpu-tex-cpu-generation" in labels
    assert "gpu-texture vs GTX 280 gpu-tex" in labels
    labels = [c.label for c in tables.ratio_table(lsm(studies, "table9")).columns]
    assert "gpu vs GTX 280 gpu-tex" in labels and "gpu-reduction vs GTX 280 gpu-tex-reduction" in labels


def test_speedups_over_one_core_and_over_all_beside_the_printed_ones(studies):
    table = speedups.speedup_table(lsm(studies, "table2"))
    last = table.rows[-1]
    assert last[column(table, "Tesla M2050 (448 cores) gpu-tex")].text == "18.6×"
    assert [c.label for c in table.columns[10:]] == [
        "the paper's core / our core",
        *(
            f"{name} over {base}"
            for base in ("cpu-serial", "cpu-openmp")
            for name in ("gpu-tuned", "gpu", "gpu-texture")
        ),
        "cpu-openmp over cpu-serial",
    ]
    assert any("Tesla M2050 (448 cores) over one core of a Xeon E5620" in note for note in table.notes)
    assert table.footer[-1][column(table, "Tesla M2050 (448 cores) gpu-tex")].text == "18.6×"


def test_the_papers_core_stands_beside_every_ratio_over_ours(studies):
    """tai100a: the M2050 takes 2.6 s by textures, 18.6 times faster than its core."""
    study = lsm(studies, "table2")
    table = speedups.speedup_table(study)
    at = column(table, "the paper's core / our core")
    (key,) = (key for key in study.published.rows.values() if dict(key)["instance"] == "tai100a")
    ours = study.series(study.machines[0])["cpu-serial"][key].estimate().value
    cell = table.rows[-1][at]
    assert float(cell.text.rstrip("×")) == pytest.approx(2.6 * 18.6 / ours, rel=0.05)
    assert "data/published/lsm_table2.csv" in cell.title and "gpu-a/lsm/table2.jsonl" in cell.title
    assert any("The paper's core is a Xeon E5620" in note for note in table.notes)


def test_the_papers_core_as_printed_where_it_is(studies):
    core = speedups.printed_core(lsm(studies, "table8"))
    assert core.cpu == "Xeon E5450" and core.seconds["r01"] == 2.1
    for name in ("table2", "table3", "table4", "table6", "table9"):
        study = lsm(studies, name)
        assert set(speedups.printed_core(study).seconds) == set(study.published.rows), name


def test_without_printed_speed_ups_there_is_no_core_of_the_paper(studies):
    assert speedups.printed_core(lsm(studies, "scaling_tsp")) is None


def test_a_tenure_that_outlasts_the_search_is_said(studies):
    """442 cities: an eighth of 97461 swaps is 12182 iterations; of 19503, 2437."""
    view = view_of(lsm(studies, "table6"), studies, PAPER.views)
    (note,) = (note for note in view.shown[0].notes if note.startswith("Tenure"))
    assert "pcb442 (12,182)" in note and "d198" not in note
    two_flips = view_of(lsm(studies, "table4"), studies, PAPER.views).shown[0].notes
    assert any("401-417 (Hamming 2) (10,842)" in note and "201-217" not in note for note in two_flips)
    for name in ("table2", "table9"):
        assert not any("Tenure" in note for note in view_of(lsm(studies, name), studies, PAPER.views).shown[0].notes)


def test_tenures(studies):
    found = view_of(lsm(studies, "tenure_tsp"), studies, PAPER.views)
    assert len(found.sentences) == 4 and found.sentences[0].startswith("d198: tenure 7 ends at a mean length of")
    assert "(-10.0 %)" in found.sentences[0]
    assert "tenure" in [c.label for c in found.shown[0].columns]


def test_one_core_is_taken_from_the_experiment_that_measured_it(studies):
    study = lsm(studies, "table8")
    record = study.series(study.machines[0])["cpu-serial"][study.published.rows["r01"]]
    assert record.source.startswith("gpu-a/lsm/table4.jsonl:")
    counted = coverage_of(study, study.machines[0])
    assert counted.missing == 0 and counted.whole > 0
    assert "gpu-chains" in lsm(studies, "table9").series(study.machines[0])


@pytest.mark.parametrize(("own", "others", "counts"), [(0, 0, "table10"), (1, 0, "table4"), (1, 1, "table10")])
def test_a_case_is_of_one_experiment_of_its_own_unless_that_is_contended(tmp_path, own, others, counts):
    def records(name, contended):
        for record in synthetic_lsm.experiment("gpu-a", name, implementations=["cpu-serial"]):
            yield record | {"contended": [bool(contended)] * len(record["samples"]["wall"])}

    root = synthetic_lsm.make_root(tmp_path)
    synthetic_lsm.make_machine(root / "results", "gpu-a", [*records("table10", own), *records("table4", others)], GPU)
    study = lsm(studies_of(root, "gpu-a"), "table10")
    sources = {s.split(":")[0] for record in study.all_runs(study.machines[0]) for s in record.sources}
    assert sources == {f"gpu-a/lsm/{counts}.jsonl"}


SCALED = {"axis": "iterations", "at": [10, 20, 30], "to": 10000}


@pytest.mark.parametrize(
    ("own", "others", "counts"),
    [
        ((SCALED, "a"), (None, "a"), "table4"),
        ((SCALED, "a"), (None, "b"), "table10"),  # of other sources
        ((SCALED, None), (None, None), "table10"),  # who knows
        ((SCALED, "a"), (SCALED, "a"), "table10"),
        ((None, "a"), (None, "a"), "table10"),
        ((None, "a"), (SCALED, "a"), "table10"),
    ],
)
def test_a_whole_run_of_the_same_sources_counts_in_place_of_a_scaled_one(tmp_path, own, others, counts):
    def records(name, scaled, sources):
        for record in synthetic_lsm.experiment("gpu-a", name, implementations=["cpu-serial"]):
            made = {"sources": sources} if sources else {}
            yield {name: value for name, value in record.items() if name != "sources"} | made | {"extrapolated": scaled}

    root = synthetic_lsm.make_root(tmp_path)
    synthetic_lsm.make_machine(root / "results", "gpu-a", [*records("table10", *own), *records("table4", *others)], GPU)
    study = lsm(studies_of(root, "gpu-a"), "table10")
    sources = {s.split(":")[0] for record in study.all_runs(study.machines[0]) for s in record.sources}
    assert sources == {f"gpu-a/lsm/{counts}.jsonl"}
    where = f"where its own are missing, contended or scaled, {study.machines[0].title}, by rows: cpu-serial (9)."
    notes = [note for note in tables.times_table(study).notes if note.startswith("From ")]
    assert notes == ([f"From lsm/table4, {where}"] if counts == "table4" else [])


def test_a_missing_file_is_said_and_its_stand_in_shown(studies):
    found = view_of(lsm(studies, "table6"), studies, PAPER.views)
    first = found.shown[0]
    assert first.rows[-1][column(first, "gpu-tuned")].text == "skipped"
    assert (
        "rl5915 on NVIDIA H100 80GB HBM3: skipped: rl5915: no file rl5915.tsp; looked in VICINITY_INSTANCES."
        in first.notes
    )
    table = next(t for t in found.shown if t.name == "lsm-table6-stand-ins-times")
    last = table.rows[-1]
    assert last[0].text == "uniform5915" and "stand-ins of the same sizes" in table.title
    assert last[column(table, "Tesla M2050 (448 cores) gpu")].text == "859"
    assert float(last[column(table, "gpu-tuned")].text.replace(",", "")) > 0
    assert "lsm-table6-stand-ins-times" in [drawing.name for drawing in found.figures]


def test_with_all_files_the_stand_ins_are_folded(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = list(synthetic_lsm.experiment("gpu-a", "table6"))
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    studies = studies_of(root, "gpu-a")
    found = view_of(lsm(studies, "table6"), studies, PAPER.views)
    assert not any("stand-ins" in table.name for table in found.shown)
    assert any("stand-ins" in table.name for table in found.folded)


def test_round_trip(studies):
    (sentence,) = lsm_tables.round_trips(lsm(studies, "table3"))
    assert "at 73-73 (Hamming 1) (73 neighbours) an iteration of gpu takes 18.0 µs" in sentence
    assert "cpu-openmp (16 cores, AMD EPYC 9999): " in sentence and "Without it: gpu-tuned: " in sentence


def test_shares(studies):
    table = lsm_tables.shares_table(lsm(studies, "table8"))
    first = table.rows[0]
    assert [c.text for c in first[4:10]] == ["4.8", "73.7", "21.5", "19.0", "11.2", "69.8"]
    at = next(i for i, c in enumerate(table.columns) if "gpu-host-neighborhood" in c.group)
    assert [c.text for c in first[at : at + 3]] == ["10.0", "74.0", "16.0"]
    row = next(r for r in table.tidy if r["implementation"] == "gpu-host-neighborhood" and r["part"] == "transfers")
    assert row["percent"] == pytest.approx(74) and row["record"].startswith("gpu-a/lsm/table8.jsonl:")


def test_placements_are_relative_to_gpu(studies):
    table = lsm_tables.placement_table(lsm(studies, "table1"))
    assert [row[0].text for row in table.rows] == ["tai30a", "tai60a", "tai100a"]
    assert table.rows[0][column(table, "gpu")].text == "18.0"
    assert table.rows[-1][column(table, "gpu-shared over gpu")].text.startswith("▲ 1.0")
    assert all(row["baseline"] == "gpu" for row in table.tidy)


def test_rates(studies):
    table = lsm_tables.rate_table(lsm(studies, "scaling_tsp"))
    assert table.rows[-1][0].text == "20000" and table.rows[-1][2].text == "199,990,000"
    rate = next(r for r in table.tidy if r["size"] == "100" and r["implementation"] == "gpu-tuned")
    assert rate["value"] == pytest.approx(5e5, rel=0.02) and rate["what"] == "iterations a second"
    found = view_of(lsm(studies, "scaling_tsp"), studies, PAPER.views)
    assert "iterations a second against N" in found.figures[0].title


def test_climbs(studies):
    table = lsm_tables.climbing_table(lsm(studies, "climbing_qap"))
    row = next(r for r in table.rows if [c.text for c in r[:3]] == ["100", "hill", "100"])
    assert row[column(table, "moves a climb")].text == "33"
    hundred = next(
        r for r in table.tidy if r["size"] == "100" and r["restarts"] == "100" and "openmp" in r["implementation"]
    )
    assert hundred["seconds_a_climb"] == pytest.approx(33 * (4e-6 + 2e-11 * 4950 * 100), rel=0.02)


def test_precision(studies):
    table = lsm_tables.precision_table(lsm(studies, "precision"))
    assert len(table.rows) == 6 and table.rows[0][3].text == "5"


def test_lengths_without_a_best_known_one(studies):
    study = lsm(studies, "quality_tsp")
    table = quality.gap_table(study, [study])
    row = next(r for r in table.rows if r[0].text == "uniform101")
    assert row[column(table, "best known")].text == "unknown"
    assert "accepted, %" not in [c.label for c in table.columns]


def test_the_report_shows_all_of_it(root, tmp_path):
    arguments = ["report", str(root / "results" / "gpu-a"), "--root", str(root), "--out", str(tmp_path)]
    assert main([*arguments, "--check-links"]) == 0
    text = (tmp_path / "lsm.html").read_text()
    for words in ("A round trip to the host", "where the time goes", "no file rl5915.tsp", "Shown with lsm/table9"):
        assert words.lower() in text.lower(), words
    drawn = {p.stem for p in (tmp_path / "figures").glob("*.svg")}
    assert {"lsm-table2-times", "lsm-scaling_tsp-size", "lsm-climbing_qap-size", "lsm-quality_tsp-gpu-a"} <= drawn
