"""Run a local file server that can refuse requests and break off answers."""

import http.server
import threading
from contextlib import contextmanager


class Handler(http.server.BaseHTTPRequestHandler):
    """Serve the contents in ``server.files``, a dict from path to bytes."""

    def do_GET(self):
        server = self.server
        path = self.path
        server.requests.append(path)
        content = server.files.get(path)
        status = 404 if content is None else 200
        if server.statuses.get(path):
            status = server.statuses[path].pop(0)
        if status >= 400:
            self.send_error(status)
            return
        self.send_response(status)
        headers = {"Content-Length": str(len(content))} | server.headers.get(path, {})
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if server.cuts.get(path):
            content = content[: server.cuts[path].pop(0)]
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@contextmanager
def serve():
    """Run the server on a free port of 127.0.0.1, in a thread that ends with the block.

    These dicts have paths as keys. ``statuses`` has the statuses of the next answers. ``cuts`` has
    the numbers of bytes after which the next answers break off. ``headers`` has additional headers,
    with None for a header to leave out. ``requests`` lists all requested paths.
    """
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files = {}
        server.statuses = {}
        server.cuts = {}
        server.headers = {}
        server.requests = []
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
