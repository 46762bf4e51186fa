"""The command line: parse, call the public functions, write."""

from gnomon.cli.application import main

__all__ = ["main"]
