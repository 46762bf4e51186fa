"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  the name of what it stands for
        """That of Python 3.12: that of 3.11 lets one thread at a time compute a property, whatever the instance.

        A thread that computes and waits for its turn at the linear algebra, and one that has the turn and asks for the
        same property of another instance, would wait for each other for ever.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            name = self.attrname
            if name not in instance.__dict__:  # of a class with a __get__ alone Python looks there first
                instance.__dict__.setdefault(name, self.func(instance))
            return instance.__dict__[name]
