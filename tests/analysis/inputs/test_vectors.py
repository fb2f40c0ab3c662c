"""The good and bad inputs that all readers must agree on: tests/vectors/*.json."""

import json
import re

import pytest
import synthetic
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_json
from vicinity_analysis.inputs.published import Descriptor, load_published
from vicinity_analysis.inputs.records import load_machine

VECTORS = synthetic.REPOSITORY / "tests" / "vectors"


def cases(kind):
    return list(_cases(kind))


def _cases(kind):
    table = json.loads((VECTORS / f"{kind}.json").read_text(encoding="utf-8"))
    for vector in table["vectors"]:
        text = vector["line"] if "line" in vector else table["base"]
        if "replace" in vector:
            assert text.count(vector["replace"][0]) == 1, f"{vector['name']}: the base has not one such place"
            text = text.replace(*vector["replace"])
        data = text.encode(vector.get("encoding", "utf-8"))
        yield pytest.param(data, vector["verdict"], vector.get("field"), id=vector["name"])


@pytest.mark.parametrize(("line", "verdict", "field"), cases("record"))
def test_a_damaged_line_costs_that_line_and_is_said_once(tmp_path, capsys, line, verdict, field):
    base = json.loads((VECTORS / "record.json").read_text())["base"]
    good = base.replace('"implementation":"gpu"', '"implementation":"cpu-serial"').encode()
    path = tmp_path / "m" / "fang" / "table1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(good + b"\n" + line + b"\n" + good.replace(b"[1]", b"[2]") + b"\n")
    machine = load_machine(tmp_path / "m")
    assert [r.order for r in machine.all_records] == ([1, 2, 3] if verdict == "good" else [1, 3])
    told = capsys.readouterr().err.splitlines()
    assert len(told) == len(machine.damaged) == (verdict == "damaged")
    if verdict == "damaged":
        place = f"{field}: " if field else r"(not JSON: |not UTF-8|\[\] is not of type)"
        place = re.escape(place) if field else place
        assert re.search(rf"table1\.jsonl:2: {place}", told[0]) and told[0].endswith("mend or remove it")


@pytest.mark.parametrize("kind", ["environment", "verification"])
def test_a_damaged_file_is_one_line_with_its_field(tmp_path, kind):
    for parameter in cases(kind):
        data, verdict, field = parameter.values
        path = tmp_path / f"{kind}.json"
        path.write_bytes(data)
        if verdict == "good":
            assert read_json(path, kind)
            continue
        with pytest.raises(InputError) as error:
            read_json(path, kind)
        assert re.search(rf"{kind}\.json:\d+: {re.escape(field)}", str(error.value)), parameter.id
        assert "\n" not in str(error.value) and "mend or remove" in str(error.value)


@pytest.mark.parametrize(("data", "verdict", "field"), cases("published"))
def test_published_rows(tmp_path, data, verdict, field):
    folder = tmp_path / "data" / "published"
    folder.mkdir(parents=True)
    (folder / "some.csv").write_bytes(data)
    metric = "cost" if b",cost," in data else "time"
    asked = Descriptor("s/some", "", "", (), (), tmp_path / "some.yaml", "some.csv", {"size": "size"}, metric)
    if verdict == "good":
        assert len(load_published(tmp_path, asked)[metric].observations) == 1
        return
    with pytest.raises(InputError, match=rf"some\.csv:\d+: {re.escape(field)}") as error:
        load_published(tmp_path, asked)
    assert "\n" not in str(error.value)


def test_the_line_of_a_field(tmp_path):
    path = tmp_path / "environment.json"
    text = json.dumps(synthetic.environment("m", "GPU"), indent=1).replace('"cores": 16', '"cores": "many"')
    path.write_text(text)
    line = next(number for number, one in enumerate(text.splitlines(), start=1) if '"many"' in one)
    with pytest.raises(InputError, match=rf"environment\.json:{line}: cpu\.cores: 'many'"):
        read_json(path, "environment")


def test_recorded_results_are_whole():
    for folder in sorted((synthetic.REPOSITORY / "results").glob("nvidia-*")):
        assert load_machine(folder).damaged == ()
        for path in folder.glob("verification.json"):  # a machine may have had no time for it
            read_json(path, "verification")
