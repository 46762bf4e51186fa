"""Clusters that tests share; distributed's own logs stay out of the report."""

import logging
import warnings

import pytest


@pytest.fixture(scope="session")
def cluster():
    """A scheduler and two workers of one thread each, in this process."""
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            protocol="tcp://",
            host="127.0.0.1",
            memory_limit="2GB",
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        warnings.simplefilter("ignore")
        yield cluster


@pytest.fixture
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client
