"""What the papers claim, judged: on their own printed numbers and on each machine measured.

A paper's package has a tuple of Claim. A claim sees series of times (printed or
measured, the same to it) and returns findings; how strictly it judges stands in its `rule`, which the report prints.
A claim is about the paper's algorithm: what is found of ours stands beside it and decides nothing."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vicinity_analysis.inputs.published import Column, Key, Observation
from vicinity_analysis.inputs.records import Machine, Record, over_seeds, shorten
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import MARKS, significant
from vicinity_analysis.views.tables import device_label

HOLDS, PART, FAILS, OPEN = "holds", "holds in part", "does not hold here", "not measured"
NOT_JUDGED = "not judged"  # measured, but what was measured is not what the claim is about; the numbers say why
CONTENDED = "not judged: contended"  # a verdict that contended values would change
SEVERAL_BUILDS = "records of several builds"  # why a trend is not judged
OURS = ("gpu-tuned",)  # implementations that are no paper's; the name means the same in every system
BESIDE = "; ours, does not decide"


def as_printed(verdict: str) -> str:
    """A verdict by the paper's own numbers: "here" is where something was measured."""
    return verdict.removesuffix(" here")


@dataclass(frozen=True)
class Series:
    """Times (seconds) of one device of the paper, or of one implementation on one machine."""

    label: str
    kind: str  # gpu | cpu
    implementation: str
    times: dict[Key, float]
    sources: dict[Key, str]
    marks: frozenset[str] = frozenset()
    records: dict[Key, Record] = field(default_factory=dict)  # with the samples of all seeds; empty for printed values
    runs: dict[tuple[Key, int], Record] = field(default_factory=dict)  # of every seed
    results: dict[tuple[Key, int], Record] = field(default_factory=dict)  # and those whose times alone do not count
    speedups: dict[Key, float] = field(default_factory=dict)  # printed ones, over the paper's own baseline
    shares: dict[Key, dict[str, float]] = field(default_factory=dict)  # printed percentages of the time, by part
    device: str = ""  # of printed values
    apart: bool = False  # as of its studies

    def with_runs(
        self, runs: dict[tuple[Key, int], Record], results: dict[tuple[Key, int], Record] | None = None
    ) -> "Series":
        """Of these runs in place of its own."""
        return series_of(self.implementation, runs, results, self.apart)


@dataclass(frozen=True)
class Evidence:
    """Everything one place has to say on a claim: the paper's print, or one machine."""

    place: str
    machine: Machine | None  # None: the paper's own numbers
    series: tuple[Series, ...]
    invalid: tuple[Record, ...] = ()  # runs that failed their check, and so have no time
    statements: tuple[Observation, ...] = ()  # printed numbers that are no cases, to judge or to compare with

    @property
    def printed(self) -> bool:
        return self.machine is None

    def of(self, kind: str) -> list[Series]:
        return [series for series in self.series if series.kind == kind]

    def named(self, implementation: str) -> Series | None:
        return next((series for series in self.series if series.implementation == implementation), None)


@dataclass(frozen=True)
class Finding:
    """A verdict on one subject with the numbers behind it."""

    subject: str
    verdict: str
    numbers: str
    sources: str = ""
    decides: bool = True  # False: told beside those that do


@dataclass(frozen=True)
class Claim:
    name: str
    experiment: str  # the table it is printed below
    quote: str
    place: str  # where in the paper
    rule: str  # when it counts as holding
    judge: Callable[[Evidence], Sequence[Finding]]
    also: tuple[str, ...] = ()  # further experiments whose times it sees
    timed: bool = True  # False: whether and what (costs too), not how long, which contention does not change


@dataclass(frozen=True)
class Judged:
    claim: Claim
    printed: list[Finding]
    measured: list[tuple[Machine, list[Finding]]]
    unjudged: list[tuple[Machine, str]] = field(default_factory=list)  # what was left out of the evidence, and why

    @property
    def verdict(self) -> str:
        """That of the first machine with anything to say (the report's own comes first), else of the printed data."""
        return combine([finding.verdict for finding in self.deciding[1]])

    @property
    def deciding(self) -> tuple[str, list[Finding]]:
        for machine, findings in self.measured:
            if deciding := [finding for finding in findings if finding.decides]:
                return machine.title, deciding
        return ("the paper's own numbers" if self.printed else "nothing yet: no records", self.printed)

    @property
    def measured_verdict(self) -> str | None:
        """None where no machine decides: the paper's own numbers alone, or nothing."""
        return self.verdict if any(f.decides for _, findings in self.measured for f in findings) else None

    @property
    def words(self) -> str:
        """The verdict as it is said."""
        return as_printed(self.verdict) if self.measured_verdict is None else self.verdict

    @property
    def told(self) -> str:
        """Which machine decided, and what the others say."""
        verdicts: dict[str, list[str]] = {}
        for machine, findings in self.measured:
            if deciding := [finding.verdict for finding in findings if finding.decides]:
                verdicts.setdefault(combine(deciding), []).append(machine.title)
        if not verdicts:
            return f"by {self.deciding[0]}" if self.printed else self.deciding[0]
        first, *others = verdicts.items()
        return "; ".join([f"on {', '.join(first[1])}", *(f"{verdict} on {', '.join(on)}" for verdict, on in others)])

    @property
    def together(self) -> list[tuple[str, list[str], Finding]]:
        """(subject, places, finding), subject by subject; what several machines say alike stands once."""
        found: dict[tuple[str, str, str], tuple[list[str], Finding]] = {}
        places = [("published", self.printed), *((machine.title, findings) for machine, findings in self.measured)]
        for place, findings in places:
            for one in findings:
                on, _ = found.setdefault((one.subject, one.verdict, one.numbers), ([], one))
                on.append(place)
        subjects = list(dict.fromkeys(subject for subject, _, _ in found))
        every = [(subject, on, one) for (subject, _, _), (on, one) in found.items()]
        return sorted(every, key=lambda item: subjects.index(item[0]))


def combine(verdicts: Iterable[str]) -> str:
    """All the same, or in part. Findings not judged leave the whole open, unless the others differ already."""
    found = set(verdicts)
    if not found:
        return OPEN
    found = found - {NOT_JUDGED} or found
    judged = found - {CONTENDED}
    if len(judged) > 1:
        return PART
    return CONTENDED if CONTENDED in found else judged.pop()


def judge_all(study: Study, studies: list[Study], claims: Iterable[Claim]) -> list[Judged]:
    by_name = {other.name: other for other in studies}
    result = []
    for claim in claims:
        if claim.experiment != study.name:
            continue
        seen = [study, *(by_name[name] for name in claim.also if name in by_name)]
        printed = list(claim.judge(printed_evidence(seen)))
        evidence = [(machine, *without_scaled(measured_evidence(seen, machine))) for machine in study.machines]
        measured = [(machine, judge(claim, whole)) for machine, whole, _ in evidence]
        result.append(Judged(claim, printed, measured, [(machine, told) for machine, _, told in evidence if told]))
    return result


def without_scaled(evidence: Evidence) -> tuple[Evidence, str]:
    """No verdict rests on a time that was predicted from shorter runs. With what was left out, in words."""
    told = [
        f"{series.label} in {scaled} of {len(series.runs)} runs"
        for series in evidence.series
        if (scaled := sum(not record.whole for record in series.runs.values()))
    ]
    if not told:
        return evidence, ""
    kept = [(s, {at: run for at, run in s.runs.items() if run.whole}) for s in evidence.series]
    series = tuple(s.with_runs(runs) for s, runs in kept if runs)
    return replace(evidence, series=series), f"scaled: not judged: {', '.join(told)}"


def _without_contended(evidence: Evidence) -> Evidence:
    """Times of the other runs alone; series without any are left out. Results stay, but where a budget ended the
    search: it did less."""
    series = []
    for one in evidence.series:
        runs = {at: run for at, run in one.runs.items() if "contended" not in run.marks}
        results = {at: run for at, run in one.results.items() if at in runs or not run.protocol.get("budget")}
        series += [one.with_runs(runs, results)] if runs else []
    return replace(evidence, series=tuple(series))


def printed_evidence(studies: list[Study]) -> Evidence:
    found: dict[tuple[str, str], Series] = {}
    tables = [table for study in studies if study.published for table in (study.published, *study.others.values())]
    columns = dict.fromkeys(column for table in tables for column in table.columns)
    for table in tables:
        for observation in table.observations:
            column = Column(observation.device, observation.device_kind, observation.implementation)
            label = device_label(column, columns)
            series = found.setdefault(
                (column.device, column.implementation),
                Series(label, column.kind, column.implementation, {}, {}, device=column.device),
            )
            key = table.key(observation.params)
            if observation.metric == "speedup":
                series.speedups[key] = observation.value
            elif observation.metric == "share":
                series.shares.setdefault(key, {})[observation.params["part"]] = observation.value
            else:
                series.times[key], series.sources[key] = observation.value, observation.source
    return Evidence("printed", None, tuple(found.values()), statements=_statements(studies))


def measured_evidence(studies: list[Study], machine: Machine) -> Evidence:
    """Where several studies measured a case and seed, the record measured in full and with the most samples counts."""
    found: dict[str, dict[tuple[Key, int], Record]] = {}
    for study in studies:
        for name, cases in study.runs[machine.name].items():
            mine = found.setdefault(name, {})
            for at, record in (((key, r.seed), r) for key, records in cases.items() for r in records if r.ok):
                if at not in mine or _worth(record) > _worth(mine[at]):
                    mine[at] = record
    apart = any(study.apart for study in studies)
    series = tuple(series_of(name, runs, apart=apart) for name, runs in found.items() if runs)
    invalid = {r.source: r for study in studies for r in study.all_runs(machine) if r.data["status"] == "invalid"}
    return Evidence(machine.title, machine, series, tuple(invalid.values()), _statements(studies))


def _statements(studies: list[Study]) -> tuple[Observation, ...]:
    return tuple(observation for study in studies for observation in study.statements)


def series_of(
    name: str,
    runs: dict[tuple[Key, int], Record],
    results: dict[tuple[Key, int], Record] | None = None,
    apart: bool = False,
) -> Series:
    """Times are those of all seeds of a case together; counters and result those of the first. `results`: runs with
    those whose times do not count. `apart`: as of `over_seeds`."""
    by_seed: dict[Key, list[Record]] = {}
    for (key, _), record in sorted(runs.items(), key=lambda item: item[0][1]):
        by_seed.setdefault(key, []).append(record)
    records = {key: over_seeds(found, apart) for key, found in by_seed.items()}
    times = {key: record.typical() for key, record in records.items()}
    sources = {key: record.source for key, record in records.items()}
    marks = frozenset(mark for record in records.values() for mark in record.marks)
    backend = next(iter(records.values())).backend
    results = runs if results is None else results
    return Series(name, backend, name, times, sources, marks, records, runs, results, apart=apart)


def of_same_seeds(series: Sequence[Series]) -> list[Series]:
    """Runs of the cases and seeds that all of them have; nothing where there are none. A seed may decide how much is
    done: means over different seeds are of different work."""
    runs = set.intersection(*(set(s.runs) for s in series))
    results = set.intersection(*(set(s.results) for s in series))
    if not runs:
        return []
    return [
        s.with_runs(
            {at: found for at, found in s.runs.items() if at in runs},
            {at: found for at, found in s.results.items() if at in results},
        )
        for s in series
    ]


def _worth(record: Record) -> tuple[bool, bool, int]:
    return (record.whole, "contended" not in record.marks, len(record.times()))


def within(ratios: Iterable[float], low: float, high: float) -> str:
    """holds: all inside; in part: at least half."""
    values = list(ratios)
    inside = sum(low <= value <= high for value in values)
    return HOLDS if inside == len(values) else PART if 2 * inside >= len(values) else FAILS


def shares(flags: Sequence[bool]) -> str:
    """holds: everywhere; in part: in at least half."""
    return HOLDS if all(flags) else PART if 2 * sum(flags) >= len(flags) else FAILS


def trend(verdict: str, numbers: str, runs: Iterable[Record]) -> tuple[str, str]:
    """A verdict on how times change from case to case, and its numbers. Where the runs of an implementation are of
    several builds it is none: what changed between these would look like the trend. Results need no such care: they
    are checked against the reference, whatever the build."""
    builds: dict[str, set[str]] = {}
    for run in runs:
        builds.setdefault(run.implementation, set()).add(run.made_by or "")
    several = [name for name, sources in builds.items() if len(sources) > 1]
    return (NOT_JUDGED, f"{SEVERAL_BUILDS}: {', '.join(several)}") if several else (verdict, numbers)


def runs_at(cases: Collection[Key], *series: Series) -> list[Record]:
    """The runs of these cases, of every seed; printed values have none."""
    return [run for one in series for (key, _), run in one.runs.items() if key in cases]


def judge(claim: Claim, evidence: Evidence) -> list[Finding]:
    """What the claim's judge finds. Contended times decide nothing: where leaving them out changes a verdict, or ends
    it, there is none. What is not judged anyway stays so."""
    findings = list(claim.judge(evidence))
    if not claim.timed or not any(
        "contended" in record.marks for series in evidence.series for record in series.runs.values()
    ):
        return findings
    clean = {found.subject: found for found in claim.judge(_without_contended(evidence))}
    return [_confirmed(found, clean.get(found.subject)) for found in findings]


def _confirmed(found: Finding, clean: Finding | None) -> Finding:
    if clean is not None and clean.verdict == found.verdict:
        return clean
    return found if found.verdict == NOT_JUDGED else replace(found, verdict=CONTENDED)


def span(ratios: Iterable[float], unit: str = "×") -> str:
    """2.30× to 2.85× (median 2.6×, 4 cases)."""
    values = sorted(ratios)
    if not values:
        return "no cases"
    if len(values) == 1:
        return f"{significant(values[0])}{unit} (1 case)"
    low, high, middle = (significant(value) + unit for value in (values[0], values[-1], float(np.median(values))))
    return f"{low} to {high} (median {middle}, {len(values)} cases)"


def finding(subject: str, verdict: str, numbers: str, *series: Series) -> Finding:
    """A finding that names the marks and the records of the values it rests on. One of ours does not decide."""
    marks = [mark for mark in MARKS if any(mark in one.marks for one in series)]
    numbers += f"; some values {', '.join(marks)}" if marks else ""
    sources = shorten(source for one in series for source in one.sources.values())
    ours = any(one.implementation in OURS for one in series)
    return Finding(subject, verdict, numbers + BESIDE * ours, sources, decides=not ours)


def same_results(evidence: Evidence) -> list[Finding]:
    """Every GPU run has the digest of its moves, its cost and its count of iterations checked against the CPU's. One
    that failed, or was not checked, is enough to say no."""
    runs: dict[str, list[Record]] = {series.implementation: list(series.runs.values()) for series in evidence.of("gpu")}
    for record in evidence.invalid:
        if record.backend == "gpu":
            runs.setdefault(record.implementation, []).append(record)
    findings = []
    for name, records in runs.items():
        if not records:
            continue
        same = [r for r in records if r.data.get("verified") and r.data.get("digest") == r.data.get("reference_digest")]
        references = sorted({str(r.data.get("reference")) for r in records})
        numbers = f"{len(same)} of {len(records)} runs identical with {', '.join(references)}, move for move"
        verdict = HOLDS if len(same) == len(records) else FAILS
        sources = shorten(r.source for r in records)
        findings.append(Finding(name, verdict, numbers + BESIDE * (name in OURS), sources, name not in OURS))
    return findings
