"""Puts the checks of scripts/test_gpu together: verification.json of one machine. Standard library only."""

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

COUNTS = ("cases", "comparisons", "failed", "skipped")


def read(path: str) -> dict[str, Any]:
    """What `vicinity verify` or this script wrote, as far as it is used here. Raises ValueError with the place."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(found["sources"], str):
            raise ValueError("sources: is no text")
        for check in found["checks"]:
            if (
                not isinstance(check["name"], str)
                or not check["name"].split()
                or not isinstance(check.get("sources", ""), str)
                or type(check["cases"]) is not int
                or type(check["failed"]) is not int
            ):
                raise ValueError("checks: one has no name, sources, cases or failed")
        return {"gpu": None, **found}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        told = f"{error.args[0]}: is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}: {told}; remove it and run make test-gpu again") from error


def system_of(name: str) -> str:
    """The system of a check: "twins SYSTEM/table2 smoke", "twins random SYSTEM", "gpu tests SYSTEM"."""
    words = name.split()
    return next((word.partition("/")[0] for word in words if "/" in word), words[-1])


def joined(checks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Checks of one name, which several processes shared, as one: counts are sums, the digest is over theirs."""
    found: dict[str, list[dict[str, Any]]] = {}
    for check in checks:
        found.setdefault(check["name"], []).append(check)
    made = []
    for parts in found.values():
        check = dict(parts[0])
        if len(parts) > 1:
            check |= {key: sum(part[key] for part in parts) for key in COUNTS if key in check}
            if "digest" in check:
                check["digest"] = hashlib.sha256(" ".join(part["digest"] for part in parts).encode()).hexdigest()[:16]
        made.append(check)
    return made


def main(target: str, table: str, hashes: str, *parts: str) -> int:
    """Joins the twin checks of `parts` (vicinity verify --json) with lines of `table`: name, cases, failed, a note.

    `hashes` has lines NAME HASH of the tree (cmake/source_hash.cmake), none where they are not known; a program built
    from anything else verifies nothing. A check has the hash of its system: those of the same hash that were not run
    this time stay as `target` has them.
    """
    now = dict(line.split() for line in hashes.splitlines())
    try:
        twins = [read(part) for part in parts]
        earlier = read(target) if Path(target).exists() else None
    except (OSError, ValueError) as error:
        print(f"vicinity: error: {error}", file=sys.stderr)
        return 3
    built = {part["sources"] for part in twins}
    if len(built) > 1 or (now and built - {now["all"]}):
        message = f"the program was built from {', '.join(built)}, the tree is {now.get('all')}: build it again"
        print(f"vicinity: error: {message}", file=sys.stderr)
        return 3
    if any(part["gpu"] is None for part in twins):
        print("vicinity: error: the program found no GPU, so nothing was verified on one", file=sys.stderr)
        return 3
    checks = joined(check for part in twins for check in part["checks"])
    known = {system_of(check["name"]): check.get("sources") for check in checks}

    def current(name: str) -> str | None:
        return now.get(system_of(name), now.get("all", known.get(system_of(name))))

    for line in Path(table).read_text().splitlines():
        name, cases, failed, *note = line.split("\t")
        check = {"name": name, "sources": current(name), "cases": int(cases), "failed": int(failed)}
        checks.append(check | ({"note": note[0]} if note else {}))
    run = {check["name"] for check in checks}
    kept = [check for check in (earlier or {"checks": []})["checks"] if check["name"] not in run]
    checks = [check for check in kept if check.get("sources") == current(check["name"])] + checks
    proved = {system_of(check["name"]) for check in checks if check["name"].startswith("twins")}
    strange = sorted({system_of(check["name"]) for check in checks} - proved - {"shared"})
    if strange or not proved:
        message = f"{target} knows nothing of these sources of {', '.join(strange)} yet: run the twins as well"
        print(f"vicinity: error: {message}", file=sys.stderr)
        return 3
    ok = all(check["failed"] == 0 for check in checks)
    told = {**(twins[0] if twins else earlier or {}), "sources": now.get("all", *built), "checks": checks, "ok": ok}
    Path(target).write_text(json.dumps(told, indent=1) + "\n")
    for check in checks:
        verdict = "FAILED" if check["failed"] else "ok"
        print(f"{verdict}: {check['name']} ({check['cases']} cases, {check['failed']} failed)")
    print(f"{target} written")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
