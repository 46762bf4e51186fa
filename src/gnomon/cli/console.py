"""What commands share: options left to the library, warnings, JSON for programs, lines and a bar for people."""

from __future__ import annotations

import ast
import json
import math
import re
import shlex
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TextIO

import click

from gnomon._progress import Progress
from gnomon.cli.names import joined_names
from gnomon.exceptions import GnomonWarning

__all__ = ["ProgressBar", "as_options", "collect_warnings", "data_document", "given", "json_text", "picture_shape"]

_WIDTH = 30
_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_LIST = rf"""\[(?:{_TEXT}|[^\[\]'"])*\]"""
_VALUE = rf"""None\b|\d+\b|{_TEXT}|{_LIST}|\{{(?:{_TEXT}|{_LIST}|[^{{}}'"])*\}}"""  # as Python writes it
_REMEDY = re.compile(rf"\b(?:[Pp]ass|named in) (?=\w+=)(?:\w+=(?:{_VALUE})|.)*?(?:[.] |[.]?$)")
_ARGUMENT = re.compile(rf"\b(\w+)=({_VALUE})")
_INTERVAL = 0.1  # seconds between two drawings


def picture_shape(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Turn WIDTHxHEIGHT or WIDTHxHEIGHTx3 into (height, width) or (height, width, 3)."""
    if value is None:
        return None
    parts = value.lower().split("x")
    if len(parts) not in (2, 3) or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{value!r} must be WIDTHxHEIGHT, such as 28x28, or WIDTHxHEIGHTx3 for colours.")
    width, height, *colours = (int(part) for part in parts)
    return (height, width, *colours)


def as_options(text: str, command: click.Command | None = None) -> str:
    """Write what the library says to pass with the options of a command, of that which runs: "Pass --scale none".

    Values are quoted as a shell wants them.
    """
    ctx = click.get_current_context(silent=True)
    command = command or (None if ctx is None else ctx.command)
    options = {} if command is None else {one.name: max(one.opts, key=len) for one in command.params}
    options["use_rep"] = options.get("obsm", "")

    def written(found: re.Match[str]) -> str:
        name, value = found.groups()
        option = options.get(name, "")
        if not option.startswith("--") or (value == "None" and name != "scale"):
            return found[0]
        return " ".join(f"{option} {word}" for word in _as_words(value)) or found[0]

    told = _REMEDY.sub(lambda remedy: _ARGUMENT.sub(written, remedy[0]), text)
    return told.replace("metadata=False", options.get("no_metadata", "metadata=False"))


def _as_words(value: str) -> list[str]:
    """Return a value that Python wrote as words of a shell, one for each time that the option is given; none of names.

    A mapping, as of columns to their order, is an option for each entry.
    """
    if not value.startswith("{"):
        return [_as_word(value)]
    try:
        read = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return []
    said = {name: "no" if one is False else one for name, one in read.items()}
    return [
        shlex.quote(f"{name}={joined_names(map(str, one)) if isinstance(one, list) else one}")
        for name, one in said.items()
    ]


def _as_word(value: str) -> str:
    """Return a value that Python wrote as a word of a shell, names in a list as options of columns read them."""
    if value == "None":
        return "none"
    try:
        read = ast.literal_eval(value)
    except (SyntaxError, ValueError):  # words that stand for values
        return shlex.quote(value.strip("[]"))
    if isinstance(read, list) and ... in read:  # names that the reader has to write
        known = joined_names(str(name) for name in read if name is not ...)
        return f"{shlex.quote(known)},..." if known else "..."
    return shlex.quote(joined_names(map(str, read)) if isinstance(read, list) else str(read))


@contextmanager
def collect_warnings(found: list[str], *, but: str | None = None) -> Iterator[None]:
    """Gather the warnings of gnomon, each once, and print them when the block ends, also by an error.

    Parameters
    ----------
    found : list of str
        Where they are gathered.
    but : str or None, default=None
        Warnings with this text do not hold for the command and are left out.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", GnomonWarning)
        try:
            yield
        finally:
            texts = dict.fromkeys(" ".join(str(entry.message).split()) for entry in caught)
            found += [text for text in texts if but is None or but not in text]
            for text in found:
                click.echo(f"Warning: {as_options(text)}", err=True)


def given(**parameters: Any) -> dict[str, Any]:
    """Keep the parameters that the user gave, so that the defaults stay in one place, the library."""
    return {name: value for name, value in parameters.items() if value is not None}


def _plain(value: Any) -> Any:
    """Turn NumPy values, paths and non-finite numbers into what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, bool, int)) else str(value)


def json_text(document: Mapping[str, Any]) -> str:
    """Write a document as standard JSON; NaN and infinity become null."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)


def data_document(dataset: Any) -> dict[str, Any]:
    """Describe a data set for programs."""
    return {
        "source": dataset.source,
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "label_name": dataset.label_name,
        "n_labels": None if dataset.labels is None else len({str(label) for label in dataset.labels.tolist()}),
        "notes": dataset.notes,
    }


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class ProgressBar:
    """A callback that draws what it is told; a context manager that leaves the terminal at the start of a line.

    Parameters
    ----------
    stream : text file
        Where to draw.
    enabled : bool
        Whether to draw at all.
    """

    def __init__(self, stream: TextIO, *, enabled: bool) -> None:
        self.stream = stream
        self.enabled = enabled
        self._stage: str | None = None
        self._drawn = 0.0
        self._line = ""

    def __call__(self, progress: Progress) -> None:
        """Draw the state of a computation."""
        if not self.enabled:
            return
        now = time.monotonic()
        new_stage = progress.stage != self._stage
        if new_stage:
            self._end_line()
        if new_stage or progress.is_over or progress.done >= progress.total or now - self._drawn >= _INTERVAL:
            self._stage, self._drawn = progress.stage, now
            self._draw(self._text(progress))

    def _text(self, progress: Progress) -> str:
        end = progress.total if progress.end is None else progress.end
        share = min(1.0, progress.done / end) if end > 0 else 0.0
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
        left = progress.seconds_left
        if progress.done >= end:
            clock = f"{_clock(progress.seconds)} taken"
        else:
            clock = "" if left is None else f"{_clock(left)} left"
            if progress.at_most and progress.end is None:
                return f"{progress.stage:<16} {progress.work}"
        return f"{progress.stage:<16} [{bar}] {share:4.0%}  {clock}"

    def _draw(self, text: str) -> None:
        # Spaces wipe what a longer line left behind; every terminal understands them.
        self.stream.write("\r" + text.ljust(len(self._line)))
        self.stream.flush()
        self._line = text

    def _end_line(self) -> None:
        if self._line:
            self.stream.write("\n")
            self.stream.flush()
        self._line = ""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end_line()
