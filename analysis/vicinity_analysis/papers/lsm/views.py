"""What the report shows of each experiment of local search."""

from vicinity_analysis.papers.lsm import ranks, tables
from vicinity_analysis.papers.lsm.searches import lacking, stand_ins
from vicinity_analysis.study import Study
from vicinity_analysis.views import usual
from vicinity_analysis.views.tables import times_table
from vicinity_analysis.views.usual import MakeView, View, along_axes, existing, printed_table

TEXTURE = ("gpu-texture", "gpu", tables.CACHED)
CONTROL = ("gpu-thread-control", "gpu-texture", tables.TRIALS)


def _whole(study: Study) -> View:
    """Of whole searches, whose parts add up to the time that is compared."""
    view = printed_table(study, total=False)
    view.shown[0].notes += tables.tenure_note(study)
    return view


def _search(study: Study, _: list[Study]) -> View:
    """Tables 2 to 5."""
    view = _whole(study)
    view.sentences = tables.round_trips(study) + tables.gain_sentences(study, *TEXTURE)
    return view


def _tours(study: Study, _: list[Study]) -> View:
    """Tables 6 and 7: the stand-ins after the instances of TSPLIB; in sight where any of those lacks a value."""
    view, others = _whole(study), _whole(stand_ins(study))
    if lacking(study):
        view.shown += others.shown
        view.folded += others.folded
        view.figures += others.figures
    else:
        view.folded += others.shown + others.folded
    view.sentences = tables.round_trips(study)
    view.sentences += tables.gain_sentences(study, *TEXTURE) + tables.gain_sentences(study, *CONTROL)
    return view


def _generation(study: Study, _: list[Study]) -> View:
    view = _whole(study)
    view.shown[1:1] = existing([tables.shares_table(study)])
    return view


def _climbs_in_sequence(study: Study, _: list[Study]) -> View:
    return _whole(study)


def _placements(study: Study, _: list[Study]) -> View:
    shown = existing([tables.placement_table(study)])
    return View(shown, [times_table(study)], [], tables.gain_sentences(study, *TEXTURE))


def _precision(study: Study, _: list[Study]) -> View:
    return View(existing([tables.precision_table(study)]), [times_table(study)])


def _tenures(study: Study, studies: list[Study]) -> View:
    view = usual.gaps_over_seeds(study, studies)
    view.sentences = tables.tenure_sentences(study)
    return view


def _rates(study: Study, _: list[Study]) -> View:
    view = along_axes(study, rates=True)
    return View(existing([tables.rate_table(study)]) + view.shown, view.folded, view.figures, [])


def _climbing(study: Study, _: list[Study]) -> View:
    view = along_axes(study)
    return View(existing([tables.climbing_table(study)]), view.folded, view.figures, view.sentences)


def _ranks(study: Study, _: list[Study]) -> View:
    """Tables 10 and 11."""
    view = _whole(study)
    view.shown[1:1] = existing([ranks.ranks_table(study)])
    view.sentences = ranks.largest_share(study)
    return view


def _over_ranks(study: Study, _: list[Study]) -> View:
    view = usual.over_ranks(study, ranks.IN_STEP)
    for table in view.shown:
        table.notes += ranks.one_gpu(study)
    return view


VIEWS: dict[str, MakeView] = {
    "lsm/table1": _placements,
    **{f"lsm/table{k}": _search for k in (2, 3, 4, 5)},
    "lsm/table6": _tours,
    "lsm/table7": _tours,
    "lsm/table8": _generation,
    "lsm/table9": _climbs_in_sequence,
    "lsm/table9_small": usual.shown_with("lsm/table9"),
    "lsm/table10": _ranks,
    "lsm/table11": _ranks,
    "lsm/ranks": _over_ranks,
    "lsm/table10_gpus": _over_ranks,
    "lsm/gpus": _over_ranks,
    "lsm/gpus_tsp": _over_ranks,
    "lsm/gpu_restarts": _over_ranks,
    "lsm/precision": _precision,
    "lsm/quality_qap": usual.gaps_over_seeds,
    "lsm/quality_long": usual.shown_with("lsm/quality_qap"),
    "lsm/quality_tsp": usual.gaps_over_seeds,
    "lsm/tenure_tsp": _tenures,
    **{f"lsm/scaling_{problem}": _rates for problem in ("qap", "tsp", "ppp")},
    **{f"lsm/climbing_{problem}": _climbing for problem in ("qap", "tsp", "ppp")},
}
