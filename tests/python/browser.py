# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Controls a headless Chromium through a pair of pipes, by its DevTools protocol."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

PATIENCE_SECONDS = 60
TO_BROWSER, FROM_BROWSER = 3, 4  # the file descriptors of --remote-debugging-pipe


class Browser:
    """A browser with one page. Records all events for tests to check."""

    def __init__(self):
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        if path is None:
            raise RuntimeError("there is no chromium: apt install chromium")
        self._profile = tempfile.TemporaryDirectory(prefix="huddle-chromium-")
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()

        def connect():  # in the child; copies first, because one end may have the number that the other one needs
            ends = os.dup(to_read), os.dup(from_write)
            os.dup2(os.dup(ends[0]), TO_BROWSER)
            os.dup2(ends[1], FROM_BROWSER)
        self._process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
             "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=connect, close_fds=False)
        os.close(to_read)
        os.close(from_write)
        self._number, self._unread, self._session, self.events = 0, b"", None, []
        target = next(one for one in self.call("Target.getTargets")["targetInfos"]
                      if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self._session = None
        self.call("Browser.close")
        self._process.wait(PATIENCE_SECONDS)
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, scheme):
        """Shows a file in a window of this width, with the color scheme `scheme`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=f"file://{path}")
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def ask(self, expression):
        """Returns the value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def shoot(self, path):
        """Writes a picture of the whole page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _next(self):
        while b"\0" not in self._unread:
            if not select.select([self._from], [], [], PATIENCE_SECONDS)[0]:
                raise RuntimeError("the browser does not answer")
            block = os.read(self._from, 1 << 16)
            if not block:
                raise RuntimeError("the browser has ended")
            self._unread += block
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)
