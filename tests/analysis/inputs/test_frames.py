import json

import pytest
import synthetic
import vicinity_analysis
from vicinity_analysis.errors import InputError


def record(machine="m", **changes):
    return synthetic.record(machine, "new/search", {"size": 8}, "gpu", [2.0, 1.0, 4.0], **changes)


def test_one_row_a_line(root):
    table = vicinity_analysis.frame(root / "results" / "gpu-a")
    assert len(table) == len(table.source.unique()) and set(table.machine) == {"gpu-a"}
    row = table[table.source == "gpu-a/fang/table1.jsonl:60"].iloc[0]
    assert (row.implementation, row.backend, row.case_states, row.samples) == ("gpu-tuned", "gpu", 4096, 20)
    assert row.seconds == row.seconds_kernel == pytest.approx(1.44e-3, rel=0.05) and row.seconds_wall > row.seconds
    assert row.verified and row.counts and not row.extrapolated and row.seed == 1 and row.commit == "0" * 40
    skipped = table[table.status == "skipped"]
    assert len(skipped) and skipped.seconds.isna().all() and (skipped.samples == 0).all()


def test_the_build_of_each_line(tmp_path):
    folder = synthetic.write_records(tmp_path, "m", [record(build="1"), record(build="2"), record()], gpu="GPU")
    path = folder / "environment.json"
    environment = json.loads(path.read_text())
    builds = {"1": {"sources": "x", "compilers": {"cxx": "GNU 14", "cxx_flags": "-O1"}}}
    path.write_text(json.dumps(environment | {"builds": builds}))
    table = vicinity_analysis.frame(folder)
    assert list(table.build.fillna("")) == ["1", "2", ""]
    assert list(table.compiler_cxx_flags.fillna("")) == ["-O1", "", ""]
    path.write_text(json.dumps(environment))
    assert list(vicinity_analysis.frame(folder).compiler_cxx_flags.fillna("")) == ["", "", "-O3"]


def test_several_machines(root):
    assert set(vicinity_analysis.frame(root / "results").machine) == {"gpu-a", "gpu-b", "cpu-only"}
    folders = [root / "results" / name for name in ("gpu-a", "cpu-only")]
    assert set(vicinity_analysis.frame(folders).machine) == {"gpu-a", "cpu-only"}
    with pytest.raises(InputError, match="no such results folder"):
        vicinity_analysis.frame(root / "nowhere")


def test_what_newer_records_say(tmp_path):
    newer = record(time_source={"kernel": "device", "wall": "host"}, objective_sense="maximise", objective=90)
    newer |= {"best_known": 100, "proof": {"kind": "prefix", "iterations": 7}, "seeds": [5]}
    folder = synthetic.write_records(tmp_path, "m", [record(), newer, newer | {"profile": "smoke"}])
    older, row, smoke = (found for _, found in vicinity_analysis.frame(folder).iterrows())
    assert (row.clock_kernel, row.clock_wall, row.objective_sense, row.seed) == ("device", "host", "maximise", 5)
    assert (row.best_known, row.gap_percent, row.proof_iterations, row.seconds) == (100, 10, 7, 2)
    assert older.objective_sense == "minimise" and older.isna().clock_kernel
    assert [bool(found.counts) for found in (older, row, smoke)] == [True, True, False]


def test_shards_of_several_machines_are_one_table(tmp_path):
    for machine in ("a", "b"):
        folder = synthetic.write_records(tmp_path, machine, [record(machine)])
        process = {"pid": 7, "host": "0123", "start": "2026-01-01T00:00:00Z", "number": 1}
        line = json.dumps(record(machine, seeds=[2], process=process))
        (folder / "new" / "search.shard-2-of-3.jsonl").write_text(line + "\n")
    table = vicinity_analysis.frame(tmp_path)
    assert (
        list(table.machine) == ["a", "a", "b", "b"] and table.counts.all() and set(table.experiment) == {"new/search"}
    )
    assert set(table.source) == {
        f"{m}/new/{file}:1" for m in "ab" for file in ("search.jsonl", "search.shard-2-of-3.jsonl")
    }
    assert list(table.process_host.dropna()) == ["0123", "0123"]
