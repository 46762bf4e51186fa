"""Delimited text: delimiter and header are found by looking, numbers are read fast or with care."""

from gnomon.data.delimited.reading import read_columns, read_delimited

__all__ = ["read_columns", "read_delimited"]
