import re

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.catalogue import open_catalogue
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages import measured
from vicinity_analysis.paper import Paper
from vicinity_analysis.views.quality import MEAN_GAP, SEEDS
from vicinity_analysis.views.quantities import THREADS, MeasuredTable, Row, time_in

PAGE = synthetic.REPOSITORY / "docs" / "measured.md"


def test_the_page_is_what_the_records_say(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    folders = synthetic.published_machines()
    assert len(folders) >= 2
    assert main(["measured", "--out", str(tmp_path / "page.md"), *map(str, folders)]) == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text, "docs/measured.md is not that of results/"


def test_machines_with_the_papers_tables_have_limits_to_hold_them_against():
    machines = [load_machine(folder) for folder in synthetic.published_machines()]
    found = [machine for machine in machines if machine.of("fang/table1")]
    assert len(found) >= 2
    assert not [machine.name for machine in found if not machine.environment.get("ceilings")]


def page(root, table, folder=None, **particular):
    known = open_catalogue(root)
    papers = {"fang": Paper("fang", "A paper", measured=(table,), **particular)}
    return measured.page(type(known)(root, papers), [load_machine(folder or root / "results" / "gpu-a")])


def test_cells_have_machine_implementation_and_marks(root):
    case = {"states": 4096, "variables": 32, "possibilities": 9800}
    rows = (Row(("largest",), "fang/table1", case),)
    names = ("cpu-serial", "gpu-tuned", "nobody")
    text = page(root, MeasuredTable("Times", ("case",), rows, names, (time_in("ms"),), ("Core i9 7940X",), "ms"))
    head, _, line = text[text.index("| case") :].splitlines()[:3]
    assert "published: i9 7940X, ms" in head and "H100 80GB HBM3: `gpu-tuned`" in head
    assert re.fullmatch(r"\| largest \| 336 \| \d+<sup>e</sup> \| 1\.4\d \| — \|", line)
    assert "Records: gpu-a/fang/table1.jsonl:56,60." in text and "<sup>e</sup> extrapolated" in text


def test_with_several_quantities_a_row_an_implementation(root):
    rows = (Row(("small",), "fang/table1", {"states": 1024, "variables": 8, "possibilities": 1224}),)
    text = page(root, MeasuredTable("Times", ("case",), rows, ("gpu", "nobody"), (time_in("us"), THREADS)))
    assert "| case | implementation | H100 80GB HBM3: time, us | H100 80GB HBM3: threads |" in text
    assert text.count("| small |") == 1 and "| small | `gpu` |" in text


def test_a_value_that_was_skipped_says_why(root, tmp_path):
    case = {"states": 4096, "variables": 32, "possibilities": 9800}
    records = [
        synthetic.record("gpu-b", "fang/table1", case, "gpu-tuned", [1e-3] * 5),
        synthetic.record("gpu-b", "fang/table1", case, "cpu-serial", [1.0])
        | {"status": "skipped", "message": "it may take <b>4116 s"},
    ]
    folder = synthetic.write_records(tmp_path / "results", "gpu-b", records, "NVIDIA B")
    rows = (Row(("largest",), "fang/table1", case),)
    text = page(root, MeasuredTable("Times", ("case",), rows, ("gpu-tuned", "cpu-serial"), (time_in("ms"),)), folder)
    assert re.search(r"^\| largest \| 1\.00 \| skipped \|$", text, re.MULTILINE)
    assert "\n\n- largest, cpu-serial on NVIDIA B: skipped: it may take &lt;b>4116 s.\n\nRecords: " in text


def test_a_column_says_on_how_many_cores_it_ran_where_they_are_not_the_machine_s(root, tmp_path):
    case = {"states": 4096, "variables": 32, "possibilities": 9800}
    rows = (Row(("largest",), "fang/table1", case),)

    def told(threads, quantities):
        run = synthetic.record("gpu-b", "fang/table1", case, "cpu-openmp", [1.0], policy={"threads": threads})
        place = tmp_path / f"{threads} {len(quantities)}"
        folder = synthetic.write_records(place, "gpu-b", [run], "NVIDIA B")
        cpu = load_machine(folder).environment["cpu"]
        return page(root, MeasuredTable("Times", ("case",), rows, ("cpu-openmp",), quantities), folder), cpu

    text, cpu = told(3, (time_in("ms"),))
    assert f"\n- NVIDIA B: cpu-openmp (3 of {cpu['cores']} cores, {cpu['model']}).\n" in text
    assert "cpu-openmp (" not in told(cpu["cores"], (time_in("ms"),))[0]
    assert "cpu-openmp (" not in told(3, (time_in("ms"), THREADS))[0]


LARGEST = {"states": 4096, "variables": 32, "possibilities": 9800}
LARGEST_ROW = (Row(("largest",), "fang/table1", LARGEST),)


def of_seeds(tmp_path, *written, **changes):
    """A machine's folder with records of (implementation, seed, seconds, iterations, contended)."""
    protocol = {"statistic": "mean", "repetitions": 1, "warmup": 0, "time": "kernel", **changes.pop("protocol", {})}
    records = [
        synthetic.record("gpu-b", "fang/table1", LARGEST, name, [seconds])
        | {"seeds": [seed], "iterations": n, "contended": [contended], "protocol": protocol, **changes}
        for name, seed, seconds, n, contended in written
    ]
    return synthetic.write_records(tmp_path / "results", "gpu-b", records, "NVIDIA B")


def test_a_row_is_of_the_seeds_that_all_have(root, tmp_path):
    """The seed decides how long a run is: one implementation's seeds are not held against other seeds."""
    written = [("cpu-serial", seed, 10.0 * seed, 100 * seed, False) for seed in (1, 2)]
    written += [("gpu-tuned", seed, 1.0 * seed, 100 * seed, seed == 1) for seed in (1, 2, 3, 4)]
    names = ("cpu-serial", "gpu-tuned", "nobody")
    text = page(
        root, MeasuredTable("Times", ("case",), LARGEST_ROW, names, (time_in("s"),)), of_seeds(tmp_path, *written)
    )
    assert "| case | B: `cpu-serial` | B: `gpu-tuned` | B: `nobody` | B: seeds |" in text
    assert "| largest | 15.0 | 1.50<sup>c</sup> | — | 2 |" in text
    assert f"- {measured.BY_SEED}\n\nRecords: gpu-b/fang/table1.jsonl:1-4." in text


def test_seeds_of_the_same_work_are_all_shown_and_not_told(root, tmp_path):
    written = [("cpu-serial", 1, 10.0, 100, False), *(("gpu-tuned", k, 1.0 * k, 100, k == 3) for k in (1, 2, 3))]
    names = ("cpu-serial", "gpu-tuned")
    text = page(
        root, MeasuredTable("Times", ("case",), LARGEST_ROW, names, (time_in("s"),)), of_seeds(tmp_path, *written)
    )
    assert "| largest | 10.0 | 1.50 |\n" in text and measured.BY_SEED not in text


def test_a_paper_may_say_that_seeds_do_different_work(root, tmp_path):
    """However alike their counts are."""
    written = [("cpu-serial", 1, 10.0, 100, False), *(("gpu-tuned", k, 1.0 * k, 100, False) for k in (1, 2, 3))]
    table = MeasuredTable("Times", ("case",), LARGEST_ROW, ("cpu-serial", "gpu-tuned"), (time_in("s"),))
    text = page(root, table, of_seeds(tmp_path, *written), apart=True)
    assert "| largest | 10.0 | 1.00 | 1 |\n" in text and measured.BY_SEED in text


def test_rows_of_several_quantities_are_of_common_seeds_too(root, tmp_path):
    """But where a column of the table says already of how many seeds its gap is."""
    written = [("cpu-serial", 1, 10.0, 100, False), *(("gpu-tuned", k, 1.0 * k, 100, False) for k in (1, 2, 3))]
    made = of_seeds(tmp_path, *written, objective=101, best_known=100)
    names = ("cpu-serial", "gpu-tuned", "nobody")
    table = MeasuredTable("Times", ("case",), LARGEST_ROW, names, (time_in("s"), time_in("ms")))
    text = page(root, table, made, apart=True)
    assert "| case | implementation | B: time, s | B: time, ms | B: seeds |" in text
    assert "| largest | `cpu-serial` | 10.0 | 10,000 | 1 |" in text
    assert "| largest | `gpu-tuned` | 1.00 | 1,000 | 1 |" in text
    assert f"- {measured.BY_SEED}\n\nRecords: gpu-b/fang/table1.jsonl:1-2." in text
    gaps = MeasuredTable("Gaps", ("case",), LARGEST_ROW, names, (MEAN_GAP, time_in("s"), SEEDS))
    text = page(root, gaps, made, apart=True)
    assert "| largest | `gpu-tuned` | 1.000 | 2.00 | 3 |" in text and measured.BY_SEED not in text


def test_without_a_common_seed_the_row_says_so(root, tmp_path):
    written = [("cpu-serial", 7, 10.0, 700, False), *(("gpu-tuned", k, 1.0 * k, 100 * k, False) for k in (1, 2))]
    names = ("cpu-serial", "gpu-tuned", "nobody")
    text = page(
        root, MeasuredTable("Times", ("case",), LARGEST_ROW, names, (time_in("s"),)), of_seeds(tmp_path, *written)
    )
    assert "| largest | 10.0<sup>d</sup> | 1.50<sup>d</sup> | — | — |" in text
    assert "\n- <sup>d</sup> different seeds" in text


def test_a_mean_gap_is_marked_where_any_of_its_seeds_was_contended(root, tmp_path):
    """Also where the time leaves that seed out: of the same work."""
    written = [("gpu-tuned", k, 1.0, 100, k == 2) for k in (1, 2, 3)]
    made = of_seeds(tmp_path, *written, objective=101, best_known=100)
    table = MeasuredTable("Gaps", ("case",), LARGEST_ROW, ("gpu-tuned",), (MEAN_GAP, time_in("s"), SEEDS))
    text = page(root, table, made)
    assert "| case | implementation | B: mean gap, % | B: time, s | B: seeds |" in text
    assert "| largest | `gpu-tuned` | 1.000<sup>c</sup> | 1.00 | 3 |" in text


@pytest.mark.parametrize(
    ("budget", "sign"),
    [
        (None, ""),
        ({"seconds": 2.0}, "<sup>b</sup>"),
        ({"seconds": 2.0, "gap": 0.001}, "<sup>b</sup>"),
        ({"seconds": 9.0}, ""),
    ],
)
def test_a_time_that_is_all_that_was_given_is_marked(root, tmp_path, budget, sign):
    """Of two runs one ended by itself; the other, a wall time of 2.6 s, ended with the budget."""
    written = [("gpu-tuned", 1, 1.0, 100, False), ("gpu-tuned", 2, 2.0, 200, False)]
    protocol = {"budget": budget} if budget else {}
    made = of_seeds(tmp_path, *written, objective=100, best_known=100, protocol=protocol)
    table = MeasuredTable("Gaps", ("case",), LARGEST_ROW, ("gpu-tuned",), (MEAN_GAP, time_in("s"), SEEDS))
    text = page(root, table, made)
    assert f"| largest | `gpu-tuned` | 0.000 | 1.50{sign} | 2 |" in text
    assert ("<sup>b</sup> budget: " in text) == bool(sign)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Row(("x",), "fang/table1", {"states": 1024}), "means 6 cases"),
        (Row(("x",), "fang/nothing", {}), "no experiment fang/nothing"),
    ],
)
def test_a_row_is_one_case(root, row, message):
    with pytest.raises(InputError, match=message):
        page(root, MeasuredTable("Times", ("case",), (row,), ("gpu",), (time_in("ms"),)))
