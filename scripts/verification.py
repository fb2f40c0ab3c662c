"""Puts the checks of scripts/test_gpu together: verification.json of one machine. Standard library only."""

import json
import sys
from pathlib import Path
from typing import Any


def read(path: str) -> dict[str, Any]:
    """What `vicinity verify` or this script wrote, as far as it is used here. Raises ValueError with the place."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(found["sources"], str):
            raise ValueError("sources: is no text")
        for check in found["checks"]:
            if (
                not isinstance(check["name"], str)
                or type(check["cases"]) is not int
                or type(check["failed"]) is not int
            ):
                raise ValueError("checks: one has no name, cases or failed")
        return {"gpu": None, **found}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        told = f"{error.args[0]}: is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}: {told}; remove it and run make test-gpu again") from error


def main(target: str, table: str, sources: str, *parts: str) -> int:
    """Joins the twin checks of `parts` (vicinity verify --json) with lines of `table`: name, cases, failed, a note.

    `sources` is the hash of the tree, empty where it is not known; a program built from anything else verifies nothing.
    Checks of the same sources that were not run this time stay as `target` has them.
    """
    try:
        twins = [read(part) for part in parts]
        earlier = read(target) if Path(target).exists() else {"sources": None}
    except (OSError, ValueError) as error:
        print(f"vicinity: error: {error}", file=sys.stderr)
        return 3
    if not twins:  # only other checks were run
        if earlier["sources"] != sources:
            message = f"{target} knows nothing of these sources yet: run the twins as well"
            print(f"vicinity: error: {message}", file=sys.stderr)
            return 3
        twins = [{**earlier, "checks": []}]
    built = {part["sources"] for part in twins}
    if len(built) > 1 or (sources and built != {sources}):
        message = f"the program was built from {', '.join(built)}, the tree is {sources}: build it again"
        print(f"vicinity: error: {message}", file=sys.stderr)
        return 3
    if any(part["gpu"] is None for part in twins):
        print("vicinity: error: the program found no GPU, so nothing was verified on one", file=sys.stderr)
        return 3
    checks = [check for part in twins for check in part["checks"]]
    for line in Path(table).read_text().splitlines():
        name, cases, failed, *note = line.split("\t")
        checks.append({"name": name, "cases": int(cases), "failed": int(failed), **({"note": note[0]} if note else {})})
    if earlier["sources"] in built:
        now = {check["name"] for check in checks}
        checks = [check for check in earlier["checks"] if check["name"] not in now] + checks
    ok = all(check["failed"] == 0 for check in checks)
    Path(target).write_text(json.dumps({**twins[0], "checks": checks, "ok": ok}, indent=1) + "\n")
    for check in checks:
        verdict = "FAILED" if check["failed"] else "ok"
        print(f"{verdict}: {check['name']} ({check['cases']} cases, {check['failed']} failed)")
    print(f"{target} written")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
