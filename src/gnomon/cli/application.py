"""The program `gnomon`: its commands, its exit codes and how it says what went wrong."""

from __future__ import annotations

import codecs
import importlib
import io
import os
import sys
import traceback
from typing import Any

import click

from gnomon import __version__
from gnomon.exceptions import MissingDependencyError

__all__ = ["main"]

_COMMANDS = {  # name of each and the module that has it, imported when it is used
    "map": "map",
    "show": "show",
    "serve": "serve",
    "report": "report",
    "info": "info",
    "transform": "transform",
    "extend": "extend",
    "export": "export",
    "explain": "positions",
    "evaluate": "positions",
    "compare": "compare",
    "recommend": "recommend",
    "methods": "methods",
    "forecast": "forecast",
    "spectrum": "spectrum",
    "why": "questions",
    "axis": "questions",
    "contrast": "questions",
    "profile": "questions",
    "importance": "questions",
    "saliency": "questions",
    "counterfactual": "questions",
    "suspects": "questions",
    "outliers": "questions",
    "clusters": "clusters",
    "verdict": "verdict",
    "blind-spots": "twins",
    "proves": "twins",
    "points": "questions",
    "neighbors": "questions",
}
_PLUS_MINUS = ord("±")
_EXPECTED = (ValueError, TypeError, OSError, MemoryError, MissingDependencyError)


class _Refusal(click.ClickException):
    """What the user can fix, said in one line."""

    exit_code = 2

    def __init__(self, error: BaseException, command: click.Command | None) -> None:
        from gnomon.cli.console import as_options

        super().__init__(as_options(" ".join(str(error).split()), command) or type(error).__name__)


def _what_fits(error: UnicodeError) -> tuple[str, int]:
    """Write a character that the terminal does not have in others: +- for ±, else as an escape that JSON has too."""
    assert isinstance(error, UnicodeEncodeError)
    lost = error.object[error.start : error.end].encode("utf-16-be")
    units = [int.from_bytes(lost[i : i + 2], "big") for i in range(0, len(lost), 2)]
    return "".join("+-" if unit == _PLUS_MINUS else f"\\u{unit:04x}" for unit in units), error.end


def _of_output(error: BaseException) -> OSError | None:
    """Return an error that names standard output if it is what can't be written, such as on a full disk."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    if not isinstance(error, OSError) or frame.f_code is not click.echo.__code__:
        return None
    from gnomon._validation import message

    return OSError(message("standard output", "writable", fact=error.strerror or str(error), who="gnomon"))


class _Application(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(
            importlib.import_module(f"gnomon.cli.{_COMMANDS[cmd_name]}"), cmd_name.replace("-", "_")
        )
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error or warning of the library becomes one line, Ctrl-C an exit code."""
        from gnomon.cli.console import collect_warnings

        try:
            with collect_warnings([]):  # those that no command has collected
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Aborted.", err=True)
            ctx.exit(130)
        except BrokenPipeError:
            raise  # the reader of a pipe has gone; click leaves quietly
        except _EXPECTED as error:
            if os.environ.get("GNOMON_TRACEBACK"):
                raise
            command = None if ctx.invoked_subcommand is None else self.get_command(ctx, ctx.invoked_subcommand)
            raise _Refusal(_of_output(error) or error, command) from error


@click.group(cls=_Application, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="gnomon", message="gnomon %(version)s")
def main() -> None:
    """Make maps of high-dimensional data that say what they mean and how far to trust them.

    Exit codes: 0 done, 1 unexpected failure, 2 something you can fix, 130 stopped by Ctrl-C.
    With GNOMON_TRACEBACK=1 in the environment an error shows where it arose.
    """
    codecs.register_error("gnomon", _what_fits)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="gnomon")
