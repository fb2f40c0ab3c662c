"""`report`: what was recorded on a machine beside what the papers print: pages, Markdown, figures and tables."""

import argparse
import importlib.util
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import numpy as np
from markupsafe import Markup, escape

from vicinity_analysis import catalogue, claims
from vicinity_analysis.catalogue import Catalogue
from vicinity_analysis.claims import CONTENDED, FAILS, HOLDS, NOT_JUDGED, OPEN, PART, Judged, as_printed
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_json
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record, load_machine
from vicinity_analysis.pages import check, environment, folder, forks, share
from vicinity_analysis.pages.counters import counters_table
from vicinity_analysis.pages.coverage import coverage_of, coverage_table
from vicinity_analysis.paper import Paper
from vicinity_analysis.study import Study
from vicinity_analysis.views import cells, choice, limits
from vicinity_analysis.views.cells import Cell, Column, Table, significant
from vicinity_analysis.views.headline import Headline, headline_of
from vicinity_analysis.views.layout import layout_of, nearby
from vicinity_analysis.views.tables import MISSING
from vicinity_analysis.views.usual import View, view_of

HELP = "write the report of a machine"
DESCRIPTION = """\
Writes results/<machine>/report/: index.html (the front page), a page for each paper, machines.html, plotly.min.js and
report.js (for figures that can be hovered and filtered), report.md, scoreboard.txt, share.png, figures/ (SVG and PNG)
and tables/ (CSV with the record behind each number, and LaTeX). Other recorded machines are shown beside it with
--with, as many as there are, last measured first. Prints the scoreboard. The same records give the same bytes."""

SCOREBOARD = "scoreboard.txt"
AS_PRINTED = "only as printed"  # of a claim that no machine decides
BADGE = {
    HOLDS: "yes",
    PART: "part",
    FAILS: "no",
    NOT_JUDGED: "open",
    CONTENDED: "open",
    AS_PRINTED: "open",
    OPEN: "open",
}


class Page(NamedTuple):
    """As the navigation shows it."""

    file: str
    name: str
    places: list[tuple[str, str]]  # (anchor, name)


@dataclass
class Section:
    """What the report says of one experiment."""

    study: Study
    judged: list[Judged]
    view: View
    limits: Table | None  # percentage of the speed of light

    @property
    def tables(self) -> list[Table]:
        return self.view.shown + self.view.folded

    @property
    def slug(self) -> str:
        return self.study.slug


@dataclass(frozen=True)
class Score:
    """Of one paper, on the front page and at the head of its own."""

    system: str
    title: str
    headline: Headline
    tally: list[tuple[str, int]]
    members: list[Section]
    summary: Table | None  # how far from the paper's devices

    @property
    def file(self) -> str:
        return f"{cells.slug(self.system)}.html"

    @property
    def judged(self) -> int:
        return sum(count for _, count in self.tally)

    @property
    def open(self) -> int:
        return sum(count for verdict, count in self.tally if verdict not in (HOLDS, PART, FAILS))

    @property
    def holding(self) -> int:
        return dict(self.tally).get(HOLDS, 0)

    @property
    def told(self) -> str:
        return share.claims_told(self.holding, self.judged, self.open)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="results folder of the machine, e.g. results/nvidia-h200")
    other = {"dest": "others", "type": Path, "nargs": "+", "action": "extend", "default": [], "metavar": "DIR"}
    parser.add_argument("--with", help="results folders of other machines to show beside it", **other)
    parser.add_argument("--out", type=Path, help="folder to write (default: <results>/report)")
    catalogue.add_arguments(parser)
    parser.add_argument("--check-links", action="store_true", help="check the written pages; status 1 on a fault")


def run(args: argparse.Namespace) -> int:
    paths = list(dict.fromkeys(path.resolve() for path in [args.results, *args.others]))
    own, *others = (load_machine(path) for path in paths)
    machines = [own, *sorted(others, key=lambda machine: machine.measured, reverse=True)]  # newest first
    named: dict[str, Machine] = {}
    for machine in machines:
        if (other := named.setdefault(machine.name, machine)) is not machine:
            message = f'"machine" is {machine.name}, as in {other.folder}: one of them is a copy; leave it out'
            raise InputError(f"{machine.folder / 'environment.json'}: {message}")
    out = args.out or args.results / "report"
    known = catalogue.open_catalogue(args.root, args.papers, args.experiments)
    try:
        write(out, known, machines)
    except OSError as error:
        raise InputError(f"{out}: {error.strerror or error}; what stood there is as it was") from error
    print((out / SCOREBOARD).read_text())
    print(f"Report: {out / 'index.html'}")
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
    context = _context(known, machines, sections)
    for drawing in (drawing for section in sections for drawing in section.view.figures):
        yield f"figures/{drawing.name}.svg", drawing.svg.encode()
        yield f"figures/{drawing.name}.png", drawing.png
    for table in context["all_tables"]:
        if table.tidy:
            yield f"tables/{table.name}.csv", cells.tidy_csv(table).encode()
        yield f"tables/{table.name}.tex", cells.latex(table).encode()
    yield "tables/claims.csv", cells.tidy_csv(_claims_tidy(sections)).encode()
    yield "plotly.min.js", _plotly()
    yield "report.js", _template_text("report.js").encode()
    lines = [share.Line(s.title, s.headline, s.holding, s.judged, s.open) for s in context["scores"]]
    yield "share.png", share.picture(machines[0].title, lines)
    yield SCOREBOARD, share.text(machines[0].title, lines).encode()
    yield "report.md", _environment("report.md.j2").get_template("report.md.j2").render(context).encode()
    made = _environment("base.html.j2", machines, context["scores"])
    pages = list(_pages(context))

    def page(index: int) -> bytes:
        template, name, more = pages[index]
        return made.get_template(template).render(context | more | {"here": name}).encode()

    yield from zip((name for _, name, _ in pages), forks.divided(page, len(pages)), strict=True)


def _plotly() -> bytes:
    """The one script that all pages share, from the package of PyPI, which need not be imported for it."""
    found = importlib.util.find_spec("plotly")
    if found is None or not found.submodule_search_locations:
        raise InputError("plotly is not installed; call make setup, or pip install plotly")
    return (Path(found.submodule_search_locations[0]) / "package_data" / "plotly.min.js").read_bytes()


def _pages(context: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Template, name of the file, and what it needs beyond the context."""
    yield "index.html.j2", "index.html", {}
    for score in context["scores"]:
        more = {"score": score}
        paper = context["known_papers"].get(score.system)
        more["symbols"] = [(axis, symbol) for axis, symbol in paper.notation.symbols.items()] if paper else []
        yield "paper.html.j2", score.file, more
    yield "machines.html.j2", "machines.html", {}


def build(known: Catalogue, studies: list[Study]) -> list[Section]:
    """A process for each core: nearly all the time goes into figures."""
    order = sorted(range(len(studies)), key=lambda index: -sum(len(runs) for runs in _runs(studies[index])))

    def section(position: int) -> Section:
        study = studies[order[position]]
        paper = known.papers.get(study.descriptor.system) or Paper(study.descriptor.system, "")
        judged = claims.judge_all(study, studies, paper.claims)
        view = view_of(study, studies, paper.views)
        return Section(study, judged, view, limits.limits_table(study))

    kept = [*studies, *(machine for study in studies for machine in study.machines)]
    kept += [claim for paper in known.papers.values() for claim in paper.claims]
    made = dict(zip(order, forks.divided(section, len(studies), kept), strict=True))
    return [made[index] for index in range(len(studies))]


def _runs(study: Study) -> Iterator[dict[Key, Record]]:
    """Of every machine and implementation; read here once for all processes."""
    return (runs for series in study.records.values() for runs in series.values())


def _context(known: Catalogue, machines: list[Machine], sections: list[Section]) -> dict[str, Any]:
    studies = [section.study for section in sections]
    limit_tables = [section.limits for section in sections if section.limits]
    limit_summary = limits.summary_table(studies)
    summary = _summary_table(sections)
    surroundings = [environment.environment_table(machines), environment.builds_table(machines)]
    surroundings += [environment.ceilings_table(machines), counters_table(machines)]
    provenance = environment.provenance_table(machines)
    every = [table for section in sections for table in section.tables]
    every += [*limit_tables, *(t for t in (limit_summary, summary, *surroundings, provenance) if t)]
    scores = _scores(known, sections)
    coverage = coverage_table(studies)
    every += [coverage, *(score.summary for score in scores if score.summary)]
    chooser = _chooser(machines)
    problems = choice.problems_of(studies, chooser, known.sizes())
    used = {mark for table in every for mark in table.marks()}
    titles = {system: paper.title for system, paper in known.papers.items()}
    papers = list(dict.fromkeys(section.study.descriptor.paper for section in sections))
    return {
        "machines": machines,
        "machine": machines[0],
        "papers": [(p, titles.get(p, p), [s for s in sections if s.study.descriptor.paper == p]) for p in papers],
        "known_papers": known.papers,
        "scores": scores,
        "pages": _navigation(scores),
        "coverage": coverage,
        "minded": _minded(studies, machines[0]),
        "chooser": chooser,
        "problems": problems,
        "picker": [problem.data | {"system": problem.system} for problem in problems],
        "style": _template_text("style.css"),
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


def _chooser(machines: list[Machine]) -> Machine:
    """Whose times say which implementation to use: the first with a GPU, and with more than one experiment on it."""
    found = {m.name: {r.experiment for r in m.all_records if r.backend == "gpu"} for m in machines}
    several = next((m for m in machines if len(found[m.name]) > 1), None)
    return several or next((m for m in machines if found[m.name]), machines[0])


def _scores(known: Catalogue, sections: list[Section]) -> list[Score]:
    scores = []
    for system in dict.fromkeys(section.study.descriptor.system for section in sections):
        members = [section for section in sections if section.study.descriptor.system == system]
        paper = known.papers.get(system) or Paper(system, system)
        headline = headline_of([section.study for section in members], paper.ratios)
        summary = _summary_table(members, system)
        scores.append(Score(system, paper.title, headline, _tally(members), members, summary))
    return scores


def _navigation(scores: Sequence[Score]) -> list[Page]:
    pages = [Page("index.html", "Front page", [])]
    for score in scores:
        places = [("claims", "Claims")] if score.tally else []
        places += [(cells.slug(section.slug), section.study.descriptor.title) for section in score.members]
        pages.append(Page(score.file, score.title, places))
    places = [("coverage", "What is missing"), ("limits", "Speed of light"), ("environment", "Environment")]
    return [*pages, Page("machines.html", "Machines and records", [*places, ("provenance", "Provenance")])]


def _minded(studies: list[Study], machine: Machine) -> list[tuple[int, str, str]]:
    """Count, words and link, of what a reader must know of this machine's values."""
    found = [coverage_of(study, machine) for study in studies]
    told = [("whole", "values of whole runs"), ("scaled", "scaled from shorter runs"), ("contended", "contended")]
    reasons = (
        "missing, with a reason" if machine.environment.get("gpu") else "need a GPU, or are left out with a reason"
    )
    told += [("explained", reasons), ("missing", "not measured yet; the profile full does")]
    begun = [one for one in found if one.begun]
    counts = [(sum(getattr(one, name) for one in begun), words) for name, words in told]
    counts.append((len(found) - len(begun), "experiments not begun here"))
    return [(count, words, "machines.html#coverage") for count, words in counts]


def _tally(sections: list[Section]) -> list[tuple[str, int]]:
    every = [judged for section in sections for judged in section.judged]
    verdicts = [one.measured_verdict or (AS_PRINTED if one.printed else OPEN) for one in every]
    return [(verdict, verdicts.count(verdict)) for verdict in BADGE if verdict in verdicts]


def _summary_table(sections: list[Section], system: str = "") -> Table | None:
    """One line a printed table and implementation: how far from the paper's devices, machine by machine. Runs that
    were whole only."""
    machines = sections[0].study.machines if sections else []
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for section in sections:
        for row in (row for table in section.tables if table.name.endswith("-ratios") for row in table.tidy):
            if {"extrapolated", "unlike"} & set(row["marks"].split()):
                continue
            line = found.setdefault((section.study.name, row["implementation"], row["against"]), {})
            line.setdefault(row["machine"], []).append(row["ratio"])
    machines = [machine for machine in machines if any(machine.name in by_machine for by_machine in found.values())]
    columns = [Column(label, kind="text") for label in ("table", "implementation", "against, as published")]
    columns += [Column(label, machine.title) for machine in machines for label in ("smallest", "median", "largest")]
    name = "summary" + f"-{system}" * bool(system)
    table = Table(name, "Times faster than published, by table", columns, [])
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
    groups: dict[str, list[dict]] = {}
    for one in found["checks"]:
        name = " ".join(word for word in one["name"].split() if "/" not in word)
        groups.setdefault(name, []).append(one)
    words = []
    for name, checks in groups.items():
        words.append(f"{name}: {sum(one['cases'] for one in checks)} cases")
        if failed := sum(one["failed"] for one in checks):
            places = [word for one in checks if one["failed"] for word in one["name"].split() if "/" in word]
            words[-1] += f", {failed} FAILED" + (f" ({', '.join(places)})" if places else "")
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


def _environment(template: str, machines: list[Machine] = (), scores: list[Score] = ()) -> jinja2.Environment:
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
    top = share.top_of([score.headline for score in scores])
    made.filters["markdown_table"] = cells.markdown
    made.filters["written"] = cells.Markdown
    made.filters["slug"] = cells.slug
    made.filters["within"] = lambda title, outer: _capital(title.removeprefix(f"{outer}: "))
    made.filters["layout"] = lambda table: layout_of(table, machines)
    made.filters["nearby"] = lambda title, column: nearby(title, column, machines)
    made.filters["coded"] = coded
    made.filters["as_printed"] = as_printed
    made.filters["data"] = data_of
    made.filters["times"] = lambda value: f"{significant(value)}×"
    made.filters["share"] = lambda value: f"{share.share_of(value, top):.1f}"
    return made


def coded(text: str) -> Markup:
    """HTML of a text in which `names` stand between backticks."""
    pieces = str(text).split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(pieces))


def data_of(value: object) -> Markup:
    """JSON inside a page: no sign of it can end the element that it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _template_text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
