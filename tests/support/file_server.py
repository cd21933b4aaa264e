"""A local file server that resumes, lies, stalls and breaks off as it is told."""

import http.server
import threading
from contextlib import contextmanager


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves ``server.files`` (path -> bytes) with the headers of ``server.headers`` (path -> dict)."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server, path = self.server, self.path
        server.requests.append((path, dict(self.headers)))
        status = server.statuses[path].pop(0) if server.statuses.get(path) else None
        content = server.files.get(path)
        if status or content is None:
            return self.answer(status or 404, b"")
        extra = dict(server.headers.get(path, {}))
        start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-")) if "Range" in self.headers else 0
        validators = extra.get("ETag"), extra.get("Last-Modified")
        if "If-Range" in self.headers and self.headers["If-Range"] not in validators and not server.careless:
            start = 0
        if start >= len(content) > 0:
            return self.answer(416, b"")
        if start:
            shift = server.wrong_range.get(path, 0)
            extra["Content-Range"] = f"bytes {start + shift}-{len(content) - 1}/{len(content)}"
            if server.short_ranges.get(path):  # allowed: fewer bytes than were asked for
                content = content[: start + server.short_ranges[path].pop(0)]
        cut = server.cuts[path].pop(0) if server.cuts.get(path) else None
        self.answer(206 if start else 200, content[start:], extra, cut)
        server.after(path)
        return None

    def answer(self, status, content, extra=(), cut=None):
        """Send an answer; with ``cut`` only so many bytes of the length that it announces."""
        self.send_response(status)
        for name, value in dict(extra).items():
            self.send_header(name, value)
        if not self.server.lengthless:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        size, seconds = self.server.drip
        for start in range(0, len(content[:cut]), size):
            self.wfile.write(content[:cut][start : start + size])
            if self.server.stopped.wait(seconds):
                break
        self.close_connection = cut is not None or self.server.lengthless

    def log_message(self, *arguments):
        pass


@contextmanager
def serve():
    """Run the server on a free port of 127.0.0.1 in a thread; it ends with the block."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.headers, server.statuses, server.cuts, server.wrong_range = {}, {}, {}, {}, {}
        server.short_ranges, server.requests = {}, []
        server.lengthless, server.after = False, lambda path: None
        server.careless, server.drip, server.stopped = False, (1 << 20, 0), threading.Event()
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join(timeout=5)
