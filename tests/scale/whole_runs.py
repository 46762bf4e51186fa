"""A map with landmarks, its explanation and its scores, of a table in short blocks; run as a program, it can be cut.

python whole_runs.py TABLE.npy FOLDER ADDRESS LOG STAGE

ends itself without a word where the stage has begun, of work on blocks with one of them done, and appends to the log
what it works on, a line each.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np

import gnomon
from gnomon.data.stored import table as stored_table

N, LANDMARKS, BLOCK = 6000, 800, 1000


def write_table(path):
    """Write rows in five groups, whose columns have unlike units."""
    rng = np.random.default_rng(0)
    groups = rng.normal(scale=4.0, size=(5, 12))
    X = (groups[np.arange(N) % 5] + rng.normal(size=(N, 12))) * 10.0 ** (np.arange(12) % 4)
    np.save(path, X.astype(np.float32))
    return path


def short_blocks(monkeypatch):
    """Cut tables into blocks of few rows, in this process, which hands them out."""
    monkeypatch.setattr(stored_table, "_FEWEST", BLOCK)
    monkeypatch.setattr(stored_table, "_MOST", BLOCK)


def mapped(path, executor=None, folder=None, callback=None):
    """Return a map of the table."""
    labels = np.arange(N) % 5
    how = {"max_iter": 120, "random_state": 0, "callback": callback}
    table = np.load(path, mmap_mode="r")
    return gnomon.map(table, n_fitted=LANDMARKS, labels=labels, executor=executor, folder=folder, **how)


def answers(made, executor=None, out=None):
    """Return the bytes of all that a map says of its rows."""
    explanation = made.explain(executor=executor, out=out)
    by_label = explanation.importance_by_label(made.labels, executor=executor)
    scores = made.evaluate(executor=executor)
    top, importance = explanation.top_features()
    arrays = {
        "positions": made.embedding,
        "r2": explanation.r2,
        "top": top,
        "importance": importance,
        "neighbors kept": explanation.neighbors_kept,
        "global importance": explanation.global_importance,
        **{f"importance of {label}": one for label, one in by_label.items()},
        **scores.per_point,
        "scores": np.array(list(scores.scores().values())),
    }
    return {name: np.asarray(values).tobytes() for name, values in arrays.items()}


def _cut_at(stage, log):
    """Let this process end at a stage, and write down what is worked on; return the callback of the map."""
    from gnomon.scale import ResultsWriter
    from gnomon.scale.dask import DaskExecutor

    def end_at(name):
        if name == stage:
            os.kill(os.getpid(), signal.SIGKILL)

    def note(name):
        os.write(log, f"{name}\n".encode())

    submit, finish, write = DaskExecutor._submit, DaskExecutor._finish, ResultsWriter.write

    def submits(self, call, item):
        note(call.stage)
        return submit(self, call, item)

    def finishes(self, call, future):
        finish(self, call, future)
        end_at(call.stage)

    def writes(self, *given):
        write(self, *given)
        end_at("write")

    def callback(progress):
        note(progress.stage if progress.stage != "layout" else f"layout {progress.done}")
        if progress.stage != "layout" or progress.done > 60:
            end_at(progress.stage)

    DaskExecutor._submit, DaskExecutor._finish, ResultsWriter.write = submits, finishes, writes
    return callback


def main(path, folder, address, log, stage):
    """Map, explain, evaluate; keep the bytes of all answers."""
    stored_table._FEWEST = stored_table._MOST = BLOCK
    callback = _cut_at(stage, os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY))
    with gnomon.running(executor=address):
        made = mapped(path, folder=folder, callback=callback)
        found = answers(made, out=Path(folder).with_suffix(".zarr"))
    np.savez(Path(folder).with_suffix(".npz"), **{name: np.frombuffer(one, np.uint8) for name, one in found.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
