"""What there is: packages of papers and descriptors, in the repository and in other people's folders."""

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.published import Descriptor, load_published, load_statements, read_descriptor, read_yaml
from vicinity_analysis.inputs.records import SPECIAL, Machine, find_root
from vicinity_analysis.paper import Paper
from vicinity_analysis.study import Study

PAPERS, EXPERIMENTS = "VICINITY_PAPERS", "VICINITY_EXPERIMENTS"  # environment: folders, separated by colons


@dataclass(frozen=True)
class Catalogue:
    """The repository, the papers found by system (in their order), and further folders of descriptors."""

    root: Path
    papers: Mapping[str, Paper]
    experiments: tuple[Path, ...] = ()

    def studies(self, machines: list[Machine]) -> list[Study]:
        """Every experiment that has a descriptor or a record, in the papers' order."""
        descriptors = self.descriptors()
        for name in sorted({record.experiment for machine in machines for record in machine.all_records}):
            if name not in descriptors:
                descriptors[name] = _described_by_records(self.root, name, machines)
        return [self._study(d, machines) for d in sorted(descriptors.values(), key=self._rank)]

    def descriptors(self) -> dict[str, Descriptor]:
        """experiment -> descriptor, in the papers' order. Raises InputError where one experiment has two."""
        found: dict[str, Descriptor] = {}
        for folder in (self.root / "experiments", *self.experiments):
            for path in sorted(folder.glob("*/*.yaml")):
                inside = folder.parent == self.root
                descriptor = read_descriptor(path, path.relative_to(self.root).as_posix() if inside else "")
                other = found.setdefault(descriptor.experiment, descriptor)
                if other is not descriptor:
                    raise InputError(f"{path}: {descriptor.experiment} stands in {other.path} already")
        return {d.experiment: d for d in sorted(found.values(), key=self._rank)}

    def sizes(self) -> dict[str, int]:
        """instance -> its size, as data/catalogue.yaml tells it: the first number, of cities, customers, ..."""
        path = self.root / "data" / "catalogue.yaml"
        listed = read_yaml(path)["instances"] if path.is_file() else []
        return {entry["name"]: next(iter(entry["size"].values())) for entry in listed if entry.get("size")}

    def _rank(self, descriptor: Descriptor) -> tuple[object, ...]:
        paper = self.papers.get(descriptor.system)
        return (paper.order if paper else sys.maxsize, descriptor.system, *descriptor.rank)

    def _study(self, descriptor: Descriptor, machines: list[Machine]) -> Study:
        printed = load_published(self.root, descriptor)
        published = printed.pop(descriptor.metric, None)
        paper = self.papers.get(descriptor.system) or Paper(descriptor.system, descriptor.system)
        statements = load_statements(self.root, descriptor)
        for name in paper.statements.get(descriptor.experiment, ()):
            statements += load_statements(self.root, replace(descriptor, csv=name, mapping={}))
        pool, same_cases = (tuple(of.get(descriptor.experiment, ())) for of in (paper.pools, paper.same_cases))
        return Study(
            descriptor,
            published,
            machines,
            statements,
            printed,
            paper.notation,
            pool,
            same_cases,
            unlike=paper.unlike,
            apart=paper.apart,
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = {"type": Path, "action": "append", "default": [], "metavar": "DIR"}
    parser.add_argument("--papers", help=f"folder with packages of further papers (also: {PAPERS})", **add)
    parser.add_argument("--experiments", help=f"folder with further descriptors (also: {EXPERIMENTS})", **add)
    parser.add_argument("--root", type=Path, help="repository with experiments/ and data/published/")


def open_catalogue(
    root: Path | None = None, papers: Iterable[Path] = (), experiments: Iterable[Path] = ()
) -> Catalogue:
    """With the folders that the environment names besides those given. Raises InputError for one that is not there."""
    folders = [_folders(*one) for one in ((papers, PAPERS), (experiments, EXPERIMENTS))]
    return Catalogue(find_root(root), find_papers(folders[0]), tuple(folders[1]))


def _folders(given: Iterable[Path], variable: str) -> list[Path]:
    named = [Path(text) for text in os.environ.get(variable, "").split(":") if text]
    folders = list(dict.fromkeys(path.resolve() for path in (*given, *named)))
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder")
    return folders


def find_papers(folders: Sequence[Path] = ()) -> dict[str, Paper]:
    """system -> paper: the packages of vicinity_analysis.papers, and every package in `folders`."""
    found: dict[str, Paper] = {}
    own = Path(__file__).parent / "papers"
    for parent in (own, *folders):
        for init in sorted(parent.resolve().glob("*/__init__.py")):
            inside = parent is own
            module = importlib.import_module(f"{__package__}.papers.{init.parent.name}") if inside else _load(init)
            paper = getattr(module, "PAPER", None)
            if not isinstance(paper, Paper):
                raise InputError(f"{init}: exposes no PAPER")
            if paper.system in found:
                raise InputError(f"{init}: a second paper of the system '{paper.system}'")
            found[paper.system] = paper
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


def _load(init: Path) -> ModuleType:
    """Imports a package from its folder, under its own name; its modules may import each other as usual."""
    name = init.parent.name
    known = sys.modules.get(name)
    if known is not None:
        if Path(known.__file__ or "").resolve() != init:
            raise InputError(f"{init}: a module called '{name}' is loaded already; choose another name")
        return known
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(init.parent)])
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"{init}: {type(error).__name__}: {error}") from error
    return module


def _described_by_records(root: Path, name: str, machines: list[Machine]) -> Descriptor:
    """Records whose descriptor is gone: shown as measured, without a printed table."""
    records = [record for machine in machines for record in machine.of(name)]
    implementations = tuple(dict.fromkeys(record.implementation for record in records))
    axes = tuple(axis for axis in records[0].case if axis not in SPECIAL)
    paper = records[0].data.get("paper") or name.split("/")[0]
    path = f"experiments/{name}.yaml"
    return Descriptor(name, f"{name} (descriptor not found)", paper, implementations, axes, root / path, shown=path)
