"""python -m vicinity_analysis: report, compare, regress, query, check."""

import argparse
import importlib
import os
import sys

from vicinity_analysis.errors import InputError

COMMANDS = ("report", "compare", "regress", "query", "check")


def parser_of(commands: tuple[str, ...] = COMMANDS) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vicinity_analysis", description="Reads vicinity's records (results/<machine>/)."
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in commands:
        module = importlib.import_module(f"vicinity_analysis.{name}")
        sub = subparsers.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run, failure=getattr(module, "FAILURE", 2))
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; bad input is one line on stderr and a non-zero status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Only the module of the command asked for is imported: `query` need not wait for matplotlib.
    known = arguments and arguments[0] in COMMANDS
    args = parser_of((arguments[0],) if known else COMMANDS).parse_args(arguments)
    try:
        return args.run(args)
    except InputError as error:
        print(f"vicinity-analysis: error: {error}", file=sys.stderr)
        return args.failure
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
