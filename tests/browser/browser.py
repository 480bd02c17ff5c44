"""Chromium, driven by Selenium, as a person uses it: keys, clicks, what the console says, what is drawn."""

import os
import shutil
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# What a chart shows: how many colours, and a number for all of its pixels. A chart may have several layers.
# They are read from a copy, because Chromium gives advice about canvases that are read often.
PIXELS = """
const layers = [...arguments[0].querySelectorAll("canvas")];
const copy = document.createElement("canvas");
[copy.width, copy.height] = [layers[0]?.width ?? 1, layers[0]?.height ?? 1];
const context = copy.getContext("2d", { willReadFrequently: true });
for (const layer of layers) context.drawImage(layer, 0, 0);
const colours = new Set();
let hash = 0;
for (const pixel of new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer)) {
  colours.add(pixel);
  hash = (Math.imul(hash, 31) + pixel) | 0;
}
return [colours.size, hash];
"""


def missing():
    """What is missing to run a browser, or ''."""
    absent = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    packages = "the Debian packages are chromium and chromium-driver"
    return f"there is no {' and no '.join(absent)}: {packages}" if absent else ""


class Browser:
    """A window without a screen."""

    def __init__(self, folder):
        if reason := missing():
            pytest.skip(reason)
        options = Options()
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        for switch in ["--headless=new", f"--user-data-dir={folder}", "--window-size=1280,900"]:
            options.add_argument(switch)
        # Containers have a small /dev/shm, and Chromium's sandbox refuses root.
        options.add_argument("--disable-dev-shm-usage")
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_page_load_timeout(120)

    def close(self):
        self.driver.quit()

    def open(self, page):
        """Opens a file or an address; the console is empty then."""
        self.said()
        self.driver.get(Path(page).resolve().as_uri() if isinstance(page, Path) else page)

    def said(self):
        """What the console has said since the last time, errors and warnings of the page included."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector):
        """The texts of all elements; by one script, since tables have many cells."""
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return self.run(script, selector)

    def press(self, *keys):
        """Sends keys to whatever has the focus."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab(self):
        """Moves the focus by the Tab key; returns what has it then."""
        self.press(Keys.TAB)
        return self.driver.switch_to.active_element

    def pixels(self, chart):
        """How many colours a chart shows, and a number for all of its pixels."""
        colours, number = self.run(PIXELS, chart)
        return colours, number

    def prefer(self, scheme):
        """As if the system's colours were `light` or `dark`."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def resize(self, width, height):
        """The size of what the page is shown in; a window cannot be as narrow as a telephone."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # Charts are drawn again after the next layout.
        script = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
        self.driver.execute_async_script(script)
