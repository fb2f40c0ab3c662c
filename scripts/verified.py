"""Of which systems has a GPU verified the sources at hand? One line. Standard library only."""

import json
import sys
from pathlib import Path

from verification import system_of


def state(record: dict, hashes: str) -> str:
    """`record`: a verification.json; `hashes`: what cmake/source_hash.cmake prints."""
    here = dict(line.split() for line in hashes.splitlines())
    systems = [name for name in here if name not in ("all", "shared")]
    current = [c for c in record["checks"] if c.get("sources") == here.get(system_of(c["name"]))]
    proved = {system_of(c["name"]) for c in current if c["name"].startswith("twins random")}
    failed = sorted({system_of(c["name"]) for c in current if c["failed"]})
    other = [name for name in systems if name not in proved]
    words = [f"verified exactly these sources of {', '.join(n for n in systems if n in proved)}"] if proved else []
    if other:
        words.append(f'other sources of {", ".join(other)}: make test-gpu there again, ONLY="{" ".join(other)}"')
    words += [f"a check of {', '.join(failed)} FAILED there"] if failed else []
    return f"{record['machine']}: {'; '.join(words)}"


if __name__ == "__main__":
    print(state(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]))
