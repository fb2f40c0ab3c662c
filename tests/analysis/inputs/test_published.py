from pathlib import Path

import pytest
from vicinity_analysis.catalogue import open_catalogue
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.published import load_published, read_descriptor


def descriptors(root):
    return open_catalogue(root).descriptors()


def published(root, name="fang/table1"):
    return load_published(root, descriptors(root)[name])["time"]


def test_fang_table_1(root):
    table = published(root)
    assert len(table.observations) == 48 and len(table.rows) == 12 and table.unit == "ms"
    assert [column.device for column in table.columns[:2]] == ["GeForce GTX 1080 Ti", "GeForce GTX Titan X"]
    assert table.rows["r12"] == (("load", "1"), ("states", "4096"), ("variables", "32"), ("possibilities", "9800"))
    cell = table.cells["r12", table.columns[0]]
    assert cell.text == "66.30" and cell.value == pytest.approx(66.30e-3)
    assert cell.source.startswith("data/published/fang_table1.csv:")


def test_a_case_finds_its_row(root):
    table = published(root)
    case = {"problem": "grid-path", "load": 1, "possibilities": 9800, "states": 4096, "variables": 32, "grid": 1000}
    assert table.key_of_case(case) == table.rows["r12"]


def test_a_printed_row_may_hold_two_cases():
    table = published(Path(__file__).resolve().parents[3], "lsm/table9")
    assert len(table.rows) == 18 and len(table.cells) == 54
    case = {"m": 1301, "n": 1317, "neighborhood": "hamming1", "restarts": 100, "method": "hill"}
    (row,) = (row for row, key in table.rows.items() if key == table.key_of_case(case))
    (cpu,) = (column for column in table.columns if column.kind == "cpu")
    assert row == "r09.1" and table.cells[row, cpu].text == "1132"


def test_order_of_experiments(root):
    assert list(descriptors(root)) == ["fang/table1", "fang/table2", "fang/scaling"]


def test_broken_inputs_name_file_and_line(root, tmp_path):
    descriptor = descriptors(root)["fang/table1"]
    with pytest.raises(InputError, match=r"fang_table1.csv"):
        load_published(tmp_path, descriptor)
    text = (root / "data" / "published" / "fang_table1.csv").read_text().replace(",2.20,", ",fast,", 1)
    (tmp_path / "data" / "published").mkdir(parents=True)
    (tmp_path / "data" / "published" / "fang_table1.csv").write_text(text)
    with pytest.raises(InputError, match=r"fang_table1.csv:2: "):
        load_published(tmp_path, descriptor)
    (tmp_path / "experiments" / "fang").mkdir(parents=True)
    (tmp_path / "experiments" / "fang" / "bad.yaml").write_text("axes: [1\n")
    with pytest.raises(InputError, match=r"bad.yaml:2: "):
        descriptors(tmp_path)


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("{}", (1,)),
        ("{protocol: {seed: 7}}", (7,)),
        ("{protocol: {seed: 1}, axes: {size: [10], seed: [0, 1, 2]}}", (1, 2, 3)),
        ("{protocol: {seeds: [4, 6]}}", (4, 6)),
        ("{protocol: {seeds: {first: 1, count: 3}}}", (1, 2, 3)),
        ("{protocol: {seed: 1}, profiles: {full: {protocol: {seeds: {count: 2}}}}}", (1, 2)),
    ],
)
def test_seeds_of_old_and_new_descriptors(tmp_path, text, seeds):
    path = tmp_path / "some.yaml"
    path.write_text(text)
    found = read_descriptor(path)
    assert found.seeds == seeds and "seed" not in found.axes


def test_seeds_that_are_none(tmp_path):
    (tmp_path / "some.yaml").write_text("{protocol: {seeds: [one]}}")
    with pytest.raises(InputError, match=r"protocol\.seeds"):
        read_descriptor(tmp_path / "some.yaml")


@pytest.mark.parametrize("name", ["../../../secret.csv", "/etc/hostname", "../published/../../secret.csv"])
def test_a_descriptor_names_files_of_its_folder_only(root, tmp_path, name):
    (tmp_path / "data" / "published").mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("paper\n")
    path = tmp_path / "some.yaml"
    path.write_text(f"{{published: {{csv: '{name}', axes: {{size: size}}}}}}")
    with pytest.raises(InputError, match="leads out of"):
        load_published(tmp_path, read_descriptor(path))


def test_nor_through_a_link(tmp_path):
    folder = tmp_path / "data" / "published"
    folder.mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("paper\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (tmp_path / "some.yaml").write_text("{published: {csv: link.csv, axes: {size: size}}}")
    with pytest.raises(InputError, match="leads out of"):
        load_published(tmp_path, read_descriptor(tmp_path / "some.yaml"))


@pytest.mark.parametrize(
    "text", ["[1]", "{axes: 3}", "{published: 5}", "{protocol: [1]}", "{title: [}", "{date: 2020-99-99}"]
)
def test_what_is_no_descriptor_is_one_line(tmp_path, text):
    (tmp_path / "some.yaml").write_text(text)
    with pytest.raises(InputError, match=r"some\.yaml") as error:
        read_descriptor(tmp_path / "some.yaml")
    assert "\n" not in str(error.value)
