"""What tests ask of made-up results: studies, judged claims, columns."""

from vicinity_analysis import catalogue, claims
from vicinity_analysis.inputs.records import load_machine

GPU = "NVIDIA H100 80GB HBM3"


def studies_of(root, *machines):
    return catalogue.open_catalogue(root).studies([load_machine(root / "results" / name) for name in machines])


def study_of(studies, name):
    return next(study for study in studies if study.name == name)


def judge(root, *machines):
    """name -> judged claim, of every paper that has experiments in `root`."""
    studies, papers = studies_of(root, *machines), catalogue.find_papers()
    return {j.claim.name: j for s in studies for j in claims.judge_all(s, studies, papers[s.descriptor.system].claims)}


def judge_everything(made, root, **changes):
    """The claims, judged on one machine with everything that the module `made` makes up, but for `changes`."""
    made.make_root(root)
    made.make_machine(root / "results", "gpu-a", made.everything("gpu-a", **changes), GPU)
    return judge(root, "gpu-a")


def column(table, label, group=""):
    return next(i for i, c in enumerate(table.columns) if c.label == label and group in c.group)
