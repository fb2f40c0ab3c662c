"""`report`: what was recorded on a machine beside what the papers print; one page, Markdown, figures and tables."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from vicinity_analysis import catalogue, claims
from vicinity_analysis.catalogue import Catalogue
from vicinity_analysis.claims import CONTENDED, FAILS, HOLDS, NOT_JUDGED, OPEN, PART, Judged
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_json
from vicinity_analysis.inputs.records import Machine, load_machine
from vicinity_analysis.pages import check, environment, folder
from vicinity_analysis.paper import Paper
from vicinity_analysis.study import Study
from vicinity_analysis.views import cells, limits
from vicinity_analysis.views.cells import Cell, Column, Table, significant
from vicinity_analysis.views.tables import MISSING
from vicinity_analysis.views.usual import View, view_of

HELP = "write the report of a machine"
DESCRIPTION = """\
Writes results/<machine>/report/: index.html (self-contained), report.md, figures/ (SVG and PNG) and tables/ (CSV with
the record behind each number, and LaTeX). Other recorded machines are shown beside it with --with.
The same records give the same bytes."""

BADGE = {HOLDS: "yes", PART: "part", FAILS: "no", NOT_JUDGED: "open", CONTENDED: "open", OPEN: "open"}


@dataclass
class Section:
    """What the report says of one experiment."""

    study: Study
    judged: list[Judged]
    view: View

    @property
    def tables(self) -> list[Table]:
        return self.view.shown + self.view.folded

    @property
    def slug(self) -> str:
        return self.study.slug


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="results folder of the machine, e.g. results/nvidia-h200")
    other = {"dest": "others", "type": Path, "nargs": "+", "action": "extend", "default": [], "metavar": "DIR"}
    parser.add_argument("--with", help="results folders of other machines to show beside it", **other)
    parser.add_argument("--out", type=Path, help="folder to write (default: <results>/report)")
    catalogue.add_arguments(parser)
    parser.add_argument("--check-links", action="store_true", help="check the written pages; status 1 on a fault")


def run(args: argparse.Namespace) -> int:
    paths = list(dict.fromkeys(path.resolve() for path in [args.results, *args.others]))
    machines = [load_machine(path) for path in paths]
    out = args.out or args.results / "report"
    known = catalogue.open_catalogue(args.root, args.papers, args.experiments)
    try:
        write(out, known, machines)
    except OSError as error:
        raise InputError(f"{out}: {error.strerror or error}; what stood there is as it was") from error
    print(out / "index.html")
    if not args.check_links:
        return 0
    faults = check.faults_of(out)
    print("\n".join(faults) if faults else "links are sound")
    return 1 if faults else 0


def write(out: Path, known: Catalogue, machines: list[Machine]) -> None:
    """Writes the whole report in place of an earlier one; files of others in the folder stay."""
    folder.replace(out, _files(known, machines))


def _files(known: Catalogue, machines: list[Machine]) -> Iterator[tuple[str, bytes]]:
    """Name in the folder and content."""
    sections = build(known, known.studies(machines))
    context = {**_context(known, machines, sections), "style": _template_text("style.css")}
    for drawing in (drawing for section in sections for drawing in section.view.figures):
        yield f"figures/{drawing.name}.svg", drawing.svg.encode()
        yield f"figures/{drawing.name}.png", drawing.png
    for table in context["all_tables"]:
        if table.tidy:
            yield f"tables/{table.name}.csv", cells.tidy_csv(table).encode()
        yield f"tables/{table.name}.tex", cells.latex(table).encode()
    yield "tables/claims.csv", cells.tidy_csv(_claims_tidy(sections)).encode()
    for template, name in (("report.html.j2", "index.html"), ("report.md.j2", "report.md")):
        yield name, _environment(template).get_template(template).render(context).encode()


def build(known: Catalogue, studies: list[Study]) -> list[Section]:
    sections = []
    for study in studies:
        paper = known.papers.get(study.descriptor.system) or Paper(study.descriptor.system, "")
        judged = claims.judge_all(study, studies, paper.claims)
        sections.append(Section(study, judged, view_of(study, studies, paper.views)))
    return sections


def _context(known: Catalogue, machines: list[Machine], sections: list[Section]) -> dict[str, Any]:
    studies = [section.study for section in sections]
    limit_tables = [table for table in map(limits.limits_table, studies) if table]
    limit_summary = limits.summary_table(studies)
    summary = _summary_table(sections)
    surroundings = [environment.environment_table(machines), environment.builds_table(machines)]
    surroundings += [environment.ceilings_table(machines)]
    provenance = environment.provenance_table(machines)
    every = [table for section in sections for table in section.tables]
    every += [*limit_tables, *(t for t in (limit_summary, summary, *surroundings, provenance) if t)]
    used = {mark for table in every for mark in table.marks()}
    titles = {system: paper.title for system, paper in known.papers.items()}
    papers = list(dict.fromkeys(section.study.descriptor.paper for section in sections))
    return {
        "machines": machines,
        "machine": machines[0],
        "papers": [(p, titles.get(p, p), [s for s in sections if s.study.descriptor.paper == p]) for p in papers],
        "sections": sections,
        "judged": [(section, judged) for section in sections for judged in section.judged],
        "tally": _tally(sections),
        "summary": summary,
        "limit_summary": limit_summary,
        "limit_tables": limit_tables,
        "surroundings": [table for table in surroundings if table],
        "provenance": provenance,
        "verification": [(machine.title, *_verification(machine)) for machine in machines],
        "all_tables": every,
        "marks": [(mark, *cells.MARKS[mark]) for mark in cells.MARKS if mark in used],
        "states": cells.STATES,
        "badge": BADGE,
    }


def _tally(sections: list[Section]) -> list[tuple[str, int]]:
    verdicts = [judged.verdict for section in sections for judged in section.judged]
    return [(verdict, verdicts.count(verdict)) for verdict in BADGE if verdict in verdicts]


def _summary_table(sections: list[Section]) -> Table | None:
    """One line a printed table and implementation: how far from the paper's devices, machine by machine. Runs that
    were whole only."""
    machines = sections[0].study.machines if sections else []
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for section in sections:
        for row in (row for table in section.view.shown if table.name.endswith("-ratios") for row in table.tidy):
            if "extrapolated" in row["marks"]:
                continue
            line = found.setdefault((section.study.name, row["implementation"], row["against"]), {})
            line.setdefault(row["machine"], []).append(row["ratio"])
    columns = [Column(label, kind="text") for label in ("table", "implementation", "against, as published")]
    columns += [Column(label, machine.title) for machine in machines for label in ("smallest", "median", "largest")]
    table = Table("summary", "Times faster than published, by table", columns, [])
    for names, by_machine in found.items():
        cells_ = [Cell(name) for name in names]
        for values in (by_machine.get(machine.name, []) for machine in machines):
            spread = [float(f(values)) for f in (np.min, np.median, np.max)] if values else []
            cells_ += [Cell(f"{significant(ratio)}×", f"{len(values)} rows") for ratio in spread] or [MISSING] * 3
        table.rows.append(cells_)
    return table if table.rows else None


def _verification(machine: Machine) -> tuple[str, str]:
    """What `make test-gpu` found on a machine, the checks of many experiments as one; and the hash of the sources."""
    path = machine.folder / "verification.json"
    if not path.exists():
        return "nothing (no verification.json)", ""
    found = read_json(path, "verification")
    sums: dict[str, dict[str, int]] = {}
    for one in found["checks"]:
        name = " ".join(word for word in one["name"].split() if "/" not in word)
        sums.setdefault(name, {"cases": 0, "failed": 0})
        for key in sums[name]:
            sums[name][key] += one[key]
    words = [
        f"{name}: {both['cases']} cases" + (f", {both['failed']} FAILED" if both["failed"] else "")
        for name, both in sums.items()
    ]
    return "; ".join(words), found["sources"]


def _claims_tidy(sections: list[Section]) -> Table:
    table = Table("claims", "Claims of the papers, judged", [], [])
    for section in sections:
        for judged in section.judged:
            places = [("published", judged.printed), *((m.name, found) for m, found in judged.measured)]
            for place, findings in places:
                for finding in findings:
                    row = {"experiment": section.study.name, "claim": judged.claim.name, "place": place}
                    row |= {"subject": finding.subject, "verdict": finding.verdict, "numbers": finding.numbers}
                    table.tidy.append(row | {"records": finding.sources})
            for machine, told in judged.unjudged:
                row = {"experiment": section.study.name, "claim": judged.claim.name, "place": machine.name}
                table.tidy.append(row | {"subject": "", "verdict": "not judged", "numbers": told, "records": ""})
    return table


def _environment(template: str) -> jinja2.Environment:
    """Where text is data: HTML is escaped by jinja, Markdown by what shows each value."""
    html = ".html" in template
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("vicinity_analysis.pages", "templates"),
        autoescape=html,
        finalize=None if html else cells.markdown_text,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    made.filters["markdown_table"] = cells.markdown
    made.filters["written"] = cells.Markdown
    made.filters["slug"] = cells.slug
    made.filters["within"] = lambda title, outer: _capital(title.removeprefix(f"{outer}: "))
    return made


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _template_text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
