"""Data sets by name, as `gnomon.datasets`."""

from gnomon.data.dataset import Dataset
from gnomon.data.datasets import (
    dataset_names,
    fetch_cifar10_sample,
    fetch_fashion_mnist,
    fetch_mnist,
    fetch_paul15,
    fetch_pbmc4k,
    fetch_pbmc68k_reduced,
    load_dataset,
    load_digits,
    load_iris,
)

__all__ = [
    "Dataset",
    "dataset_names",
    "fetch_cifar10_sample",
    "fetch_fashion_mnist",
    "fetch_mnist",
    "fetch_paul15",
    "fetch_pbmc4k",
    "fetch_pbmc68k_reduced",
    "load_dataset",
    "load_digits",
    "load_iris",
]
