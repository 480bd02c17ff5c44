"""The pages of `evenkeel report --html` and `evenkeel noise --html` in a browser: all is drawn, in light
and in dark, sorted and chosen by mouse and keyboard, for 2 to 512 ranks, and the console says nothing."""

import json
import subprocess

import pytest
import records
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from paths import EVENKEEL
from processes import until

RANKS = [2, 16, 64, 512]
CHARTS = ["time", "late", "deferral", "latency"]
NO_VALUE = ["-", "", "varies"]
# Columns of lists: of equally long ones the order stays.
SORTED_BY_THEIR_NUMBER = ["cores", "members"]
SECTIONS = ["time", "late", "messages", "deferral", "latency", "ops", "comms", "ranks", "notes"]


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Makes the page of a run of so many ranks, once."""
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")
    folder, made = tmp_path_factory.mktemp("pages"), {}

    def page(ranks):
        if ranks not in made:
            record, made[ranks] = folder / f"{ranks}.json", folder / f"{ranks}.html"
            record.write_text(json.dumps(records.run(ranks)))
            subprocess.run([EVENKEEL, "report", record, "--html", made[ranks]], check=True)
        return made[ranks]

    return page


def is_drawn(browser, chart):
    """Text has smooth edges and therefore many colours."""
    return browser.pixels(chart)[0] >= 10


def charts(browser):
    """Each chart by its section."""
    return {name: browser.one(f"#{name} .chart") for name in CHARTS}


def column(browser, table, number):
    return browser.texts(f"#{table} tbody td:nth-child({number})")


def assert_silent(browser):
    assert browser.said() == []


# ---- what is shown ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ranks", RANKS)
def test_every_section_and_every_plot_is_there(browser, pages, ranks, scheme):
    browser.prefer(scheme)
    browser.open(pages(ranks))
    assert browser.run("return [...document.querySelectorAll('section')].map((s) => s.id)") == SECTIONS
    assert len(browser.all(".chart")) == len(CHARTS)
    for name, chart in charts(browser).items():
        assert is_drawn(browser, chart), name
    assert len(column(browser, "ranks", 1)) == ranks
    assert browser.run("return getComputedStyle(document.body).colorScheme") == scheme
    assert_silent(browser)


def test_a_chart_that_is_not_drawn_would_be_seen(browser, pages):
    browser.open(pages(2))
    chart = charts(browser)["late"]
    script = "arguments[0].querySelectorAll('canvas').forEach((c) => c.getContext('2d').reset())"
    browser.run(script, chart)
    assert not is_drawn(browser, chart)


def test_an_error_of_the_page_would_be_seen(browser, pages):
    browser.open(pages(2))
    browser.run("setTimeout(() => { throw new Error('planted'); }); return 0")
    browser.driver.execute_async_script("setTimeout(arguments[0], 50)")
    assert any("planted" in line for line in browser.said())


def test_data_stay_text(browser, pages):
    browser.open(pages(16))
    assert "<script>alert(1)</script>" in browser.one(".program").text
    assert any("<b>half</b>" in text for text in column(browser, "comms", 1))
    assert not browser.all("#comms td b")


def test_a_page_without_data_to_draw_says_so(browser, tmp_path):
    record = records.run(2)
    for rank in record["ranks"]:
        rank |= {"comms": [], "observers": [], "messages_waited_for": [], "messages_sent_to": []}
        rank |= {key: 0 for key in rank if key.startswith(("message", "host_message")) and key[-1] != "o"}
        rank["timeline"] = {"slice_ns": 1000, "wait_ns": []}
        rank |= {"messages_waited_for": [], "messages_sent_to": []}
    (tmp_path / "run.json").write_text(json.dumps(record))
    line = [EVENKEEL, "report", tmp_path / "run.json", "--html", tmp_path / "run.html"]
    subprocess.run(line, check=True)
    browser.open(tmp_path / "run.html")
    assert "The program made no collective calls." in browser.one("#ops").text
    assert not browser.all(".chart")
    assert_silent(browser)


def test_the_page_of_a_single_rank_claims_nothing_about_others(browser, tmp_path):
    record = records.run(2)
    rank = record["ranks"][0]
    for key in ("messages_waited_for", "messages_sent_to"):
        rank[key] = [entry | {"rank": 0} for entry in rank[key]]
    record["ranks"] = [rank | {"comms": [], "observers": []}]
    (tmp_path / "run.json").write_text(json.dumps(record))
    line = [EVENKEEL, "report", tmp_path / "run.json", "--html", tmp_path / "run.html"]
    subprocess.run(line, check=True)
    browser.open(tmp_path / "run.html")
    left_to_the_library = "The collective calls of a single rank are left to the MPI library"
    assert left_to_the_library in browser.one("#ops").text
    assert "others" not in browser.one(".tiles").text and "not counted" in browser.one(".tiles").text
    assert (
        not browser.all("#late") and browser.one("#messages table") and len(column(browser, "ranks", 1)) == 1
    )
    assert_silent(browser)


# ---- colours and sizes ----


def test_the_button_switches_between_light_and_dark_and_the_charts_follow(browser, pages):
    browser.open(pages(16))
    button = browser.one("button.theme")
    before = {name: browser.pixels(chart)[1] for name, chart in charts(browser).items()}
    ink = browser.run("return getComputedStyle(document.body).color")
    assert button.text == "Dark"
    button.click()
    assert button.text == "Light"
    assert browser.run("return getComputedStyle(document.body).color") != ink
    for name, chart in charts(browser).items():
        assert is_drawn(browser, chart) and browser.pixels(chart)[1] != before[name], name
    button.click()
    assert {name: browser.pixels(chart)[1] for name, chart in charts(browser).items()} == before
    assert_silent(browser)


def test_the_page_follows_the_system_while_it_is_open(browser, pages):
    browser.open(pages(2))
    before = browser.pixels(charts(browser)["time"])[1]
    browser.prefer("dark")
    # The page is told of the change a moment later, and then draws.
    assert until(lambda: browser.pixels(charts(browser)["time"])[1] != before)


@pytest.mark.parametrize("ranks", [2, 512])
@pytest.mark.parametrize("width", [360, 800, 2400])
def test_narrow_and_wide_windows_need_no_scrolling_sideways(browser, pages, width, ranks):
    browser.open(pages(ranks))
    browser.resize(width, 900)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    for name, chart in charts(browser).items():
        assert is_drawn(browser, chart), name
        assert 0 < chart.size["width"] <= width, name
    assert_silent(browser)


# ---- sorting and choosing ----


@pytest.mark.parametrize("ranks", [2, 64])
def test_every_heading_of_every_table_sorts_both_ways(browser, pages, ranks):
    browser.open(pages(ranks))
    for table in ["messages", "ops", "comms", "ranks"]:
        for number, button in enumerate(browser.all(f"#{table} th button"), 1):
            heading = browser.one(f"#{table} th:nth-child({number})")
            orders = []
            for _ in range(2):
                button.click()
                orders.append((heading.get_attribute("aria-sort"), tuple(column(browser, table, number))))
            directions = {direction for direction, _ in orders}
            assert directions == {"ascending", "descending"}, (table, button.text)
            one, other = (dict(orders)[direction] for direction in ("ascending", "descending"))
            assert sorted(one) == sorted(other)
            if len(set(one)) == len(one) and button.text not in SORTED_BY_THEIR_NUMBER:
                # What has no value comes last in both directions.
                one, other = ([text for text in texts if text not in NO_VALUE] for texts in (one, other))
                assert one == other[::-1], (table, button.text)
            assert len(browser.all(f"#{table} th[aria-sort]")) == 1
    assert_silent(browser)


def test_ranks_are_sorted_as_numbers(browser, pages):
    browser.open(pages(512))
    button = browser.one("#ranks th button")
    while browser.one("#ranks th").get_attribute("aria-sort") != "descending":
        button.click()
    assert column(browser, "ranks", 1) == [str(rank) for rank in reversed(range(512))]


def choose(browser, selector, value):
    browser.run(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))",
        browser.one(selector),
        value,
    )


def values(browser, selector):
    return browser.run(f"return [...document.querySelectorAll('{selector} option')].map((o) => o.value)")


def test_another_operation_and_scale_draw_another_histogram(browser, pages):
    browser.open(pages(16))
    chart, seen = charts(browser)["latency"], set()
    for value in values(browser, "#latency select"):
        choose(browser, "#latency select", value)
        seen.add(browser.pixels(chart)[1])
    assert len(seen) == len(values(browser, "#latency select"))
    before = browser.pixels(chart)[1]
    browser.one("#latency input").click()
    assert is_drawn(browser, chart) and browser.pixels(chart)[1] != before
    assert_silent(browser)


def test_an_operation_of_the_table_is_shown_above(browser, pages):
    browser.open(pages(16))
    select = browser.one("#latency select")
    for link in browser.all("#ops .link")[1:3]:
        link.click()
        shown = browser.run("return arguments[0].selectedOptions[0].text", select)
        assert shown == link.text and browser.driver.switch_to.active_element == select
        label = browser.one("#latency .chart").get_attribute("aria-label")
        assert f"a call of {link.text}" in label


def test_another_communicator_has_other_operations(browser, pages):
    browser.open(pages(16))
    tables = set()
    for value in values(browser, "#ops select"):
        choose(browser, "#ops select", value)
        tables.add(tuple(browser.texts("#ops tbody td")))
    assert len(tables) == len(values(browser, "#ops select")) >= 3


def test_late_ranks_are_put_in_order(browser, pages):
    browser.open(pages(16))
    chart = charts(browser)["late"]
    before = browser.pixels(chart)[1]
    choose(browser, "#late select", "late")
    assert is_drawn(browser, chart) and browser.pixels(chart)[1] != before
    choose(browser, "#late select", "rank")
    assert browser.pixels(chart)[1] == before


# ---- the keyboard ----


def test_the_tab_key_reaches_everything_that_can_be_used(browser, pages):
    browser.open(pages(2))
    wanted = browser.all("button, select, input, .chart, .scroll")
    reached = []
    for _ in range(len(wanted) + 5):
        element = browser.tab()
        if element.tag_name == "body":
            break
        reached.append(element)
    assert [element for element in wanted if element not in reached] == []


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("ranks", [2, 512])
def test_arrow_keys_read_out_the_values_of_a_chart(browser, pages, ranks, name):
    browser.open(pages(ranks))
    chart = browser.one(f"#{name} .chart")
    browser.run("arguments[0].focus()", chart)
    before = browser.pixels(charts(browser)[name])[1]
    heard = []
    # What completed barriers is listed from top to bottom.
    on, back = (Keys.ARROW_DOWN, Keys.ARROW_UP) if name == "deferral" else (Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    for key in [on, on, back]:
        browser.press(key)
        heard.append(chart.find_element(By.CSS_SELECTOR, ".spoken").get_attribute("textContent"))
    assert all(heard) and heard[0] == heard[2] != heard[1], heard
    assert browser.run("return getComputedStyle(arguments[0]).outlineStyle", chart) == "solid"
    assert browser.pixels(charts(browser)[name])[1] != before, "the value is not marked"
    browser.press(Keys.ESCAPE)
    assert_silent(browser)


@pytest.mark.parametrize("key", [Keys.ENTER, Keys.SPACE])
def test_headings_sort_by_the_keyboard(browser, pages, key):
    browser.open(pages(16))
    browser.run("arguments[0].focus()", browser.one("#ranks th button"))
    browser.press(key)
    assert browser.one("#ranks th").get_attribute("aria-sort")


# ---- noise ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_noise_is_drawn(browser, tmp_path, scheme):
    page = tmp_path / "noise.html"
    subprocess.run([EVENKEEL, "noise", "--seconds", "0.5", "--html", page], check=True, capture_output=True)
    browser.prefer(scheme)
    browser.open(page)
    drawn = browser.all(".chart")
    assert len(drawn) == 2 and all(is_drawn(browser, chart) for chart in drawn)
    browser.one("#cores th button").click()
    assert browser.one("#cores th").get_attribute("aria-sort")
    assert_silent(browser)
