# SPDX-License-Identifier: MIT
"""Headless Chromium, driven by the DevTools protocol over a pipe, with nothing but Python's standard
library."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    """Returns the browser's path, or None."""
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    """One page. `with Browser(path) as page: page.open(file); page.value("1 + 1")`."""

    def __init__(self, chromium, size=(1500, 950)):
        self.folder = tempfile.TemporaryDirectory()
        commands_out, self.commands = os.pipe()
        self.answers, answers_in = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4. The sandbox needs rights that
        # containers lack.
        line = f'exec "$0" "$@" 3<&{commands_out} 4>&{answers_in}'
        self.process = subprocess.Popen(
            ["sh", "-c", line, chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder.name}", f"--window-size={size[0]},{size[1]}", "about:blank"],
            pass_fds=(commands_out, answers_in), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands_out)
        os.close(answers_in)
        self.buffer = b""
        self.number = 0
        self.problems = []  # exceptions and errors that the page has logged
        targets = self.call("Target.getTargets", session=None)["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", {"targetId": page["targetId"], "flatten": True}, session=None)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.folder.name, ignore_errors=True)
        self.folder._finalizer.detach()

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(message)
        self.note(message)
        return message

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(params["entry"]["text"])
        if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
            self.problems.append("asks the network for " + params["request"]["url"])

    def call(self, method, params=None, session="own"):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path, seconds=120):
        """Opens a file and waits until its scripts have run; returns the seconds that this took."""
        self.problems.clear()
        began = time.monotonic()
        self.call("Page.navigate", {"url": "file://" + str(path)})
        self.wait("document.readyState === 'complete' && window.pageReady === true", seconds)
        return time.monotonic() - began

    def wait(self, condition, seconds=120):
        """Waits until the expression is true, a problem is logged, or the time is up."""
        began = time.monotonic()
        while self.value(condition) is not True and not self.problems and time.monotonic() - began <= seconds:
            time.sleep(0.02)

    def value(self, expression):
        """Returns the value of a JavaScript expression, as JSON."""
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            code = {"Enter": 13, "ArrowLeft": 37, "ArrowRight": 39}.get(key, 0)
            self.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "windowsVirtualKeyCode": code})

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))
