"""The program `gnomon`: its commands, its exit codes and how it says what went wrong."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from gnomon import __version__
from gnomon.exceptions import MissingDependencyError

__all__ = ["main"]

_COMMANDS = ("map", "methods")  # each in the module of its name, imported when it is used
_EXPECTED = (ValueError, TypeError, OSError, MemoryError, MissingDependencyError)


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__


class _Application(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"gnomon.cli.{cmd_name}").command
        return command

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and leave with 0, with 2 for what the user can mend, with 130 after Ctrl-C."""
        if not extra.pop("standalone_mode", True):
            return super().main(*args, **extra, standalone_mode=False)
        try:
            code = super().main(*args, **extra, standalone_mode=False)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            click.echo("Aborted.", err=True)
            sys.exit(130)
        except BrokenPipeError:  # the reader of a pipe has gone; there is nobody to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except _EXPECTED as error:
            if os.environ.get("GNOMON_TRACEBACK"):
                raise
            click.echo(f"Error: {_one_line(error)}", err=True)
            sys.exit(2)
        sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=_Application, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="gnomon", message="gnomon %(version)s")
def main() -> None:
    """Make maps of high-dimensional data that say what they mean and how far to trust them.

    Exit codes: 0 done, 1 unexpected failure, 2 something you can mend, 130 stopped by Ctrl-C.
    With GNOMON_TRACEBACK=1 in the environment an error shows where it arose.
    """
