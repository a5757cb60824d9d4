# SPDX-License-Identifier: BSD-3-Clause
"""Looks at the built HTML manual: every link and anchor leads somewhere, every picture is there, and, in
headless Chromium, pictures are drawn and search finds functions.

    manual.py HTML_DIRECTORY
"""
import functools
import html.parser
import http.server
import os
import re
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "examples"))
import browser  # noqa: E402

folder = sys.argv[1]


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.pictures = set(), [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        for key in ("href", "src", "data"):
            if attributes.get(key):
                self.links.append(attributes[key])
        if tag in ("img", "object") and (attributes.get("src") or attributes.get("data")):
            self.pictures.append(attributes.get("src") or attributes["data"])


pages = {name: Page(os.path.join(folder, name))
         for name in sorted(os.listdir(folder)) if name.endswith(".html")}
assert "index.html" in pages and len(pages) > 15, list(pages)
broken, outside = [], set()
for name, page in pages.items():
    for link in page.links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme in ("http", "https"):
            outside.add(f"{parts.scheme}://{parts.netloc}")
        elif parts.scheme == "":
            target = urllib.parse.unquote(parts.path) or name
            if not os.path.exists(os.path.join(folder, target)):
                broken.append(f"{name}: {link}: no such file")
            elif parts.fragment and target in pages and parts.fragment not in pages[target].anchors:
                broken.append(f"{name}: {link}: no such anchor")
assert not broken, "\n".join(broken)
print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links; outside: {outside}")

for title in ("quick_start", "gallery", "model", "experiments", "verdict", "weights", "compare",
              "trace_format", "abi", "lab"):
    assert f"page_{title}.html" in pages, title
assert len(pages["page_gallery.html"].pictures) >= 7, pages["page_gallery.html"].pictures

if browser.chromium is None:
    print("skipped: the manual was not opened: Chromium is not installed")
    sys.exit(0)
seen = browser.look(os.path.join(folder, "page_gallery.html"), width=1300)
drawn = [(width, height) for link, width, height in seen["objects"] if link.endswith(".svg")]
# One that is not there would have an object's own size, 300 by 150.
assert len(drawn) >= 7 and all(width > 500 and height > 300 for width, height in drawn), seen
assert all(natural > 0 for _, natural, _ in seen["pictures"]), seen["pictures"]
seen = browser.look(os.path.join(folder, "index.html"), width=1300)
assert all(natural > 0 for _, natural, _ in seen["pictures"]), seen["pictures"]

# Search as a reader does it: type, wait, read.
SEARCH = """<script>
addEventListener("load", () => {
  const field = document.getElementById("MSearchField");
  searchBox.OnSearchFieldFocus(true);
  field.value = "lb_model_dur";
  searchBox.Search();
  const timer = setInterval(() => {
    const frame = document.getElementById("MSearchResults");
    const found = [...(frame.contentDocument || document).querySelectorAll(".SRResult")]
      .filter(e => getComputedStyle(e).display !== "none").map(e => e.textContent.trim());
    if (found.length === 0)
      return;
    clearInterval(timer);
    const note = document.createElement("pre");
    note.id = "found";
    note.textContent = found.join("|");
    document.body.append(note);
  }, 100);
});
</script>"""
with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
    text = file.read()
path = os.path.join(folder, "search-look.html")
with open(path, "w", encoding="utf-8") as file:
    file.write(text.replace("</html>", SEARCH + "</html>"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


# Results are in a frame, which a page from a file may not look into: from a server it may.
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                         functools.partial(Quiet, directory=folder))
threading.Thread(target=server.serve_forever, daemon=True).start()
try:
    dom = browser.load(f"http://127.0.0.1:{server.server_port}/search-look.html", width=1300,
                       wait_ms=20000)
finally:
    server.shutdown()
    os.unlink(path)
found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
assert found and "lb_model_duration" in found[1] and "lb_model_durations" in found[1], found and found[0]
print("search finds", found[1])
