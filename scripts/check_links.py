"""Do the relative links of the Markdown pages lead to a file, and to the heading they name? Prints what does not."""

import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
SKIPPED = re.compile(r"^(\.|build|results$|node_modules$)")


def anchors(page: str) -> set[str]:
    """The anchors GitHub gives to the headings."""
    words = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in HEADING.findall(page))
    return {heading.replace(" ", "-") for heading in words}


def faults(root: Path) -> list[str]:
    found = []
    for page in sorted(root.rglob("*.md")):
        if any(SKIPPED.match(part) for part in page.relative_to(root).parts):
            continue
        text = page.read_text()
        for link in LINK.findall(text):
            if "://" in link or link.startswith("mailto:"):
                continue
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists():
                found.append(f"{page.relative_to(root)}: no such file: {link}")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                found.append(f"{page.relative_to(root)}: no such heading: {link}")
    return found


if __name__ == "__main__":
    problems = faults(Path(__file__).resolve().parent.parent)
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)
