"""The page of `evenkeel debug` in a browser: the late rank of a program is found, and its line, by keys;
zoom, pan, dark and light; the console says nothing, and requests without token are refused."""

import contextlib
import subprocess
import urllib.error
import urllib.request

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import mpis
from paths import EVENKEEL, PROGRAMS
from processes import HUNG_S, until

RANKS = 4
ROUNDS = 5
LATE_MS = 20
LATE_SEND = "MPI_Send(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
# Where rank 2 is late: the line of its send.
LATE_LINE = 1 + next(
    number
    for number, line in enumerate((PROGRAMS / "late_rank.c").read_text().splitlines())
    if LATE_SEND in line
)


class Served:
    """A server of the page, and its address."""

    def __init__(self, *arguments):
        line = [EVENKEEL, "debug", "--no-open", *arguments]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=HUNG_S)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def mpich():
    found = next((it for it in mpis.ALL if it.family == "mpich" and not it.skip_reason()), None)
    if found is None or not EVENKEEL.exists():
        pytest.skip("no MPICH with a shim has been built")
    return found


@pytest.fixture(scope="session")
def trace(mpich, tmp_path_factory):
    """The trace of a run in which rank 2 is late."""
    folder = tmp_path_factory.mktemp("late") / "trace"
    options = ["--quiet", "--trace", folder, "--trace-level", "times"]
    mpich.evenkeel(mpich.build("late_rank.c"), RANKS, ROUNDS, LATE_MS, options=options).ok()
    return folder


@contextlib.contextmanager
def opened(browser, *arguments):
    """The page is open, and says nothing in the console. It is left before its server ends."""
    with Served(*arguments) as served:
        browser.open(served.address)
        settled(browser)
        yield served
        assert browser.said() == []
        browser.open("about:blank")


@pytest.fixture
def page(browser, trace):
    with opened(browser, trace):
        yield browser


def views(browser):
    """How often the picture has been made from an answer."""
    return int(browser.run("return document.querySelector('canvas.lines')?.dataset.views ?? 0"))


def settled(browser, before=0):
    assert until(lambda: views(browser) > before), "no picture came"


def pressed(browser, *keys):
    """Sends keys, and waits for the picture that they lead to."""
    before = views(browser)
    browser.press(*keys)
    settled(browser, before)


def side(browser):
    return browser.run("return document.querySelector('.side').innerText")


def says(browser, *words):
    assert until(lambda: all(word in side(browser) for word in words)), f"{words} not in:\n{side(browser)}"


def picture(browser):
    """What is drawn, when nothing changes any more: a number for all pixels."""
    seen = []

    def is_still():
        script = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
        browser.driver.execute_async_script(script)
        seen.append((views(browser), browser.pixels(browser.one(".picture"))[1]))
        return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]

    assert until(is_still), "the picture changes all the time"
    return seen[-1][1]


def test_keys_alone_lead_from_the_longest_wait_to_the_line_of_the_late_rank(page):
    pressed(page, "w")
    says(page, "Why did it wait here?", "rank 2 was outside MPI for", f"late_rank.c:{LATE_LINE}")
    page.press("0")
    for _ in range(RANKS):
        if "MPI_Send\n" in side(page):
            break
        pressed(page, "n")
    says(page, "MPI_Send\n", f"late_sender late_rank.c:{LATE_LINE}", "rank 2 on ")
    here = page.run("return document.querySelector('.source .here')?.textContent ?? ''")
    assert here.split() == [str(LATE_LINE), *LATE_SEND.split()]
    said = page.run("return document.querySelector('.spoken').textContent")
    assert said.startswith("rank 2, call ") and "MPI_Send" in said, "screen readers are told"
    page.press(Keys.ENTER)
    assert page.run("return document.activeElement.id") == "details-title"
    page.press(Keys.ESCAPE)
    assert page.run("return document.activeElement.className") == "lines"


def test_arrows_walk_through_calls_and_ranks(page):
    pressed(page, Keys.ARROW_RIGHT)
    says(page, "MPI_Init", "rank 0 on ")
    pressed(page, Keys.ARROW_RIGHT)
    says(page, "MPI_Recv", "call\n2 of ", "communicator\nMPI_COMM_WORLD", "peer\n1", "tag\n7", "bytes\n8")
    pressed(page, Keys.ARROW_DOWN)
    says(page, "rank 1 on ")
    pressed(page, Keys.ARROW_LEFT)
    says(page, "MPI_Init", "rank 1 on ")


def test_zoom_and_pan_change_the_picture_and_come_back(page):
    first = picture(page)
    pressed(page, "+")
    pressed(page, "+")
    closer = picture(page)
    assert closer != first
    pressed(page, Keys.SHIFT, Keys.ARROW_RIGHT, Keys.NULL)
    moved = picture(page)
    assert moved not in (first, closer)
    pressed(page, "0")
    assert until(lambda: picture(page) == first)


def test_a_click_selects_the_call_under_it_and_a_drag_pans(page):
    canvas = page.one("canvas.lines")
    before = views(page)
    # The end of the run is in MPI_Finalize, on all ranks.
    right = canvas.size["width"] // 2 - 8
    ActionChains(page.driver).move_to_element_with_offset(canvas, right, 0).click().perform()
    settled(page, before)
    says(page, "MPI_Finalize", "Collective")
    pressed(page, "+")
    first, before = picture(page), views(page)
    ActionChains(page.driver).drag_and_drop_by_offset(canvas, 60, 0).perform()
    settled(page, before)
    assert picture(page) != first


def test_supersteps_the_path_the_graph_and_differences_are_shown(browser, trace):
    with opened(browser, trace, trace):
        assert until(lambda: "same calls as in" in browser.one("#panel").text)
        pressed(browser, "s")
        assert browser.one("[role=status]").text.startswith("Superstep 2 of ")
        pressed(browser, "s", "S")
        browser.press("0")
        expected = {
            "waits": "which was late with",
            "path": f"before MPI_Send at late_sender late_rank.c:{LATE_LINE}",
            "steps": "imbalance",
            "graph": "the receiver waited",
            "calls": "Calls of rank",
        }
        for name, words in expected.items():
            browser.one(f"#tab-{name}").click()
            assert until(lambda words=words: words in browser.one("#panel").text), name
        browser.one("#tab-graph").click()
        assert until(lambda: browser.all("canvas.graph"))
        assert browser.pixels(browser.one("#panel"))[0] > 10


def test_what_a_check_finds_leads_to_its_call(browser, mpich, tmp_path):
    folder = tmp_path / "trace"
    options = ["--quiet", "--trace", folder, "--trace-level", "checks"]
    mpich.evenkeel(mpich.build("check/defects.c"), 2, "message_type", options=options).ok()
    with opened(browser, folder):
        browser.one("#tab-findings").click()
        panel = browser.one("#panel").text
        assert "error" in panel and "message" in panel and "messages.h:" in panel
        # By the page itself: the table may be drawn anew before a click arrives.
        browser.run("document.querySelector('#panel button.link').click()")
        says(browser, "MPI_Recv", "messages.h:")


def test_calls_of_a_function_are_found(page):
    page.press("/")
    page.press("allreduce", Keys.ENTER)
    says(page, "MPI_Allreduce", "call\n", "who came when")
    page.press("x", Keys.ENTER)
    assert until(lambda: "There is no call of" in page.one("[role=status]").text)


def test_dark_and_light_are_drawn_differently(page):
    light = picture(page)
    background = "return getComputedStyle(document.body).backgroundColor"
    pages = {page.run(background)}
    page.prefer("dark")
    assert until(lambda: picture(page) != light)
    pages.add(page.run(background))
    assert len(pages) == 2
    page.one(".theme").click()
    assert until(lambda: picture(page) == light)
    page.one(".theme").click()


def test_help_and_the_end(browser, trace):
    with Served(trace) as served:
        browser.open(served.address)
        settled(browser)
        browser.press("?")
        assert "the next longest wait" in browser.one("dialog").text
        browser.press(Keys.ESCAPE)
        assert until(lambda: not browser.all("dialog"))
        browser.one(".tools button[title='End the server']").click()
        served.process.wait(timeout=HUNG_S)
        assert served.process.returncode == 0
        assert browser.said() == []


def test_requests_without_token_and_from_other_pages_are_refused(browser, trace):
    with Served(trace) as served:
        base = served.address.split("?")[0]
        for path in ("", "debug.js", "api/run", "api/source?site=0", "?token=0"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(base + path, timeout=HUNG_S)
            assert refused.value.code == 403
        # A page from elsewhere, open in the same browser, which even knows the token.
        browser.open("data:text/html,<title>elsewhere</title>")
        script = (
            "const done = arguments[2]; fetch(arguments[0], {headers: {'X-Evenkeel-Token': arguments[1]}})"
        )
        script += ".then((r) => done(`answered ${r.status}`), () => done('refused'))"
        token = served.address.split("=")[1]
        assert browser.driver.execute_async_script(script, base + "api/run", token) == "refused"
        browser.said()
