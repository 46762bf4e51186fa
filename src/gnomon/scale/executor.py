"""Who works in a run: this process, or the workers of a cluster."""

from __future__ import annotations

from typing import Any

from gnomon._run import Engagement, current_run
from gnomon._validation import message
from gnomon.scale.verbs import Executor, LocalExecutor, Shared

__all__ = ["Executor", "LocalExecutor", "Shared", "as_executor", "current_executor"]


def as_executor(executor: Any) -> Executor:
    """Return who is to work.

    Parameters
    ----------
    executor : None, Executor, distributed.Client, cluster of distributed.deploy or str
        None is this process; a Client, a cluster such as LocalCluster, or the address of a scheduler such as
        ``"tcp://127.0.0.1:8786"``: the workers there. A client that is made here is closed by `Executor.close`.

    Returns
    -------
    Executor

    Raises
    ------
    TypeError
        If it is anything else.
    gnomon.exceptions.MissingDependencyError, ValueError, TimeoutError
        If the cluster cannot be used; see `gnomon.scale.DaskExecutor`.
    """
    if isinstance(executor, Engagement):
        return executor.opened(as_executor)  # type: ignore[no-any-return]
    if executor is None:
        return LocalExecutor()
    if isinstance(executor, Executor):
        return executor
    if isinstance(executor, str) or any(base.__module__.startswith("distributed.") for base in type(executor).__mro__):
        from gnomon.scale.dask import DaskExecutor

        return DaskExecutor(executor)
    what, rule = f"executor of type {type(executor).__name__}", "None, a distributed.Client or a scheduler's address"
    raise TypeError(message(what, rule))


def current_executor() -> Executor:
    """Return who works on the blocks of a table in the run of the present call."""
    return as_executor(current_run().executor)
