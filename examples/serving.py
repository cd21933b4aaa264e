"""Serving a model behind HTTP with the standard library, one instance a request."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import urlopen

from xmlc.core.errors import XmlcError
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.models import PLT

data = SyntheticModel(n_features=2000, n_labels=300, labels_per_instance=3.0, seed=1)
X, Y, _ = data.draw(0, 4000)
model = PLT().fit(X, Y)  # or PLT.load("model"): mapped memory, which processes share
model.rank_one([0], [1.0])  # compiles what requests need, before the first comes


class Ranking(BaseHTTPRequestHandler):
    """Answers `{"features": [3, 17], "values": [0.5, 1.0]}` with labels and their estimates."""

    def do_POST(self):
        """Rank the labels of the instance in the request."""
        try:
            instance = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            # Several threads may ask a model at once.
            labels, scores = model.rank_one(instance["features"], instance["values"], 3)
            status, answer = 200, {"labels": labels.tolist(), "estimates": scores.astype(float).round(3).tolist()}
        except (KeyError, TypeError, ValueError, XmlcError) as error:
            status, answer = 400, {"error": str(error)}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        """Write no line for each request."""


server = ThreadingHTTPServer(("localhost", 0), Ranking)  # port 0: any that is free
Thread(target=server.serve_forever, daemon=True).start()  # here, so that the script goes on
row = X[[0]]
request = json.dumps({"features": row.indices.tolist(), "values": row.data.tolist()}).encode()
with urlopen(f"http://localhost:{server.server_port}/", request) as answer:
    print(answer.read().decode())
print("its labels:", Y[[0]].indices.tolist())
server.shutdown()
