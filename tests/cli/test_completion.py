"""vicinity completion: the scripts, sourced by the shells themselves."""

from __future__ import annotations

import itertools
import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Program, binary, environment

COMPLETED = [
    ("ru", ["run"]),
    ("--ver", ["--version"]),
    ("run --prof", ["--profile"]),
    ("run --profile s", ["smoke"]),
    ("run fang/ta", ["fang/table1", "fang/table2"]),
    ("run --fresh fang/table1 fang/sc", ["fang/scaling"]),
    ("run --implementation cpu-serial cpu-open", ["cpu-openmp"]),
    ("verify --system fa", ["fang"]),
    ("solve l", ["lns", "lsm"]),  # fang solves nothing
    ("solve f", []),
    ("solve sa l", []),
    ("solve sa --instance mi", ["mine.dat"]),
    ("run --results fold", ["folder/"]),
    ("solve sa --seed ", []),
    ("run --test", []),  # not for users
    ("completion z", ["zsh"]),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a file and a folder, and the program on the PATH beside it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/vicinity").symlink_to(binary("VICINITY_BINARY"))
    here = tmp_path / "here"
    (here / "folder").mkdir(parents=True)
    (here / "mine.dat").touch()
    return here


def path_of(place: Path) -> dict[str, str]:
    return {**environment(), "PATH": f"{place.parent / 'bin'}:{os.environ['PATH']}", "HOME": str(place), "TERM": "dumb"}


def in_bash(place: Path, typed: str) -> list[str]:
    """What readline would be told."""
    script = r"""
        source <(vicinity completion bash) || exit
        COMP_LINE=$1
        read -ra COMP_WORDS <<<"${COMP_LINE//=/ = }"
        [[ $COMP_LINE != *' ' ]] || COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _vicinity && printf '%s\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "-c", script, "bash", f"vicinity {typed}"]
    result = subprocess.run(
        command, cwd=place, env=path_of(place), capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.parametrize(("typed", "expected"), COMPLETED)
def test_bash(place: Path, typed: str, expected: list[str]) -> None:
    assert sorted(in_bash(place, typed)) == [word.rstrip("/") for word in expected]  # readline marks folders


def test_bash_after_an_equals_sign(place: Path) -> None:
    assert in_bash(place, "run --profile=q") == ["quick"]


class Zsh:
    """An interactive zsh: its completion works in its line editor alone."""

    def __init__(self, place: Path) -> None:
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            ["zsh", "-f", "-i"],
            cwd=place,
            env=path_of(place),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        # The line is printed instead of run; marks tell the answers from the typing.
        self.say("PS1= RPS1= LISTMAX=0; autoload -Uz compinit; compinit -u -D; bindkey -e")
        self.say("unsetopt zle_bracketed_paste prompt_cr prompt_sp list_beep beep; setopt no_always_last_prompt")
        self.say("source <(vicinity completion zsh)")
        self.say(
            r"""show() { print -r -- "<${(q)BUFFER}>"; BUFFER= ; zle redisplay }; zle -N show; bindkey '^X' show"""
        )
        self.say("print rea''dy")
        self.until("ready")

    def say(self, line: str) -> None:
        os.write(self.terminal, line.encode() + b"\n")

    def until(self, pattern: str) -> re.Match[str]:
        seen, end = "", time.monotonic() + 30
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.2)[0]:
                seen += os.read(self.terminal, 65536).decode(errors="replace")
            if found := re.search(pattern, seen):
                return found
        raise AssertionError(f"no {pattern!r} in {seen!r}")

    def line_after_tab(self, typed: str) -> str:
        os.write(self.terminal, f"vicinity {typed}\t\x18".encode())
        return self.until(r"<(vicinity[^>]*)>")[1].replace("\\", "")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


def longest_common_prefix(words: list[str]) -> str:
    """Letter by letter: the least and the greatest word differ first."""
    pairs = zip(min(words), max(words), strict=False)
    return "".join(a for a, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here")
def test_zsh(place: Path) -> None:
    zsh = Zsh(place)
    try:
        for typed, expected in COMPLETED:
            line = zsh.line_after_tab(typed)
            start, word = f"vicinity {typed}".rsplit(" ", 1)
            assert line.startswith(f"{start} "), (typed, line)
            common = longest_common_prefix(expected) if expected else word
            assert line.split(" ")[len(start.split(" "))].rstrip("=") == common, (typed, line)
    finally:
        zsh.end()


def test_every_option_and_nothing_hidden(vicinity: Program) -> None:
    """Both scripts against --help."""
    scripts = {shell: vicinity("completion", shell).stdout for shell in ("bash", "zsh")}
    commands = re.findall(r"^      (\w+)\) options=", scripts["bash"], re.MULTILINE)
    assert commands == ["list", "run", "peer", "verify", "solve", "ceilings", "environment", "completion"]
    for command in commands:
        shown = set(re.findall(r"^  (?:-h,)?(--[a-z-]+)", vicinity(command, "--help").stdout, re.MULTILINE))
        for name, pattern in (
            ("bash", rf"      {command}\) options='(.*)'"),
            ("zsh", rf"        {command}\) _arguments((?:.*\n)*?.*) ;;\n"),
        ):
            found = re.search(pattern, scripts[name])
            assert found and set(re.findall(r"(?<![\w`])--[a-z-]+(?=[ =\['\n]|$)", found[1])) == shown, (name, command)


def test_installed(tmp_path: Path, vicinity: Program) -> None:
    build = os.environ.get("VICINITY_BUILD") or Path(vicinity.binary).parent
    command = ["cmake", "--install", build, "--prefix", tmp_path / "usr"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    installed = tmp_path / "usr/share"
    bash = (installed / "bash-completion/completions/vicinity").read_text()
    assert bash == vicinity("completion", "bash").stdout and (tmp_path / "usr/bin/vicinity").is_file()
    assert (installed / "zsh/site-functions/_vicinity").read_text().startswith("#compdef vicinity\n")
