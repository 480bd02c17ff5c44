"""The book, built by mdBook, in a browser: no page says anything in the console, every image is there, every
link leads to a page and a heading that exist, the search finds something."""

import functools
import http.server
import shutil
import subprocess
import threading
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

from paths import ROOT
from processes import until

SEEN = """
const within = (e) => e.closest("main, nav, .sidebar, mdbook-sidebar-scrollbox");
return {
  images: [...document.images].map((i) => [i.src, i.complete && i.naturalWidth > 0]),
  links: [...document.querySelectorAll("a[href]")].filter(within).map((a) => a.href),
  anchors: [...document.querySelectorAll("[id], a[name]")].map((e) => e.id || e.name),
  title: document.title,
};
"""


def mdbook():
    """The program, or None: what `tools/install-deps.sh browser` has built, or what is on PATH."""
    own = ROOT / "build" / "mdbook" / "bin" / "mdbook"
    return str(own) if own.exists() else shutil.which("mdbook")


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    """Builds the book; returns its folder."""
    program = mdbook()
    if not program:
        pytest.skip("there is no mdbook: tools/install-deps.sh browser builds it in build/mdbook")
    folder = tmp_path_factory.mktemp("book")
    line = [program, "build", str(ROOT / "docs"), "--dest-dir", str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stderr and "ERROR" not in done.stderr, done.stderr
    return folder


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def server(book):
    """Serves the book on loopback; returns its address."""
    handler = functools.partial(QuietHandler, directory=str(book))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def pages_of(folder):
    """All pages, without those that only mdBook itself uses."""
    own = {"print.html", "404.html", "toc.html"}
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*.html") if p.name not in own)


def visit(browser, address):
    """What a page has, and what its console has said. Images that come with scrolling are fetched, too."""
    browser.open(address)
    browser.run("for (const image of document.images) image.loading = 'eager'")
    until(lambda: browser.run("return [...document.images].every((i) => i.complete)"), 20)
    return browser.run(SEEN) | {"said": browser.said()}


def defects(book, server, seen):
    """Sentences about what is wrong in a book. `seen`: page to what it has."""
    wrong = []
    for page, found in seen.items():
        wrong += [f"{page}: the console says: {line}" for line in found["said"]]
        wrong += [
            f"{page}: the image {source} is missing" for source, is_there in found["images"] if not is_there
        ]
        for link in sorted(set(found["links"])):
            if not link.startswith(server):
                if urlparse(link).scheme not in ("http", "https", "mailto"):
                    wrong.append(f"{page}: the link {link} leads out of the book")
                continue
            address, fragment = urldefrag(link)
            target = unquote(address.removeprefix(server)) or "index.html"
            if Path(target).suffix != ".html":
                if not (book / target).is_file():
                    wrong.append(f"{page}: there is no file {target}")
            elif target not in seen:
                wrong.append(f"{page}: the link to {target} leads nowhere")
            elif fragment and unquote(fragment) not in seen[target]["anchors"]:
                wrong.append(f"{page}: {target} has no heading for #{unquote(fragment)}")
    return wrong


def test_every_page_is_complete_and_every_link_leads_somewhere(browser, book, server):
    pages = pages_of(book)
    assert len(pages) > 30
    seen = {page: visit(browser, server + page) for page in pages}
    assert sum(len(found["images"]) for found in seen.values()) > 10
    assert sum(len(found["links"]) for found in seen.values()) > 500
    assert defects(book, server, seen) == []


def test_what_is_wrong_would_be_seen(browser, book, server):
    """A page with a missing image, dead links to a page, a heading and a file, and an error."""
    planted = book / "planted.html"
    planted.write_text(
        "<!doctype html><title>x</title><main><img src='no.svg'><a href='no.html'>a</a>"
        "<a href='introduction.html#no-such-heading'>b</a><a href='start.html'>c</a><a href='no.svg'>d</a>"
        "<script>throw new Error('planted')</script></main>"
    )
    try:
        seen = {
            page: visit(browser, server + page)
            for page in ["planted.html", "introduction.html", "start.html"]
        }
    finally:
        planted.unlink()
    wrong = "\n".join(line for line in defects(book, server, seen) if line.startswith("planted"))
    assert "Error: planted" in wrong and "no.svg is missing" in wrong
    assert "the link to no.html leads nowhere" in wrong and "no heading for #no-such-heading" in wrong
    assert "there is no file no.svg" in wrong and "start.html" not in wrong


@pytest.mark.parametrize("theme", ["light", "navy"])
def test_themes_are_chosen(browser, server, theme):
    browser.open(server + "introduction.html")
    browser.one("#mdbook-theme-toggle, #theme-toggle").click()
    browser.one(f"#mdbook-theme-{theme}, #{theme}").click()
    assert theme in browser.one("html").get_attribute("class").split()
    assert browser.said() == []


def test_the_search_finds_pages(browser, server):
    browser.open(server + "introduction.html")
    browser.press("s")
    field = browser.one("#mdbook-searchbar, #searchbar")
    assert until(field.is_displayed, 20)
    field.send_keys("dissemination")
    results = "#mdbook-searchresults a, #searchresults a"
    assert until(lambda: browser.all(results), 20)
    assert browser.said() == []
