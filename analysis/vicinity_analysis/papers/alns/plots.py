"""Figures 4 to 8: the paper's curves, drawn from its tables, beside ours."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MultipleLocator, NullLocator

from vicinity_analysis.papers.alns.spreads import NAMES, SETS, Printed, Spread, printed_of
from vicinity_analysis.papers.alns.tables import BASELINES, Measured, measured_of, of_same_seeds
from vicinity_analysis.study import Study
from vicinity_analysis.views.charts import told
from vicinity_analysis.views.figures import INK, Drawing, handle, legend, log_axis, panels, render, style_of
from vicinity_analysis.views.tables import baseline_name

FIGURES = {"alns/table1": "Figure 4", "alns/table2": "Figure 5", "alns/table_b9": "Figure 7"}
GREY = {"gpu-alns": ("#404040", "o"), "pra": ("#8C8C8C", "s"), "pra-8": ("#8C8C8C", "D")}
OVER_REQUESTS = ("gpu", "gpu-tuned")  # of the first machine that has them; tables have the others
OURS = {"pra": "cpu-serial", "pra-8": "cpu-openmp"}  # what stands for it where ratios are of one machine


def runtime_figure(study: Study) -> Drawing:
    """Least, mean and most run time of each instance."""
    printed, every = printed_of(study), measured_of(study)
    instances = list(printed.requests(SETS[study.name]))
    theirs = {name: _printed_spreads(printed, instances, name) for name in ("gpu-alns", *BASELINES[study.name])}
    machines = list({one.machine.name: one.machine for one in every}.values())

    def draw() -> Figure:
        figure, axes = panels(max(1, len(machines)), 3.4)
        names = [one.name for one in every]
        handles: dict[str, Line2D] = {}
        for index, plot in enumerate(axes):
            for name, spreads in theirs.items():
                label = f"{NAMES[name]} (published)"
                handles[label] = _spread_line(plot, instances, spreads, *GREY[name], label)
            if machines:
                plot.set_title(machines[index].title)
            for one in (one for one in every if machines and one.machine is machines[index]):
                style = style_of(study, one.name, names)
                handles[one.name] = _spread_line(plot, instances, one.of("time"), *style, one.name)
            plot.set_xticks(range(len(instances)), instances, rotation=90, fontsize=7)
            log_axis(plot, "y", "run time, s" if index == 0 else "")
        legend(figure, list(handles.values()))
        return figure

    caption = "Mean run time of each instance; the bars reach from the least to the most over the repetitions. Grey: "
    caption += "drawn from the paper's tables, on its machine. Colours: measured, over the seeds. Time logarithmic."
    title = f"{FIGURES[study.name]}: run times"
    return render(f"{study.slug}-runtimes", title, caption, draw)


def _printed_spreads(printed: Printed, instances: list[str], name: str) -> dict[str, Spread]:
    found = {instance: printed.spread(instance, name, "time") for instance in instances}
    return {instance: spread for instance, spread in found.items() if spread}


def _spread_line(
    plot: Axes, instances: list[str], spreads: Mapping[str, Spread], colour: str, marker: str, label: str
) -> Line2D:
    at = [position for position, instance in enumerate(instances) if instance in spreads]
    shown = [spreads[instances[position]] for position in at]
    bars = plot.vlines(at, [s.least for s in shown], [s.most for s in shown], color=colour, linewidth=2, alpha=0.5)
    told(bars, label)
    means = plot.plot(at, [s.mean for s in shown], "-", marker=marker, color=colour, linewidth=1, markersize=4)
    told(means, label, notes=[f"{instances[i]}: mean of its runs" for i in at])
    return handle(colour, marker, label, line="-")


Curve = tuple[str, str, str, str, dict[int, float]]  # label, colour, marker, line, requests -> ratio


def ratio_figure(study: Study, smaller: Sequence[Study] = ()) -> Drawing:
    """Figure 6, and with the instances of `smaller` Figure 8: time ratios against the number of requests, a panel for
    PRA and one for PRA-8."""
    shown = (*smaller, study)
    baselines = BASELINES[shown[0].name]
    curves = {name: [curve for one in shown for curve in ratio_curves(one, name)] for name in baselines}

    def draw() -> Figure:
        figure, axes = panels(len(baselines), 3.2)
        sizes = sorted({n for one in shown for n in printed_of(one).requests(SETS[one.name]).values()})
        for name, plot in zip(baselines, axes, strict=True):
            plot.set_title(f"relative to {NAMES[name]}")
            for label, colour, marker, line, values in joined(curves[name]):
                drawn = plot.plot(list(values), list(values.values()), line, marker=marker, color=colour, linewidth=1.1)
                told(drawn, label)
            plot.axhline(1, color=INK, linewidth=1)
            log_axis(plot, "y", "time ratio" if plot is axes[0] else "")
            plot.set_xlabel("requests")
            plot.xaxis.set_major_locator(MultipleLocator(1000) if smaller else FixedLocator(sizes[::2]))
            plot.xaxis.set_minor_locator(NullLocator())
        found = {label: handle(c, m, label, line=s) for name in baselines for label, c, m, s, _ in curves[name]}
        legend(figure, list(found.values()))
        return figure

    caption = "Time of the baseline over time of the other, by number of requests; above the line at 1 the other is "
    caption += "faster. Grey: the paper's τ, of its own machine. Dashed: published time of the baseline over ours, a "
    caption += "ratio of two machines and two programs. Solid colours: on one machine, over our code in place of the "
    caption += f"baseline. Time ratio logarithmic. {_measured_on(study)}"
    if smaller:
        caption += " Measured times beyond 1200 requests are of instances like BHS."
    return render(f"{study.slug}-ratios", f"Figure {8 if smaller else 6}: time ratios", caption, draw)


def joined(curves: Sequence[Curve]) -> list[Curve]:
    """Those of one label as one."""
    found: dict[str, Curve] = {}
    for label, colour, marker, line, values in curves:
        found[label] = (label, colour, marker, line, (found[label][4] if label in found else {}) | values)
    return list(found.values())


def ratio_curves(study: Study, baseline: str) -> list[Curve]:
    """Of one panel of Figure 6, by number of requests."""
    printed, every = printed_of(study), measured_of(study)
    sizes = printed.requests(SETS[study.name])
    base = {i: s.mean for i, s in _printed_spreads(printed, list(sizes), baseline).items()}
    theirs = {i: s.mean for i, s in _printed_spreads(printed, list(sizes), "gpu-alns").items()}
    curves: list[Curve] = [("τ, published", *GREY["gpu-alns"], "-", _over(sizes, base, theirs))]
    shown = _over_requests(study)
    for one in shown:
        style = style_of(study, one.name, [one.name for one in shown])
        curves.append((f"published ÷ {one.name} (two machines)", *style, "--", _over(sizes, base, _means(one))))
        own = next((o for o in every if o.machine is one.machine and o.name == OURS[baseline]), None)
        if own:
            slow, fast = of_same_seeds(own, one)
            curves.append((f"{OURS[baseline]} ÷ {one.name}", *style, "-", _over(sizes, _means(slow), _means(fast))))
    return curves


def _over_requests(study: Study) -> list[Measured]:
    found = [one for one in measured_of(study) if one.name in OVER_REQUESTS]
    return [one for one in found if one.machine is found[0].machine]


def _measured_on(study: Study) -> str:
    """Which machine is shown, and what stands for the baselines there."""
    machine = next((one.machine for one in _over_requests(study)), None)
    if machine is None:
        return ""
    told = []
    for one in (one for one in measured_of(study) if one.machine is machine):
        records = [record for runs in one.runs.values() for record in runs]
        replaced = (NAMES[baseline] for baseline, name in OURS.items() if name == one.name)
        told += [f"for {name} {baseline_name(machine, one.name, records)}" for name in replaced]
    return f"Measured: {machine.title}." + (f" In place: {'; '.join(told)}." if told else "")


def _means(one: Measured) -> dict[str, float]:
    return {instance: spread.mean for instance, spread in one.of("time").items()}


def _over(sizes: dict[str, int], slow: dict[str, float], fast: dict[str, float]) -> dict[int, float]:
    return {n: slow[i] / fast[i] for i, n in sorted(sizes.items(), key=lambda item: item[1]) if i in slow and i in fast}
