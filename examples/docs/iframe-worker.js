// SPDX-License-Identifier: MIT
// Lets the site's search work from disk: browsers start no worker from a file:// page, so one runs in a frame.
// mkdocs-material would load the same from the network.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    addEventListener("message", (event) => {
      if (event.source !== this.inside) return;
      const copy = new MessageEvent("message", { data: event.data });
      this.dispatchEvent(copy);
      this.onmessage?.(copy);
    });
    const page = this.inside.document;
    this.loaded = new Promise((resolve) => {
      this.inside.ready = resolve;
      page.open();
      page.write(
        `<script>
          postMessage = (data) => parent.dispatchEvent(new MessageEvent("message", { data, source: window }));
          importScripts = (...urls) => urls.reduce((done, url) => done.then(() => new Promise((resolve) => {
            const script = document.createElement("script");
            script.src = url, script.onload = resolve;
            document.body.append(script);
          })), Promise.resolve());
        </script><body><script src="${url}" onload="ready()"></script>`);
      page.close();
    });
  }
  postMessage(data) {
    this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
  }
  terminate() {}
}
if (location.protocol === "file:") window.Worker = FrameWorker;
