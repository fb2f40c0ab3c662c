// What the pages of a report do beyond HTML: figures to hover and filter, the picker, tables as cards on a phone.
// Without it (or without Plotly) every figure is its SVG and every table is whole. Text of records is data: it enters
// the page as text nodes, and Plotly with < and & escaped.
"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const phone = matchMedia("(max-width: 46rem)");
  const off = {machine: new Set(), label: new Set()}; // what the reader has filtered away, on the whole page
  const charts = [];
  root.classList.add("js");

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const colourOf = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // Numbers: 0.0123, 12.3, 1,230,000; powers of ten along an axis where not all are short.
  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const power = (exponent) => "10" + (exponent < 0 ? "⁻" : "") + [...String(Math.abs(exponent))].map((d) => RAISED[d]).join("");
  const shown = (value, digits = 4) =>
    value !== 0 && (Math.abs(value) >= 1e12 || Math.abs(value) < 1e-6)
      ? value.toExponential(2)
      : value.toLocaleString("en-US", {maximumSignificantDigits: digits});

  function logTicks(low, high, most) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const skip = Math.max(1, Math.ceil((last - first) / most));
    const within = (steps) => {
      const found = [];
      for (let k = first; k <= last; k += skip)
        for (const step of steps) if (step * 10 ** k >= low * 0.999 && step * 10 ** k <= high * 1.001) found.push([step, k]);
      return found;
    };
    // One number alone says no scale.
    const tenths = Array.from({length: 90}, (_, k) => (10 + k) / 10);
    const finer = [[1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]].find((some) => within(some).length > 1) || tenths;
    const steps = 3 * Math.log10(high / low) > most && within([1]).length > 1 ? [1] : finer;
    const found = within(steps);
    const short = steps.length > 1 || found.every(([, k]) => k >= -3 && k < 6);
    return {vals: found.map(([s, k]) => s * 10 ** k), texts: found.map(([s, k]) => (short ? shown(s * 10 ** k) : power(k)))};
  }

  // On a dark page, what is too dark to see is mixed with white.
  function visible(colour) {
    const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    const light = (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
    if (!dark.matches || light > 0.42 || Number.isNaN(light)) return colour;
    return "#" + parts.map((part) => Math.round(part + 0.4 * (255 - part)).toString(16).padStart(2, "0")).join("");
  }

  function axisOf(axis, look, pixels, more) {
    const style = {gridcolor: look.line, linecolor: look.soft, tickcolor: look.soft, zeroline: false, showline: true, automargin: true, ticks: "outside", tickangle: "auto", tickfont: {size: pixels < 260 ? 10.5 : 12}};
    const found = {...style, title: {text: escaped(axis.title), font: {size: 12}, standoff: 6}, ...more};
    if (axis.log) {
      const ticks = axis.ticks
        ? {vals: axis.ticks.map((tick) => tick[0]), texts: axis.ticks.map((tick) => tick[1])}
        : logTicks(...[...axis.range].sort((a, b) => a - b), Math.max(2, Math.floor(pixels / 44)));
      Object.assign(found, {type: "log", range: axis.range.map(Math.log10), tickvals: ticks.vals, ticktext: ticks.texts.map(escaped)});
    } else {
      Object.assign(found, {type: "linear", range: axis.range, separatethousands: true, exponentformat: "none"});
      if (axis.ticks) Object.assign(found, {tickvals: axis.ticks.map((tick) => tick[0]), ticktext: axis.ticks.map((tick) => escaped(tick[1]))});
    }
    return found;
  }

  // A value as a reader says it: the tick's text where the axis has names.
  function said(axis, value) {
    if (value === null) return "";
    const tick = axis.ticks && axis.ticks.find((one) => Math.abs(one[0] - value) < 1e-9);
    return tick ? tick[1] : shown(value);
  }

  // What the points on a band are, each with its value: the devices that the paper prints.
  function within(panel, band, at) {
    const first = at - (at % 3), [low, high] = band.x.slice(first, first + 2);
    const points = panel.series.filter((one) => one.notes && one.label === band.label && one.machine === band.machine);
    return points.flatMap((one) => one.notes.filter((note, k) => one.y[k] === band.y[at] && low <= one.x[k] && one.x[k] <= high)).map(escaped);
  }

  function traceOf(panel, series, number) {
    const colour = visible(series.colour), single = !series.dash;
    const texts = series.x.map((x, at) => {
      const lines = [`<b>${escaped(series.label)}</b>`, series.machine && escaped(series.machine)];
      const note = series.notes && series.notes[at];
      if (series.band) lines.push(...within(panel, series, at));
      else lines.push(`${escaped(panel.x.title || "x")}: ${escaped(said(panel.x, x))}`, `${escaped(panel.y.title || "y")}: ${escaped(said(panel.y, series.y[at]))}`);
      if (note) lines.push(...escaped(note).split("; "));
      return lines.filter(Boolean).join("<br>");
    });
    return {
      type: "scatter", x: series.x, y: series.y, text: texts, hoverinfo: "text", name: escaped(series.label), showlegend: false,
      xaxis: number ? `x${number + 1}` : "x", yaxis: number ? `y${number + 1}` : "y", connectgaps: false, opacity: series.band ? 0.4 : 1,
      mode: [series.dash && "lines", series.symbol && "markers"].filter(Boolean).join("+") || "lines",
      line: {color: colour, dash: series.dash || "solid", width: series.band ? Math.max(2, series.width * 1.4) : Math.max(1, series.width)},
      marker: {
        color: series.hollow ? "rgba(0,0,0,0)" : colour, symbol: series.symbol || "circle", size: single ? Math.max(4, series.size * 1.4) : 7,
        line: {color: colour, width: series.hollow || series.symbol.includes("-") ? 1.6 : 0},
      },
    };
  }

  // In lines of about so many characters.
  function wrapped(text, most) {
    const lines = [""];
    for (const word of text.split(" ")) {
      if (lines.at(-1) && lines.at(-1).length + word.length >= most) lines.push("");
      lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
    }
    return lines;
  }

  function layoutOf(chart, look) {
    const panels = chart.data.panels, count = panels.length;
    const named = panels.some((panel) => panel.y.ticks && panel.y.ticks.some((tick) => String(tick[1]).length > 8));
    const columns = Math.max(1, Math.min(count, 4, Math.floor(chart.plot.clientWidth / (named ? 440 : 245))));
    const rows = Math.ceil(count / columns), sharesX = chart.data.shared.includes("x"), sharesY = chart.data.shared.includes("y");
    const lines = Math.max(...panels.map((panel) => (panel.y.ticks ? panel.y.ticks.length : 0)));
    const tall = named ? 26 * lines + 30 : 230;
    const wide = (chart.plot.clientWidth - (named ? 190 : 70)) / columns - 24;
    const titles = panels.map((panel) => wrapped(panel.title, Math.floor(wide / 6.6)));
    const more = 15 * (Math.max(...titles.map((title) => title.length)) - 1), above = 28 + more, between = 62 + more;
    const height = rows * tall + (rows - 1) * between + above + 56;
    const layout = {
      height, margin: {l: 58, r: 12, t: above, b: 56}, hovermode: "closest", showlegend: false, font: {family: look.font, size: 12, color: look.ink},
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", annotations: [], shapes: [],
      modebar: {bgcolor: "rgba(0,0,0,0)", color: look.soft, activecolor: look.ink},
      hoverlabel: {bgcolor: look.raised, bordercolor: look.soft, font: {color: look.ink, size: 12}, align: "left"},
    };
    const inside = Math.max(120, chart.plot.clientWidth - 70), gap = (sharesY ? 20 : 62) / inside, step = between / (height - above - 56);
    const width = (1 - gap * (columns - 1)) / columns, high = (1 - step * (rows - 1)) / rows;
    panels.forEach((panel, index) => {
      const row = Math.floor(index / columns), column = index % columns, suffix = index ? index + 1 : "";
      const left = column * (width + gap), top = 1 - row * (high + step), bottom = Math.max(0, top - high);
      const lowest = index + columns >= count;
      const x = lowest || !sharesX ? panel.x : {...panel.x, title: ""};
      const y = column === 0 || !sharesY ? panel.y : {...panel.y, title: ""};
      const title = (axis, other) => (axis.title || (panels.find((one) => one[other].title) || {[other]: axis})[other].title);
      layout[`xaxis${suffix}`] = axisOf(lowest ? {...x, title: title(panel.x, "x")} : x, look, wide, {domain: [left, left + width], anchor: `y${suffix}`, matches: sharesX && index ? "x" : undefined});
      layout[`yaxis${suffix}`] = axisOf(column === 0 ? {...y, title: title(panel.y, "y")} : y, look, tall, {domain: [bottom, top], anchor: `x${suffix}`, matches: sharesY && index ? "y" : undefined, showticklabels: column === 0 || !sharesY});
      if (panel.title) layout.annotations.push({text: titles[index].map(escaped).join("<br>"), showarrow: false, xref: "paper", yref: "paper", x: left + width / 2, y: top, yanchor: "bottom", font: {size: 12.5}});
      for (const rule of panel.rules) {
        const along = {type: "line", layer: "below", line: {color: look.soft, width: 1}};
        if (rule.axis === "y") layout.shapes.push({...along, xref: `x${suffix} domain`, yref: `y${suffix}`, x0: 0, x1: 1, y0: rule.at, y1: rule.at});
        else layout.shapes.push({...along, yref: `y${suffix} domain`, xref: `x${suffix}`, y0: 0, y1: 1, x0: rule.at, x1: rule.at});
      }
    });
    return layout;
  }

  function draw(chart) {
    const look = {ink: colourOf("--ink"), soft: colourOf("--soft"), line: colourOf("--line"), raised: colourOf("--raised"), font: getComputedStyle(document.body).fontFamily};
    const traces = chart.data.panels.flatMap((panel, number) =>
      panel.series.filter((series) => !off.machine.has(series.machine) && !off.label.has(series.label)).map((series) => traceOf(panel, series, number)));
    if (!traces.length) traces.push({type: "scatter", x: [null], y: [null], hoverinfo: "skip"});
    const options = {displaylogo: false, displayModeBar: phone.matches ? false : "hover", modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"], toImageButtonOptions: {format: "svg", filename: chart.name}};
    chart.width = chart.plot.clientWidth;
    return Plotly.react(chart.plot, traces, layoutOf(chart, look), options).then(() => chart.figure.classList.add("drawn"));
  }

  function chips(chart) {
    const bar = make("div", {className: "chips", role: "group"});
    bar.setAttribute("aria-label", "Show");
    const every = chart.data.panels.flatMap((panel) => panel.series);
    for (const kind of ["machine", "label"]) {
      const names = [...new Set(every.map((series) => series[kind]))].filter(Boolean);
      if (names.length < 2) continue;
      for (const name of names) {
        const button = make("button", {type: "button", className: kind}, name);
        if (kind === "label") {
          const dot = make("span", {className: "dot"});
          dot.style.background = every.find((series) => series.label === name).colour;
          button.prepend(dot);
        }
        button.dataset.kind = kind;
        button.dataset.name = name;
        button.addEventListener("click", () => {
          if (!off[kind].delete(name)) off[kind].add(name);
          press();
          charts.filter((one) => one.drawn).forEach(draw);
        });
        bar.append(button);
      }
    }
    return bar;
  }

  function press() {
    for (const button of document.querySelectorAll(".chips button")) button.setAttribute("aria-pressed", String(!off[button.dataset.kind].has(button.dataset.name)));
  }

  function prepare(holder) {
    const data = JSON.parse(holder.querySelector("script").textContent);
    for (const series of data.panels.flatMap((panel) => panel.series)) if (series.notes) series.notes = series.notes.map((at) => data.texts[at]);
    const figure = holder.closest("figure"), plot = make("div", {className: "plot"});
    const chart = {data, figure, plot, drawn: false, name: figure.id.replace(/^figure-/, "")};
    holder.append(chips(chart), plot);
    charts.push(chart);
    return chart;
  }

  function begin() {
    if (!window.Plotly) return;
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const chart = entry.isIntersecting && charts.find((one) => one.figure === entry.target);
        if (!chart || chart.drawn || !chart.plot.clientWidth) continue;
        chart.drawn = true;
        draw(chart);
      }
    }, {rootMargin: "400px"});
    for (const holder of document.querySelectorAll("figure .chart")) seen.observe(prepare(holder).figure);
    press();
    const again = (always) => charts.filter((one) => one.drawn && one.plot.clientWidth && (always || one.width !== one.plot.clientWidth)).forEach(draw);
    dark.addEventListener("change", () => again(true));
    let waiting = 0;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => again(false), 150);
    });
    addEventListener("load", () => document.querySelectorAll("figure img").forEach((image) => (image.loading = "eager")));
  }

  // "Which implementation for my n?": the recorded case that is nearest in all its numbers, each on a logarithmic scale.
  function pick(form, problems) {
    const select = form.elements.problem, axes = form.querySelector(".axes"), output = form.querySelector("output");
    problems.forEach((problem, index) => select.append(make("option", {value: index}, `${problem.title} (${problem.system})`)));
    const far = (a, b) => Math.abs(Math.log((a || 0.5) / (b || 0.5)));
    const nearest = (problem, asked) => {
      const distance = (point) => Object.keys(problem.settings).reduce((sum, axis) => sum + (axis in point.set ? 0.5 * far(asked["s:" + axis], point.set[axis]) : 0.1), far(asked.n, point.n));
      return problem.points.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    };
    const answer = () => {
      const problem = problems[select.value];
      const best = nearest(problem, Object.fromEntries([...axes.querySelectorAll("input")].map((input) => [input.name, Number(input.value)])));
      const where = [`${problem.axis} = ${shown(best.n, 9)}`, ...Object.entries(best.set).filter(([axis]) => axis in problem.settings).map(([axis, value]) => `${axis} = ${shown(value, 9)}`)];
      const seconds = (value) => (value >= 1 ? `${shown(value, 3)} s` : value >= 1e-3 ? `${shown(value * 1e3, 3)} ms` : `${shown(value * 1e6, 3)} µs`);
      const others = best.t.slice(1).map(([name, value]) => `${name} ${seconds(value)}`).join(", ");
      output.replaceChildren(make("b", {}, best.t[0][0]), ` in ${seconds(best.t[0][1])}; ${others}. Nearest case recorded: ${where.join(", ")}.`);
    };
    // It starts at a recorded case, near the middle of every number.
    const change = () => {
      const problem = problems[select.value], settings = Object.keys(problem.settings);
      const middle = (values) => values[Math.floor(values.length / 2)];
      const asked = {n: middle(problem.points.map((point) => point.n))};
      for (const axis of settings) asked["s:" + axis] = middle(problem.settings[axis]);
      const start = nearest(problem, asked);
      const field = (name, label, value) => make("label", {}, `${label} `, make("input", {name, type: "number", min: 0, step: "any", value}));
      axes.replaceChildren(field("n", problem.axis, start.n), ...settings.map((axis) => field("s:" + axis, axis, start.set[axis] ?? asked["s:" + axis])));
      answer();
    };
    select.addEventListener("change", change);
    axes.addEventListener("input", answer);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    change();
  }

  // On a phone a row is a card: every value with the heads of its column.
  function label() {
    if (!phone.matches) return;
    for (const table of document.querySelectorAll("table:not(.labelled)")) {
      const heads = [];
      for (const row of table.tHead.rows) {
        let at = 0;
        for (const cell of row.cells) for (let k = 0; k < cell.colSpan; k++, at++) heads[at] = [heads[at], cell.textContent].filter(Boolean).join(": ");
      }
      for (const row of table.querySelectorAll("tbody tr, tfoot tr")) [...row.cells].forEach((cell, at) => (cell.dataset.label = heads[at] || ""));
      table.classList.add("labelled");
    }
  }

  // What a link leads to is in sight, also behind a fold.
  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target.scrollIntoView();
  }

  if (phone.matches) document.querySelector("nav .menu").open = false;
  label();
  phone.addEventListener("change", label);
  begin();
  const picker = document.querySelector("form.picker");
  if (picker) pick(picker, JSON.parse(document.getElementById("picker-data").textContent));
  addEventListener("hashchange", unfold);
  unfold();
})();
