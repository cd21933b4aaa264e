"""Serve a text classifier by FastAPI: `uvicorn serving:app` (extras `text` and `serve`).

As a script, the file starts the server, sends one request and stops.
"""

import threading
import time
from urllib.request import Request, urlopen

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from xmlc import TextClassifier

EXAMPLES = {
    "boil the rice": ["cooking"],
    "fry the onions": ["cooking", "vegetables"],
    "plant the onions": ["garden", "vegetables"],
    "sow the carrots": ["garden", "vegetables"],
    "prune the roses": ["garden"],
}

# TextClassifier.load("model") maps a model of `xmlc fit`, so that workers share its memory.
model = TextClassifier().fit(EXAMPLES, EXAMPLES.values())
model.predict(["the first text"], 1)  # compiles the kernels before the first request
app = FastAPI()


class Query(BaseModel):
    """A text, and the number of its labels."""

    text: str = Field(max_length=100_000)
    k: int = Field(default=3, ge=1, le=1000)


@app.exception_handler(RequestValidationError)
def refuse(_: object, error: RequestValidationError) -> JSONResponse:
    """Answer a wrong request without repeating its values, because JSON cannot contain NaN."""
    faults = [{"where": one["loc"], "message": one["msg"]} for one in error.errors()]
    return JSONResponse({"detail": faults}, 422)


@app.post("/labels")
def labels(query: Query) -> list[tuple[str, float]]:
    """Return labels and their estimates, best first. Several threads may call it at once."""
    return [(name, round(p, 3)) for name, p in model.predict([query.text], query.k)[0]]


if __name__ == "__main__":
    server = uvicorn.Server(uvicorn.Config(app, port=8421, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    headers = {"Content-Type": "application/json"}
    query = Request("http://127.0.0.1:8421/labels", b'{"text": "fry the rice"}', headers)
    print(urlopen(query).read().decode())
    server.should_exit = True
