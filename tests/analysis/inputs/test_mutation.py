"""Every reader against files that were good and then changed: it answers, or says in one line what is wrong where."""

import contextlib
import importlib.util
import io
import json
import math
import re
import sys

import pytest
import synthetic
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from vicinity_analysis.__main__ import main
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_json
from vicinity_analysis.inputs.frames import frame
from vicinity_analysis.inputs.published import Descriptor, load_published, read_descriptor
from vicinity_analysis.inputs.records import load_machine

CASE = {"load": 1, "states": 16, "variables": 8, "possibilities": 80}
MORE = {
    "counters": {"launches": 1, "best_known": 3},
    "contended": [False, True, False],
    "trace": [{"seconds": 0.5, "iterations": 3, "objective": 7, "digest": "ab"}],
    "proof": {"kind": "prefix", "iterations": 2},
    "time_source": {"kernel": "device"},
    "control": {"cpu": [1e-3, 1e-3]},
    "build": "1",
    "policy": {"threads": 4, "restarts_at_a_time": 2},
}
RECORD = synthetic.record("m", "fang/table1", CASE, "cpu-serial", [1e-3, 2e-3, 3e-3], **MORE)
VERIFICATION = {"sources": "01", "gpu": "G", "ok": True}
VERIFICATION["checks"] = [{"name": "twins a/b", "sources": "02", "cases": 3, "failed": 0}]
ODD = [
    None,
    True,
    0,
    -1,
    1.5,
    -0.5,
    1e308,
    2**70,
    10**400,
    "",
    "1",
    "x" * 5000,
    "\x1b[2J",
    "\ud800",
    [],
    [[]],
    {},
    {"": {}},
]
QUICK = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def places(value, at=()):
    """Each place in a JSON value."""
    yield at
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in members:
        yield from places(one, (*at, name))


def changed(value, at, new):
    if not at:
        return new
    copy = value.copy()
    if new is KeyError and len(at) == 1:
        del copy[at[0]]
        return copy
    copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy


@st.composite
def mutated(draw, value, write=json.dumps):
    """The bytes of a value with one to three members changed or removed, or of its text with bytes changed."""
    if draw(st.booleans()):
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.sampled_from(list(places(value))))
            value = changed(value, at, draw(st.sampled_from(ODD + ([KeyError] if at else []))))
        with contextlib.suppress(UnicodeEncodeError):
            return write(value).encode()
    return draw(torn(write(value).encode("utf-8", "surrogatepass")))


@st.composite
def torn(draw, data):
    """Some bytes replaced, put in or taken out."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        piece = draw(
            st.sampled_from(
                [b"", b"\x00", b"\xff", b'"', b"[", b"}", b"NaN", b"-", b"e999", b"\n", b",", b"\xef\xbb\xbf", b"../"]
            )
        )
        data = data[:at] + piece + data[at + draw(st.integers(0, 3)) :]
    return data


def one_line(error):
    return "\n" not in str(error) and "Traceback" not in str(error)


def called(*arguments):
    """Status, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(word) for word in arguments])
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of records; tests overwrite what they change."""
    return synthetic.write_records(tmp_path_factory.mktemp("results"), "m", [RECORD], "GPU")


@QUICK
@given(data=mutated(RECORD))
@example(data=json.dumps(RECORD | {"samples": {"kernel": [-1.0], "wall": [1.0]}}).encode())
@example(data=b"[" * 100000)
def test_records(results, data):
    (results / "fang" / "table1.jsonl").write_bytes(data + b"\n" + json.dumps(RECORD | {"seeds": [2]}).encode() + b"\n")
    status, out, err = called("query", results, "--experiment", "fang/table1", "--json", "--list")
    assert status in (0, 2) and "Traceback" not in err and "\x1b" not in err
    assert all(re.search(r"table1\.jsonl:\d+: ", line) for line in err.splitlines() if "warning" in line)
    for answer in json.loads(out) if out else ():
        if answer["status"] == "ok":
            low, high = answer["interval"] or (answer["median"],) * 2  # one sample has none
            assert 0 < low <= answer["median"] <= high < math.inf
    with contextlib.redirect_stderr(io.StringIO()):
        table = frame(results)
    assert 1 <= len(table) <= 2 + data.count(b"\n") and not (table.seconds <= 0).any()
    assert called("compare", results, results)[0] in (0, 2)
    assert called("query", results, "--experiment", "fang/table1")[0] in (0, 2)


@QUICK
@given(data=mutated(synthetic.environment("m", "GPU")))
def test_environments(results, data):
    path = results.parent / "e" / "environment.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    (path.parent / "fang").mkdir(exist_ok=True)
    (path.parent / "fang" / "table1.jsonl").write_text(json.dumps(RECORD) + "\n")
    try:
        machine = load_machine(path.parent)
    except InputError as error:
        assert re.search(r"environment\.json:\d+: ", str(error)) and one_line(error)
        return
    from vicinity_analysis.pages import environment

    assert environment.environment_table([machine]).rows and environment.provenance_table([machine])
    assert environment.ceilings_table([machine]) is None or machine.environment["ceilings"]
    assert called("compare", path.parent, path.parent)[0] in (0, 2)


@QUICK
@given(data=mutated(VERIFICATION))
def test_verifications(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "verification.json"
    path.write_bytes(data)
    try:
        assert all(check["failed"] >= 0 for check in read_json(path, "verification")["checks"])
    except InputError as error:
        assert re.search(r"verification\.json:\d+: ", str(error)) and one_line(error)
    table = tmp_path_factory.getbasetemp() / "table"
    table.write_text("")
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        status = script("verification").main(str(path) + ".new", str(table), "all 01\na 02\n", str(path))
    assert status in (0, 1) or (status == 3 and len(err.getvalue().splitlines()) == 1)


PUBLISHED = (synthetic.REPOSITORY / "data" / "published" / "fang_table2.csv").read_bytes()


@QUICK
@given(data=torn(PUBLISHED))
def test_published_numbers(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "data" / "published"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "some.csv").write_bytes(data)
    asked = Descriptor("s/some", "", "", (), (), folder / "some.yaml", "some.csv", {"load": "load"})
    try:
        for table in load_published(folder.parents[1], asked).values():
            assert all(math.isfinite(observation.value) for observation in table.observations)
            assert len(table.cells) and len(table.rows)
    except InputError as error:
        assert re.search(r"some\.csv(:\d+)?: ", str(error)) and one_line(error)


DESCRIPTOR = yaml.safe_load((synthetic.REPOSITORY / "experiments" / "sa" / "quality.yaml").read_text())


@QUICK
@given(data=mutated(DESCRIPTOR, lambda value: yaml.safe_dump(value, allow_unicode=True)))
def test_descriptors(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "some.yaml"
    path.write_bytes(data)
    try:
        assert read_descriptor(path).experiment.endswith("/some")
    except InputError as error:
        assert "some.yaml" in str(error) and one_line(error)


def script(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, synthetic.REPOSITORY / "scripts" / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


CATALOGUE = {
    "origins": {"f": {"addresses": ["http://a/"], "debian": {"package": "p", "folder": "/f"}}},
    "instances": [{"name": "one", "family": "f", "file": "f/one.dat", "sha256": "0", "source": "s"}],
}


@QUICK
@given(data=mutated(CATALOGUE, lambda value: yaml.safe_dump(value, allow_unicode=True)))
def test_catalogues(tmp_path_factory, data):
    fetch, path = script("fetch"), tmp_path_factory.getbasetemp() / "catalogue.yaml"
    path.write_bytes(data)
    try:
        found = fetch.load(path)
        assert all(".." not in entry["file"] for entry in fetch.chosen(found, []))
    except fetch.Failure as failure:
        assert "catalogue.yaml" in str(failure) and "Traceback" not in str(failure)
