"""Serve a text classifier by FastAPI (extras `text` and `serve`): `uvicorn serving:app --workers
4`.

As a script, the file starts the server, sends one request and stops.
"""

import json
import threading
import time
from urllib.request import Request, urlopen

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from xmlc import TextClassifier

TEXTS = [
    "boil the rice",
    "fry the onions",
    "plant the onions",
    "sow the carrots",
    "prune the roses",
]
NAMES = [
    ["cooking"],
    ["cooking", "vegetables"],
    ["garden", "vegetables"],
    ["garden", "vegetables"],
    ["garden"],
]

# Or TextClassifier.load("model"), written by `xmlc fit texts.csv --out model`: mapped memory, which
# workers share.
model = TextClassifier().fit(TEXTS, NAMES)
model.predict(["the first text"], 1)  # compiles what requests need, before one comes
app = FastAPI()


class Query(BaseModel):
    """A text, and how many labels it gets."""

    text: str = Field(max_length=100_000)
    k: int = Field(default=3, ge=1, le=1000)


@app.exception_handler(RequestValidationError)
def refuse(_: object, error: RequestValidationError) -> JSONResponse:
    """Answer a wrong request without repeating its values, because JSON cannot contain NaN."""
    return JSONResponse(
        {"detail": [{"where": one["loc"], "message": one["msg"]} for one in error.errors()]}, 422
    )


@app.post("/labels")
def labels(query: Query) -> list[tuple[str, float]]:
    """Give names of labels and their estimates, best first; several threads may ask at once."""
    return [
        (name, round(estimate, 3)) for name, estimate in model.predict([query.text], query.k)[0]
    ]


if __name__ == "__main__":
    server = uvicorn.Server(uvicorn.Config(app, port=8421, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    query = Request(
        "http://127.0.0.1:8421/labels", json.dumps({"text": "fry the rice"}).encode(), method="POST"
    )
    query.add_header("Content-Type", "application/json")
    print(urlopen(query).read().decode())
    server.should_exit = True
