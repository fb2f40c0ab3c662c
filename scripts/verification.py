"""Puts the checks of scripts/test_gpu together: verification.json of one machine. Standard library only."""

import json
import pathlib
import sys


def main(target: str, table: str, sources: str, smoke: str, random: str) -> int:
    twins = [json.loads(pathlib.Path(part).read_text()) for part in (smoke, random)]
    built = {part["sources"] for part in twins}
    if len(built) > 1 or (sources and built != {sources}):
        print(f"vicinity: error: the program was built from {built}, the tree is {sources}: build it again", file=sys.stderr)
        return 3
    checks = [check for part in twins for check in part["checks"]]
    for line in pathlib.Path(table).read_text().splitlines():
        name, cases, failed = line.split("\t")
        checks.append({"name": name, "cases": int(cases), "failed": int(failed)})
    ok = all(check["failed"] == 0 for check in checks)
    record = {**twins[0], "checks": checks, "ok": ok}
    pathlib.Path(target).write_text(json.dumps(record, indent=1) + "\n")
    for check in checks:
        print(f"{'ok' if check['failed'] == 0 else 'FAILED'}: {check['name']} ({check['cases']} cases, {check['failed']} failed)")
    print(f"{target} written")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
