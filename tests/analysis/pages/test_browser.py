"""The pages as a reader has them: opened in a headless Chromium, on a screen, a phone and paper, light and dark."""

import json
import os
from contextlib import ExitStack
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
READER = (Path(__file__).parent / "reader.js").read_text(encoding="utf-8")
LARGEST = 2_000_000  # bytes of a page
LIGHT, DARK = (["rgb(255, 255, 255)", "rgb(28, 30, 33)"], ["rgb(21, 23, 26)", "rgb(228, 230, 234)"])  # page, ink

NO_BROWSER = chromium.executable() is None and "CI" not in os.environ
pytestmark = [
    pytest.mark.skipif(NO_BROWSER, reason="no Chromium here: scripts/setup test installs it"),
    pytest.mark.timeout(1800),  # the report of all recorded machines is drawn within the first test
]


class Tab:
    """Of a browser that may be started anew."""

    def __init__(self):
        self._end = ExitStack()
        self.start()

    def start(self):
        self.end()
        self._browser = self._end.enter_context(chromium.browser())

    def end(self):
        self._end.close()

    def __getattr__(self, name):
        return getattr(self._browser, name)


@pytest.fixture(scope="module")
def tab():
    found = Tab()
    yield found
    found.end()


@pytest.fixture(scope="module")
def known():
    return catalogue.open_catalogue(synthetic.REPOSITORY)


@pytest.fixture(scope="module")
def machines():
    return [load_machine(folder) for folder in synthetic.published_machines()]


@pytest.fixture(scope="module")
def pages(known, machines, tmp_path_factory):
    """name -> page: the report of the recorded machines, as it is published."""
    out = tmp_path_factory.mktemp("recorded")
    report.write(out, known, machines)
    assert check.faults_of(out) == []
    return {page.name: page for page in sorted(out.glob("*.html"))}


def visit(tab, page, width=1400, before="0", walk=False, **look):
    """Opens a page and runs `before`; with `walk` it is read to its end, so that its figures are drawn. A browser that
    stalls is started anew, twice."""
    for stalls_left in (2, 1, 0):
        try:
            tab.look_like(width, **look)
            tab.open(page)
            tab.run(f"{READER}; {before}")
            undrawn = tab.run("reader.walk()") if walk else []
            break
        except chromium.Stalled:
            if stalls_left == 0:
                raise
            tab.start()
    assert undrawn == [], "figures are not drawn"


def axe():
    folder = Path(util.find_spec("axe_core_python").submodule_search_locations[0])
    return (folder / "axe.min.js").read_text(encoding="utf-8") + "; 0"


def test_there_is_a_page_a_paper_and_none_is_large(pages, known, machines):
    systems = {study.descriptor.system for study in known.studies(machines)}
    assert set(pages) == {"index.html", "machines.html", *(f"{system}.html" for system in systems)}
    assert {name: size for name, page in pages.items() if (size := page.stat().st_size) >= LARGEST} == {}
    picture = (pages["index.html"].parent / "share.png").read_bytes()
    assert picture[16:24] == (1200).to_bytes(4) + (630).to_bytes(4)


def test_the_front_page_is_one_screen(tab, pages):
    visit(tab, pages["index.html"])
    assert tab.run("document.querySelector('.below').getBoundingClientRect().bottom") <= 900


@pytest.mark.parametrize("screen", SCREENS)
def test_every_page_fits_the_screen_draws_its_figures_and_logs_nothing(tab, pages, screen):
    faults = {}
    for name, page in pages.items():
        visit(tab, page, SCREENS[screen], before="before = reader.wider()", walk=True)
        found = tab.run("before")
        tab.run("reader.unfold()")
        found += [*tab.faults, *tab.run("reader.wider()"), *tab.run("reader.lost()"), *tab.run("reader.bare()")]
        if found:
            faults[name] = found[:8]
    assert faults == {}


def test_a_browser_that_stalls_is_started_anew(tab, pages, monkeypatch):
    patience, start = chromium.PATIENCE, tab.start

    def start_with_patience():
        monkeypatch.setattr(chromium, "PATIENCE", patience)
        start()

    monkeypatch.setattr(tab, "start", start_with_patience)
    monkeypatch.setattr(chromium, "PATIENCE", 2)
    tab.stop()
    visit(tab, pages["index.html"])
    assert patience == chromium.PATIENCE and tab.run("document.title") != ""


def test_what_does_not_fit_or_fails_is_found(tab, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><title>x</title><div style="width:3000px">x</div><a href="#lost">x</a>'
        '<div class="scroll" style="width:90px;overflow:auto"><pre style="width:500px">x</pre></div>'
        '<img src="gone.png"><script>console.error("said"); null.thrown</script>'
    )
    visit(tab, page)
    told = "\n".join([*tab.faults, *tab.run("reader.wider()"), *tab.run("reader.lost()")])
    for word in ("said", "thrown", "ERR_FILE_NOT_FOUND", "the page: 3", "scroll", "#lost"):
        assert word in told, word


@pytest.mark.parametrize(
    ("ends", "numbers"),
    [([13, 780], ["20", "50", "100", "200", "500"]), ([0.4, 1.4], ["0.5", "1"]), ([1e-3, 1e3], ["0.001", "0.1"])],
)
def test_a_logarithmic_axis_has_more_than_one_number(tab, pages, ends, numbers):
    axis = {"title": "x", "log": False, "ticks": None, "range": [0, 1]}
    line = {"label": "a", "machine": "", "colour": "#000000", "symbol": "", "dash": "solid", "width": 1, "size": 0}
    line |= {"hollow": False, "band": False, "x": [0, 1], "y": ends}
    panel = {"title": "", "x": axis, "y": axis | {"log": True, "range": ends}, "series": [line], "rules": []}
    data = json.dumps({"panels": [panel], "shared": [], "texts": []})
    page = pages["index.html"].parent / "one.html"
    page.write_text(
        f'<!doctype html><figure id="figure-x"><div class="chart"><script type="application/json">{data}</script></div>'
        '</figure><script src="plotly.min.js"></script><script src="report.js"></script>'
    )
    visit(tab, page, walk=True)
    assert tab.faults == []
    assert tab.run("document.querySelector('.plot').layout.yaxis.ticktext")[: len(numbers)] == numbers
    assert tab.run("reader.bare()") == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation(tab, pages, dark):
    """By the rules of axe-core for WCAG 2 A and AA, with what is folded as it is and two rows of each table: the rest
    differs in nothing that a rule looks at."""
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}
    found = {}
    for name, page in pages.items():
        visit(tab, page, dark=dark)
        tab.run("document.querySelectorAll('tbody tr:nth-child(n+3)').forEach((row) => row.remove())")
        tab.run(axe())
        if violations := tab.run(f"reader.violations({json.dumps(rules)})"):
            found[name] = violations
    assert found == {}


def test_axe_can_find_one(tab, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text('<!doctype html><html><body><img src="data:,"></body></html>')
    visit(tab, page)
    tab.run(axe())
    assert {"image-alt", "html-has-lang"} <= {name for name, *_ in tab.run("reader.violations({})")}


def test_an_implementation_is_filtered_on_the_whole_page(tab, pages):
    visit(tab, pages["fang.html"], walk=True)
    before = tab.run("reader.figures('gpu-tuned')")
    assert tab.run("reader.press('gpu-tuned')") == ["false"]
    assert before > 2 and tab.run("reader.figures('gpu-tuned')") == 0
    assert tab.run("reader.press('gpu-tuned')") == ["true"]
    assert tab.run("reader.figures('gpu-tuned')") == before and tab.faults == []


def test_the_pointer_shows_which_devices_are_in_the_grey_band(tab, pages):
    visit(tab, pages["fang.html"], walk=True)
    notes = tab.run("reader.notes('figure-fang-table1-times', 'published')")
    for device in ("GeForce GTX 1080 Ti: 2.20 ms (published)", "GeForce GTX Titan X", "Core i9 7940X", "Ryzen 7 2700X"):
        assert device in notes


def test_the_front_page_says_what_its_bars_and_colours_are(tab, pages):
    visit(tab, pages["index.html"])
    assert tab.run("document.querySelector('.keys').textContent").startswith("Bars are logarithmic, from 1×.")
    for verdict in ("yes", "part", "no", "open"):
        colour = "getComputedStyle(document.querySelector('.{} .{}')).backgroundColor"
        assert tab.run(colour.format("keys", verdict)) == tab.run(colour.format("tally", verdict))


def test_the_picker_answers_with_the_fastest_of_the_nearest_case(tab, pages, known, machines):
    problems = choice.problems_of(known.studies(machines), machines[0], known.sizes())
    visit(tab, pages["index.html"], SCREENS["phone"])
    for index, problem in enumerate(problems):
        for point in (problem.points[0], problem.points[-1]):
            asked = {"n": point.size} | {
                f"s:{axis}": value for axis, value in point.setting if axis in problem.settings
            }
            told = tab.run(f"reader.pick({index}, {json.dumps(asked)})")
            assert told.startswith(f"{point.fastest} in "), (problem.title, asked, told)


def test_the_picker_starts_at_a_recorded_case(tab, pages, known, machines):
    visit(tab, pages["index.html"])
    for index, problem in enumerate(choice.problems_of(known.studies(machines), machines[0], known.sizes())):
        tab.run(f"reader.pick({index}, {{}})")
        asked = tab.run("reader.asked()")
        cases = [{"n": point.size} | {f"s:{axis}": value for axis, value in point.setting} for point in problem.points]
        assert any(all(asked[name] == case.get(name, asked[name]) for name in asked) for case in cases), asked


def test_a_link_opens_the_claim_it_leads_to(tab, pages):
    claim = "claim-fang-table1-variables"
    visit(tab, f"{pages['fang.html'].resolve().as_uri()}#{claim}")
    assert tab.run("[...document.querySelectorAll('details.claim[open]')].map((one) => one.id)") == [claim]


@pytest.mark.parametrize(("dark", "colours"), [(False, LIGHT), (True, DARK)])
def test_figures_have_the_ink_of_their_page(tab, pages, dark, colours):
    visit(tab, pages["fang.html"], dark=dark, walk=True)
    assert tab.run("reader.colours()") == colours


def test_on_paper_figures_are_their_svg_and_there_is_no_navigation(tab, pages):
    visit(tab, pages["fang.html"], 794, walk=True)
    tab.look_like(794, media="print")
    assert tab.run("reader.hidden('nav, .chart')") and tab.run("reader.pictures()")
    assert len(tab.printed()) > 100_000


HOSTILE = "</script><img src=x onerror=\"window.taken=1\"><a href='javascript:1'>{{7*7}}"


def test_text_of_records_is_data(tab, tmp_path):
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    synthetic.make_machine(root / "results", "m", HOSTILE, experiments={"table1": synthetic.TABLE1})
    report.write(tmp_path / "out", catalogue.open_catalogue(root), [load_machine(root / "results" / "m")])
    for page in sorted((tmp_path / "out").glob("*.html")):
        visit(tab, page, walk=True)
        tab.run("reader.unfold()")
        assert tab.run("[window.taken, document.querySelectorAll('[onerror]').length]") == [None, 0]
        assert tab.faults == [] and tab.run("document.body.textContent").count("onerror") > 0
