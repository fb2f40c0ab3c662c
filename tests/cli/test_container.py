"""Both Dockerfiles: what their steps name is there and reaches the image. scripts/container_test builds one."""

from __future__ import annotations

import fnmatch
import re
import shlex
import subprocess

import pytest
from conftest import ROOT, binary

IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
FILES = ["Dockerfile", "Dockerfile.cuda"]
# Files that a step uses are made by an earlier one: in the build folder and in .venv.
MADE = re.compile(r"(\.venv|build|/)")


def steps(file: str) -> list[tuple[str, str]]:
    """Instruction and its text, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / file).read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line]  # type: ignore[misc]


def reaches_the_image(path: str) -> bool:
    """By .dockerignore, of which the last line that fits counts; a folder's line counts for what is in it."""
    parts = path.split("/")
    above = ["/".join(parts[: k + 1]) for k in range(len(parts))]
    kept = True
    for line in IGNORED:
        pattern = line.removeprefix("!")
        anywhere = [pattern.removeprefix("**/")] if pattern.startswith("**/") else []
        names = [*above, *(parts if anywhere else [])]
        if any(
            fnmatch.fnmatchcase(name, p) and name.count("/") == p.count("/")
            for p in [pattern, *anywhere]
            for name in names
        ):
            kept = line.startswith("!")
    return kept


def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("no version control here that could list the files")
    return subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("file", FILES)
def test_every_step_is_one(file: str) -> None:
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ARG", "ENV", "CMD"}
    assert {instruction for instruction, _ in steps(file)} <= known
    assert steps(file)[0][0] == "FROM" and steps(file)[-1][0] == "CMD"
    for instruction, text in steps(file):
        if instruction == "FROM":
            assert re.match(r"docker\.io/[a-z/]+:[\w.-]+( AS \w+)?$", text)
        if instruction == "RUN":
            assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


@pytest.mark.parametrize("file", FILES)
def test_what_a_step_needs_is_there(file: str) -> None:
    stages = re.findall(r" AS (\w+)$", (ROOT / file).read_text(), re.MULTILINE)
    for instruction, text in steps(file):
        words = shlex.split(text)
        if instruction == "COPY" and words[0].startswith("--from="):
            assert words[0].removeprefix("--from=") in stages
        elif instruction == "COPY":
            assert all((ROOT / word).exists() and reaches_the_image(word) for word in words[:-1])
        elif instruction == "RUN":
            for script in re.findall(r"(?<![\w/.])scripts/\w+", text):
                assert (ROOT / script).is_file() and reaches_the_image(script)
            for preset in re.findall(r"--preset (\w+)", text):
                assert f'"name": "{preset}"' in (ROOT / "CMakePresets.json").read_text()
            for option in re.findall(r"-D(VICINITY_\w+)", text):
                assert f"option({option} " in (ROOT / "CMakeLists.txt").read_text()
        elif instruction == "CMD":
            assert words == ["[make,", "reproduce]"] and re.search(
                r"^reproduce:", (ROOT / "Makefile").read_text(), re.MULTILINE
            )


@pytest.mark.parametrize("file", FILES)
def test_arguments_are_used_and_known(file: str) -> None:
    text = (ROOT / file).read_text()
    declared = re.findall(r"^ARG (\w+)", text, re.MULTILINE)
    for name in declared:
        assert re.search(rf"\${name}\b", text), name
    assert set(re.findall(r"--build-arg (\w+)=", text)) <= set(declared)


@pytest.mark.parametrize("file", FILES)
def test_what_is_set_up_first_is_all_that_the_set_up_reads(file: str) -> None:
    """The layer with the packages has these files alone."""
    copied = {word for instruction, text in steps(file)[:5] if instruction == "COPY" for word in text.split()[:-1]}
    read = {"scripts/setup", *re.findall(r"scripts/[\w.]+\.(?:txt|sh)", (ROOT / "scripts/setup").read_text())}
    assert read | {"requirements.lock", "scripts/common.sh"} <= copied


def test_what_is_tracked_reaches_the_image() -> None:
    left_out = {path for path in tracked() if not reaches_the_image(path)}
    assert {path.split("/")[0] for path in left_out} <= {".github"}
    assert reaches_the_image("results/nvidia-h200/environment.json") and reaches_the_image("scripts/build")
    for path in (
        "results/mine/environment.json",
        "results/nvidia-h200/report/index.html",
        "build/vicinity",
        ".venv/bin/python",
    ):
        assert not reaches_the_image(path)
    recorded = {path.split("/")[1] for path in tracked() if path.startswith("results/")}
    assert recorded == {line.removeprefix("!results/") for line in IGNORED if line.startswith("!results/")}


def test_the_small_image_has_every_library() -> None:
    """Of the program as it is built here: copied, or in Ubuntu's base image."""
    (copied,) = re.findall(r"awk '\$1 ~ /(\S+)/ ", (ROOT / "Dockerfile.cuda").read_text())
    there = r"(linux-vdso|/lib64/ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))[.-]"
    listed = subprocess.run(["ldd", binary("VICINITY_BINARY")], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    assert [name for name in names if not re.match(copied, name) and not re.match(there, name)] == []
    assert sum(bool(re.match(copied, name)) for name in names) >= 4
