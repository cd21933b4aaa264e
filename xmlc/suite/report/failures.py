"""Failed steps of a run, with their messages: read from the logs, which hold the last attempt only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from xmlc.suite.config import paths

MESSAGE = re.compile(r"^(?:xmlc: error|Error): (.+(?:\n(?!xmlc: error: |Traceback ).+)*)", re.MULTILINE)
TRACEBACK = "Traceback (most recent call last):"
LONGEST = 400
FAILED, DAMAGED = "failed", "damaged"


@dataclass(frozen=True)
class Failure:
    """One step whose last attempt ended with an error; the reason is its message.

    The step has the name of its log, such as ``train`` or ``table2``; dataset, model and portion may be empty.
    """

    log: Path
    step: str
    dataset: str
    model: str
    seed: int | None
    portion: str
    reason: str

    @property
    def kind(self) -> str:
        """Whether a step failed or a record is damaged; ``log`` is the record if it is damaged."""
        return DAMAGED if self.log.suffix == ".json" else FAILED

    def concerns(self, dataset: str | None, model: str | None) -> bool:
        """Return whether a cell of this dataset and model may be missing because of it."""
        return self.dataset == dataset and self.model in ("", model)


def failures(logs: Path) -> list[Failure]:
    """Read a folder of logs, laid out as `xmlc.suite.config.paths` says.

    If a job was killed, its parent process has written the message to the log (`xmlc.cli._killed`).
    """
    found = []
    for log in sorted(logs.rglob("*.log")):
        text = log.read_text(encoding="utf-8", errors="replace")
        if reason := error_message(text):
            found.append(_failure(log, log.relative_to(logs).with_suffix(""), reason))
    return found


def error_message(text: str) -> str | None:
    """Return the error at the end of a log, or None; indented lines are joined to the line before them."""
    messages = MESSAGE.findall(text)
    if messages:
        reason = messages[-1]
    elif TRACEBACK in text:
        reason = [line for line in text.splitlines() if line.strip()][-1]
    else:
        return None
    lines = re.split(r"\n(?=\S)", reason.strip())  # continuation lines of a message are indented
    reason = "\n".join(" ".join(line.split()) for line in lines)
    return reason if len(reason) <= LONGEST else reason[: LONGEST - 1] + "…"


def _failure(log: Path, place: Path, reason: str) -> Failure:
    """Return the failure that a log describes; ``place`` is its path within the folder of logs, without ending."""
    path = f"logs/{place.as_posix()}.log"
    of_seed = path.replace("/seeds/", "/seed0/")  # of a job for all seeds each fails
    found = paths.LOG_OF_TUNING.read(path) or paths.LOG_OF_RUN.read(of_seed) or paths.LOG_OF_DATASET.read(path) or {}
    step = found.get("step") or ("tune" if "model" in found else place.as_posix())
    seed = int(found["seed"]) if "seed" in found and path == of_seed else None
    return Failure(log, step, found.get("dataset", ""), found.get("model", ""), seed, found.get("portion", ""), reason)
