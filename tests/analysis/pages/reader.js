// What tests ask of a page; injected into it by test_browser.py.
globalThis.reader = {
  // What is wider than its place: the page itself, or a box that would have to be scrolled sideways.
  wider() {
    const width = document.documentElement.scrollWidth;
    const found = width > innerWidth ? [`the page: ${width} of ${innerWidth}`] : [];
    for (const box of document.querySelectorAll(".scroll, .plot, .bars, pre, summary, p, li"))
      if (box.clientWidth && box.scrollWidth > box.clientWidth + 1) {
        const name = (box.getAttribute("aria-label") || box.textContent).slice(0, 80);
        found.push(`${box.className || box.tagName} "${name}": ${box.scrollWidth} of ${box.clientWidth}`);
      }
    return found;
  },
  unfold() {
    for (const one of document.querySelectorAll("main details")) one.open = true;
  },
  // From top to bottom, as a reader scrolls; the figures that are not drawn after at most so many seconds.
  async walk(seconds = 60) {
    // Figures are drawn as they come into sight, which a frame tells them; timers run on where a busy machine draws none.
    const wait = (time) => new Promise((done) => requestAnimationFrame(() => setTimeout(done, time)));
    for (let at = 0; at < document.documentElement.scrollHeight; at += innerHeight / 2) {
      scrollTo({top: at, behavior: "instant"});
      await wait(30);
    }
    const left = () => [...document.querySelectorAll("figure:not(.drawn)")];
    for (const end = Date.now() + 1000 * seconds; left().length && Date.now() < end; await wait(50))
      left()[0].scrollIntoView({behavior: "instant"});
    return left().map((figure) => figure.id);
  },
  // Logarithmic axes of drawn figures with one number, or none: they say no scale.
  bare() {
    const bare = (axis) => axis.type === "log" && axis.range[0] !== axis.range[1] && axis.tickvals.length < 2;
    const axes = (plot) => Object.entries(plot.layout || {}).filter(([name, axis]) => /^[xy]axis/.test(name) && bare(axis));
    return [...document.querySelectorAll(".plot")].flatMap((plot) =>
      axes(plot).map(([name, axis]) => `${plot.closest("figure").id} ${name}: ${axis.tickvals} in ${axis.range}`));
  },
  // Links to places that this page does not have.
  lost() {
    const here = [...document.querySelectorAll("a[href]")].map((link) => new URL(link.href)).filter((to) => to.pathname === location.pathname && to.hash);
    return here.filter((to) => !document.getElementById(decodeURIComponent(to.hash.slice(1)))).map(String);
  },
  // Needs axe-core in the page.
  async violations(rules) {
    const told = await axe.run(document, rules);
    return told.violations.map((one) => [one.id, one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary]);
  },
  // In how many figures something of this name is drawn.
  figures(name) {
    return [...document.querySelectorAll(".plot")].filter((plot) => plot.data.some((one) => one.name === name)).length;
  },
  async press(name) {
    document.querySelector(`.chips [data-name="${name}"]`).click();
    await new Promise((done) => setTimeout(done, 500));
    return [...new Set([...document.querySelectorAll(`.chips [data-name="${name}"]`)].map((one) => one.ariaPressed))];
  },
  notes(figure, start) {
    const data = document.querySelector(`#${figure} .plot`).data.filter((one) => one.name.startsWith(start));
    return data.flatMap((one) => one.text).join("\n");
  },
  pick(problem, asked) {
    const form = document.querySelector("form.picker");
    form.elements.problem.value = problem;
    form.elements.problem.dispatchEvent(new Event("change"));
    for (const [name, value] of Object.entries(asked)) form.elements[name].value = value;
    form.querySelector(".axes").dispatchEvent(new Event("input"));
    return form.querySelector("output").textContent;
  },
  // What the fields of the picker hold.
  asked() {
    return Object.fromEntries([...document.querySelectorAll("form.picker input")].map((input) => [input.name, Number(input.value)]));
  },
  colours() {
    const text = getComputedStyle(document.querySelector(".plot .xtick text")).fill;
    return [getComputedStyle(document.body).backgroundColor, text];
  },
  hidden(selector) {
    return [...document.querySelectorAll(selector)].every((one) => getComputedStyle(one).display === "none");
  },
  pictures() {
    const images = [...document.querySelectorAll("figure img")];
    return images.length > 0 && images.every((one) => one.complete && one.naturalWidth > 100 && getComputedStyle(one).display === "block");
  },
};
