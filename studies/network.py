"""A small picture classifier whose hidden layers are watched while it learns (PyTorch, imported when used)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.exceptions import MissingDependencyError

__all__ = ["Classifier", "Epoch", "Snapshot", "train", "train_classifier"]

_BATCH = 64
_WIDTHS = (16, 32)  # channels of the two convolutional layers
_INSTALL = 'pip install "gnomon[studies]"'


@dataclass(frozen=True)
class Epoch:
    """One pass over the training pictures.

    Attributes
    ----------
    learning_rate : float
    wrong_labels : float in [0, 1]
        Share of training labels that are replaced by random ones in this epoch.
    twins : tuple of int
        If given, half of the labels c are replaced by twins[c] in this epoch.
    """

    learning_rate: float = 0.05
    wrong_labels: float = 0.0
    twins: tuple[int, ...] = ()

    def labels(self, true: npt.NDArray[np.int64], n_classes: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the labels that the network is given in this epoch."""
        wrong = rng.random(len(true)) < self.wrong_labels
        given = np.where(wrong, rng.integers(0, n_classes, len(true)), true)
        if self.twins:
            given = np.where(rng.random(len(true)) < 0.5, np.array(self.twins)[given], given)
        return given


@dataclass(frozen=True)
class Snapshot:
    """What the network makes of the held-out pictures after some epochs.

    Attributes
    ----------
    epoch : int
        0 before training.
    latent : ndarray of shape (n_pictures, n_units), float32
        The last hidden layer.
    convolved : ndarray of shape (n_pictures, n_channels), float32
        The last convolutional layer, each channel averaged over the picture.
    predicted : ndarray of shape (n_pictures,), int64
    accuracy : float
        Share of pictures whose class is predicted.
    """

    epoch: int
    latent: npt.NDArray[np.float32]
    convolved: npt.NDArray[np.float32]
    predicted: npt.NDArray[np.int64]
    accuracy: float


def import_torch() -> Any:
    """Return PyTorch, or say how to install it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch
    except ImportError as error:
        raise MissingDependencyError(
            f"studies: the package torch must be installed ({error}). Run: {_INSTALL}"
        ) from error
    return torch


def _begin(seed: int) -> tuple[Any, np.random.Generator]:
    """Return PyTorch and a generator, both seeded; on one thread, so that sums are always rounded alike."""
    torch = import_torch()
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return torch, np.random.default_rng(seed)


def _network(torch: Any, shape: tuple[int, ...], n_units: int, n_classes: int, widths: tuple[int, int]) -> Any:
    """Return the convolutional layers, the last hidden one and the classifier on top of it; no batch normalisation."""
    nn = torch.nn
    side, channels = shape[0], shape[2] if len(shape) == 3 else 1
    first, second = widths
    convolutions = nn.Sequential(
        nn.Conv2d(channels, first, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(first, second, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )
    hidden = nn.Sequential(nn.Flatten(), nn.Linear(second * (side // 4) ** 2, n_units), nn.ReLU())
    return nn.ModuleList([convolutions, hidden, nn.Linear(n_units, n_classes)])


def _tensor(torch: Any, pictures: npt.NDArray[np.float32]) -> Any:
    """Return pictures as (n, channels, side, side)."""
    tensor = torch.from_numpy(np.ascontiguousarray(pictures))
    return tensor[:, None] if tensor.ndim == 3 else tensor.permute(0, 3, 1, 2).contiguous()


def train(
    pictures: npt.NDArray[np.uint8],
    labels: npt.NDArray[np.integer],
    held_out: npt.NDArray[np.uint8],
    held_out_labels: npt.NDArray[np.integer],
    epochs: Sequence[Epoch],
    *,
    n_units: int = 32,
    seed: int = 0,
) -> Iterator[Snapshot]:
    """Train by stochastic gradient descent with momentum; yield a snapshot before training and after each epoch.

    Parameters
    ----------
    pictures, held_out : ndarray of shape (n, side, side), uint8
    labels, held_out_labels : ndarray of int from 0
    epochs : sequence of Epoch
    n_units : int, default=32
        Units of the last hidden layer.
    seed : int, default=0

    Raises
    ------
    MissingDependencyError
        If PyTorch cannot be imported.
    """
    torch, rng = _begin(seed)
    n_classes = int(max(labels.max(), held_out_labels.max())) + 1
    convolutions, hidden, head = network = _network(torch, pictures.shape[1:], n_units, n_classes, _WIDTHS)
    loss = torch.nn.CrossEntropyLoss()
    seen, unseen = (_tensor(torch, p.astype(np.float32) / 255.0) for p in (pictures, held_out))
    optimizer = torch.optim.SGD(network.parameters(), lr=1.0, momentum=0.9)

    def look(number: int) -> Snapshot:
        with torch.no_grad():
            convolved = [convolutions(part) for part in unseen.split(500)]
            latent = torch.cat([hidden(part) for part in convolved])
            predicted = head(latent).argmax(dim=1).numpy()
            means = torch.cat([part.mean(dim=(2, 3)) for part in convolved]).numpy()
        return Snapshot(number, latent.numpy(), means, predicted, float(np.mean(predicted == held_out_labels)))

    yield look(0)
    for number, epoch in enumerate(epochs, start=1):
        given = epoch.labels(labels.astype(np.int64), n_classes, rng)
        for group in optimizer.param_groups:
            group["lr"] = epoch.learning_rate
        for rows in torch.from_numpy(rng.permutation(len(given))).split(_BATCH):
            optimizer.zero_grad()
            loss(head(hidden(convolutions(seen[rows]))), torch.from_numpy(given)[rows]).backward()
            optimizer.step()
        yield look(number)


class Classifier:
    """A trained network that can be asked and fooled."""

    def __init__(self, network: Any) -> None:
        self._convolutions, self._hidden, self._head = network

    def latent(self, pictures: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the last hidden layer of pictures with values in [0, 1], (n_pictures, n_units)."""
        torch = import_torch()
        with torch.no_grad():
            parts = _tensor(torch, pictures).split(500)
            return np.asarray(torch.cat([self._hidden(self._convolutions(part)) for part in parts]).numpy())

    def predict(self, pictures: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Return the predicted classes."""
        torch = import_torch()
        with torch.no_grad():
            return np.asarray(self._head(torch.from_numpy(self.latent(pictures))).argmax(dim=1).numpy())

    def fool(
        self, pictures: npt.NDArray[np.float32], labels: npt.NDArray[np.integer], step: float
    ) -> npt.NDArray[np.float32]:
        """Return grey pictures moved by `step` in each pixel, to where the loss of the true class grows.

        This is the fast gradient sign method (Goodfellow, Shlens & Szegedy, "Explaining and harnessing adversarial
        examples", ICLR 2015, section 4); values stay in [0, 1].
        """
        torch = import_torch()
        moved = _tensor(torch, pictures).clone().requires_grad_(True)
        loss = torch.nn.functional.cross_entropy(
            self._head(self._hidden(self._convolutions(moved))), torch.from_numpy(labels.astype(np.int64))
        )
        loss.backward()
        fooled = (moved + step * moved.grad.sign()).clamp(0.0, 1.0).detach()
        return np.asarray(fooled[:, 0].numpy())


def train_classifier(
    pictures: npt.NDArray[np.float32],
    labels: npt.NDArray[np.integer],
    *,
    epochs: int = 4,
    n_units: int = 64,
    widths: tuple[int, int] = _WIDTHS,
    mirrored: bool = False,
    seed: int = 0,
) -> Classifier:
    """Train a classifier of pictures with values in [0, 1].

    Parameters
    ----------
    pictures : ndarray of shape (n, side, side) or (n, side, side, 3), float32
    labels : ndarray of int from 0
    epochs : int, default=4
    n_units : int, default=64
        Units of the last hidden layer.
    widths : (int, int), default=(16, 32)
        Channels of the two convolutional layers.
    mirrored : bool, default=False
        Show half of the pictures of each batch as in a mirror, left and right exchanged.
    seed : int, default=0
    """
    torch, rng = _begin(seed)
    convolutions, hidden, head = network = _network(torch, pictures.shape[1:], n_units, int(labels.max()) + 1, widths)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    seen, given = _tensor(torch, pictures), torch.from_numpy(labels.astype(np.int64))
    for _ in range(epochs):
        for rows in torch.from_numpy(rng.permutation(len(given))).split(_BATCH):
            batch = seen[rows]
            if mirrored:
                batch = torch.cat([batch[: len(rows) // 2].flip(3), batch[len(rows) // 2 :]])
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(head(hidden(convolutions(batch))), given[rows]).backward()
            optimizer.step()
    return Classifier(network)
