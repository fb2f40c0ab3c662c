"""The pages as a reader has them: opened in a headless Chromium, on a screen and on a phone, light, dark and printed."""

import json
import os
from importlib import util
from pathlib import Path

import browser as chromium
import pytest
import synthetic
from vicinity_analysis import catalogue
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages import check, report
from vicinity_analysis.views import choice

SCREENS = {"screen": 1400, "phone": 390}
RESULTS = synthetic.REPOSITORY / "results"
MACHINES = [path.parent for path in sorted(RESULTS.glob("*/environment.json"))]
LARGEST = 2_000_000  # bytes of a page

pytestmark = pytest.mark.skipif(
    chromium.executable() is None and "CI" not in os.environ, reason="no Chromium here: scripts/setup test installs it"
)

# What is wider than its place: the page itself, or a table in a box that would have to be scrolled sideways.
WIDER = """(() => {
  const wide = document.documentElement.scrollWidth > innerWidth ? [`the page: ${document.documentElement.scrollWidth} of ${innerWidth}`] : [];
  for (const box of document.querySelectorAll(".scroll, .plot, .bars, pre, summary, p, li"))
    if (box.scrollWidth > box.clientWidth + 1 && box.clientWidth)
      wide.push(`${box.className || box.tagName} "${(box.getAttribute("aria-label") || box.textContent).slice(0, 80)}": ${box.scrollWidth} of ${box.clientWidth}`);
  return wide;
})()"""
UNFOLD = "document.querySelectorAll('main details').forEach((one) => (one.open = true)); document.querySelectorAll('main details').length"
WALK = """(async () => {
  const step = innerHeight / 2;
  for (let at = 0; at < document.documentElement.scrollHeight; at += step) {
    scrollTo({top: at, behavior: "instant"});
    await new Promise((done) => setTimeout(done, 30));
  }
  for (let wait = 0; wait < 100 && document.querySelector("figure:not(.drawn) .chart"); wait++) await new Promise((done) => setTimeout(done, 50));
  return [document.querySelectorAll("figure.drawn .main-svg").length > 0, document.querySelectorAll("figure:not(.drawn)").length];
})()"""
LOST = """[...document.querySelectorAll("a[href]")].map((link) => new URL(link.href)).filter((to) => to.pathname === location.pathname && to.hash)
  .filter((to) => !document.getElementById(decodeURIComponent(to.hash.slice(1)))).map(String)"""


@pytest.fixture(scope="module")
def tab():
    with chromium.browser() as found:
        yield found


@pytest.fixture(scope="module")
def known():
    return catalogue.open_catalogue(synthetic.REPOSITORY)


@pytest.fixture(scope="module")
def machines():
    return [load_machine(folder) for folder in MACHINES]


@pytest.fixture(scope="module")
def pages(known, machines, tmp_path_factory):
    """The report of the recorded machines, as it is published."""
    out = tmp_path_factory.mktemp("recorded")
    report.write(out, known, machines)
    assert check.faults_of(out) == []
    return sorted(out.glob("*.html"))


def names(pages):
    return {page.name: page for page in pages}


def test_there_is_a_page_a_paper_and_none_is_large(pages, known, machines):
    systems = {study.descriptor.system for study in known.studies(machines)}
    assert set(names(pages)) == {"index.html", "machines.html", *(f"{system}.html" for system in systems)}
    assert {page.name: size for page in pages if (size := page.stat().st_size) >= LARGEST} == {}
    assert (pages[0].parent / "share.png").read_bytes()[16:24] == (1200).to_bytes(4) + (630).to_bytes(4)


@pytest.mark.parametrize("screen", SCREENS)
def test_every_page_fits_the_screen_draws_its_figures_and_logs_nothing(tab, pages, screen):
    faults = {}
    for page in pages:
        tab.look_like(SCREENS[screen])
        tab.open(page)
        folded = tab.run(WIDER)
        _, left = tab.run(WALK)
        tab.run(UNFOLD)
        found = [*tab.faults, *folded, *tab.run(WIDER), *tab.run(LOST)] + [f"{left} figures not drawn"] * bool(left)
        if found:
            faults[page.name] = found[:8]
    assert faults == {}


def test_what_does_not_fit_or_fails_is_found(tab, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><title>x</title><div style="width:3000px">x</div><a href="#lost">x</a>'
        '<div class="scroll" style="width:90px;overflow:auto"><pre style="width:500px">x</pre></div>'
        '<img src="gone.png"><script>console.error("said"); null.thrown</script>'
    )
    tab.look_like(1400)
    tab.open(page)
    told = "\n".join([*tab.faults, *tab.run(WIDER), *tab.run(LOST)])
    for word in ("said", "thrown", "ERR_FILE_NOT_FOUND", "the page: 3", "scroll", "#lost"):
        assert word in told, word


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation(tab, pages, dark):
    """By the rules of axe-core for WCAG 2 A and AA, with what is folded as it is and two rows of each table: the rest
    differs in nothing that a rule looks at."""
    folder = Path(util.find_spec("axe_core_python").submodule_search_locations[0])
    axe, found = (folder / "axe.min.js").read_text(encoding="utf-8"), {}
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}
    for page in pages:
        tab.look_like(1400, dark=dark)
        tab.open(page)
        tab.run("document.querySelectorAll('tbody tr:nth-child(n+3)').forEach((row) => row.remove())")
        tab.run(axe + "; 0")
        run = f"axe.run(document, {json.dumps(rules)}).then((told) => told.violations.map((one) => [one.id, one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary]))"
        if violations := tab.run(run):
            found[page.name] = violations
    assert found == {}


def test_axe_can_find_one(tab, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text('<!doctype html><html><body><img src="data:,"></body></html>')
    folder = Path(util.find_spec("axe_core_python").submodule_search_locations[0])
    tab.open(page)
    tab.run((folder / "axe.min.js").read_text(encoding="utf-8") + "; 0")
    assert {"image-alt", "html-has-lang"} <= set(
        tab.run("axe.run(document).then((told) => told.violations.map((one) => one.id))")
    )


def test_an_implementation_is_filtered_on_the_whole_page(tab, pages):
    tab.look_like(1400)
    tab.open(names(pages)["fang.html"])
    tab.run(WALK)
    shown = "[...document.querySelectorAll('.plot')].filter((plot) => plot.data.some((one) => one.name === 'gpu-tuned')).length"
    press = (
        "document.querySelector('.chips [data-name=gpu-tuned]').click(); new Promise((done) => setTimeout(done, 500))"
    )
    before = tab.run(shown)
    tab.run(press)
    assert before > 2 and tab.run(shown) == 0
    states = (
        "[...new Set([...document.querySelectorAll('.chips [data-name=gpu-tuned]')].map((one) => one.ariaPressed))]"
    )
    assert tab.run(states) == ["false"]
    tab.run(press)
    assert tab.run(shown) == before and tab.faults == []


def test_the_pointer_shows_which_devices_are_in_the_grey_band(tab, pages):
    tab.look_like(1400)
    tab.open(names(pages)["fang.html"])
    tab.run(WALK)
    texts = tab.run(
        "document.querySelector('#figure-fang-table1-times .plot').data"
        ".filter((one) => one.name.startsWith('published')).flatMap((one) => one.text).join('\\n')"
    )
    for device in ("GeForce GTX 1080 Ti: 2.20 ms (published)", "GeForce GTX Titan X", "Core i9 7940X", "Ryzen 7 2700X"):
        assert device in texts


def test_the_picker_answers_with_the_fastest_of_the_nearest_case(tab, pages, known, machines):
    problems = choice.problems_of(known.studies(machines), machines[0], known.sizes())
    tab.look_like(390)
    tab.open(names(pages)["index.html"])
    for index, problem in enumerate(problems):
        for point in (problem.points[0], problem.points[-1]):
            asked = {"n": point.size} | {
                f"s:{axis}": value for axis, value in point.setting if axis in problem.settings
            }
            told = tab.run(
                f"""(() => {{
                const form = document.querySelector("form.picker");
                form.elements.problem.value = {index};
                form.elements.problem.dispatchEvent(new Event("change"));
                for (const [name, value] of Object.entries({json.dumps(asked)})) form.elements[name].value = value;
                form.querySelector(".axes").dispatchEvent(new Event("input"));
                return form.querySelector("output").textContent;
                }})()"""
            )
            assert told.startswith(f"{point.fastest} in "), (problem.title, asked, told)


def test_a_link_opens_the_claim_it_leads_to(tab, pages):
    tab.look_like(1400)
    claim = "claim-fang-table1-variables"
    tab.open(f"{names(pages)['fang.html'].resolve().as_uri()}#{claim}")
    assert tab.run(f"document.getElementById('{claim}').open") is True
    assert tab.run("document.querySelectorAll('details.claim[open]').length") == 1


def test_dark_pages_have_light_text_in_figures_too(tab, pages):
    def look(dark):
        tab.look_like(1400, dark=dark)
        tab.open(names(pages)["fang.html"])
        tab.run(WALK)
        return tab.run(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.plot .xtick text')).fill]"
        )

    assert look(False) == ["rgb(255, 255, 255)", "rgb(28, 30, 33)"]
    assert look(True) == ["rgb(21, 23, 26)", "rgb(228, 230, 234)"]


def test_on_paper_figures_are_their_svg_and_there_is_no_navigation(tab, pages):
    tab.look_like(794)
    tab.open(names(pages)["fang.html"])
    tab.run(WALK)
    tab.look_like(794, media="print")
    hidden = "[...document.querySelectorAll('nav, .chart')].every((one) => getComputedStyle(one).display === 'none')"
    images = "[...document.querySelectorAll('figure img')].every((one) => one.complete && one.naturalWidth > 100 && getComputedStyle(one).display === 'block')"
    assert tab.run(hidden) and tab.run(images)
    assert len(tab.printed()) > 100_000


HOSTILE = "</script><img src=x onerror=\"window.taken=1\"><a href='javascript:1'>{{7*7}}"


def test_text_of_records_is_data(tab, tmp_path):
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    synthetic.make_machine(root / "results", "m", HOSTILE, experiments={"table1": synthetic.TABLE1})
    report.write(tmp_path / "out", catalogue.open_catalogue(root), [load_machine(root / "results" / "m")])
    for page in sorted((tmp_path / "out").glob("*.html")):
        tab.look_like(1400)
        tab.open(page)
        tab.run(WALK)
        tab.run(UNFOLD)
        assert tab.run("[window.taken, document.querySelectorAll('[onerror]').length]") == [None, 0]
        assert tab.faults == []
        assert tab.run("document.body.textContent").count("onerror") > 0
