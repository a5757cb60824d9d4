# SPDX-License-Identifier: BSD-3-Clause
"""A page in headless Chromium, where there is one."""
import json
import os
import re
import shutil
import subprocess
import tempfile

chromium = next((path for name in ("chromium", "chromium-browser", "google-chrome")
                 if (path := shutil.which(name))), None)

LOOK = """<script>
addEventListener("load", () => {
  const told = {
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    width: innerWidth, needed: document.documentElement.scrollWidth,
    ground: getComputedStyle(document.body).backgroundColor,
    text: getComputedStyle(document.body).color,
    pictures: [...document.images].map(i => [i.alt, i.complete ? i.naturalWidth : 0, i.width]),
    objects: [...document.querySelectorAll("object")].map(o => [o.data, o.offsetWidth, o.offsetHeight]),
    loaded: performance.getEntriesByType("resource").map(r => r.name),
    result: typeof look === "function" ? look() : null};
  const note = document.createElement("pre");
  note.id = "told";
  note.textContent = JSON.stringify(told);
  document.body.append(note);
});
</script>"""


def load(url, width=1200, dark=False, wait_ms=2000):
    """The page's DOM as text, as it is after so much (virtual) time."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", f"--user-data-dir={profile}", f"--window-size={width},900",
             f"--blink-settings=preferredColorScheme={0 if dark else 1}",
             f"--virtual-time-budget={wait_ms}", "--dump-dom", url],
            capture_output=True, text=True, timeout=240, check=True)
    return done.stdout


def look(path, **options):
    """What a copy of an HTML file is like once it is loaded: see LOOK."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".html", delete=False,
                                     dir=os.path.dirname(os.path.abspath(path))) as copy:
        copy.write(text.replace("</html>", "") + LOOK)
    try:
        dom = load(f"file://{copy.name}", **options)
    finally:
        os.unlink(copy.name)
    told = re.search(r'<pre id="told">(.*?)</pre>', dom, re.DOTALL)
    assert told, dom[-2000:]
    return json.loads(told[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
