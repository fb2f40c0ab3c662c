"""python -m vicinity_analysis: report, compare, regress, query, check, submit, merge, measured, coverage, counters."""

import argparse
import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from vicinity_analysis.errors import InputError, printable

FAILURES = {"regress": 3}  # where 2 means something else
COMMANDS = {  # and the folder of their module
    "report": "pages",
    "compare": "pages",
    "regress": "gate",
    "query": "pages",
    "check": "pages",
    "submit": "pages",
    "merge": "pages",
    "measured": "pages",
    "coverage": "pages",
    "counters": "pages",
}


class Parser(argparse.ArgumentParser):
    """Wrong use is one line, not a page."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"vicinity-analysis: error: {printable(message)} (see {self.prog} --help)\n")


def parser_of(commands: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    called = Path(sys.argv[0]).name
    prog = called if called == "vicinity-analysis" else "python -m vicinity_analysis"
    parser = Parser(prog=prog, description="Reads vicinity's records (results/<machine>/).")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in commands:
        module = importlib.import_module(f"vicinity_analysis.{COMMANDS[name]}.{name}")
        sub = subparsers.add_parser(
            name, help=module.HELP, description=module.DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM and SIGHUP act as Ctrl-C does, so that what was begun is cleaned up. From the first on, further ones are
    ignored; what the caller has ignored (nohup) stays so."""
    before: dict[signal.Signals, Any] = {}

    def interrupt(number: int, frame: object) -> NoReturn:
        for one in before:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(one) is not signal.SIG_IGN:
                before[one] = signal.signal(one, interrupt)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; bad input is one line on stderr and a non-zero status."""
    with interruptible():
        return _main(arguments)


def _main(arguments: list[str] | None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    # Only the module of the command asked for is imported: `query` need not wait for matplotlib.
    known = arguments and arguments[0] in COMMANDS
    parser = parser_of((arguments[0],) if known else COMMANDS)
    failure = FAILURES.get(arguments[0], 2) if known else 2
    try:
        args = parser.parse_args(arguments)
        return args.run(args)
    except SystemExit as end:  # argparse has printed its line
        return failure if end.code else 0
    except InputError as error:
        print(f"vicinity-analysis: error: {printable(error)}", file=sys.stderr)
        return failure
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except Exception:  # a fault of ours must not look like a verdict: Python's own status 1 would mean "regression"
        traceback.print_exc()
        return 3


if __name__ == "__main__":
    sys.exit(main())
