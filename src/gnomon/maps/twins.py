"""What other tables have the same map: asked of a map that its method can make again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gnomon._entrance import entrance
from gnomon.maps.again import method_of

if TYPE_CHECKING:
    from gnomon.maps.result import Map
    from gnomon.twins import BlindSpots, MapAlone, Proof

__all__ = ["TwinQuestions"]

_REMEDY = "Call gnomon.blind_spots or gnomon.proves with the method and the table."


class TwinQuestions:
    """The questions of `gnomon.twins`, asked of a map, which keeps the answers for its page and its file."""

    _alone: MapAlone | None

    @entrance("blind_spots")
    def blind_spots(self, **options: Any) -> BlindSpots:
        """Search for changes of the table that the map does not show. See `gnomon.blind_spots`.

        The page of the map and its file tell what was found from then on.

        Parameters
        ----------
        **options
            Arguments of `gnomon.blind_spots`. Without ``labels`` the classes of the map are changed.

        Returns
        -------
        gnomon.twins.BlindSpots

        Raises
        ------
        ValueError
            If the method of the map is not known, or a target, weights of rows, given distances or a surface made it.
        """
        from gnomon.twins import MapAlone, blind_spots

        method, table, given = _asked(self, options)
        found = blind_spots(method, table, **given)
        self._alone = (self._alone or MapAlone()).with_spots(found)
        return found

    @entrance("proves")
    def proves(self, claim: Any, **options: Any) -> Proof:
        """Search for a table with the same map of which a claim is false. See `gnomon.proves`.

        A verdict, such as `are_apart`, asks the data whether something is true; this asks whether the map could show
        it. The page of the map and its file tell the answer from then on.

        Parameters
        ----------
        claim : tuple
            Such as ("nearer", "A", "B", "C"). Groups are classes of the map or, if one is a mask or row numbers, are
            taken as `are_apart` takes them, conditions too; those without a name are called A, B and C.
        **options
            Arguments of `gnomon.proves`. Without ``labels`` groups are the classes of the map.

        Returns
        -------
        gnomon.twins.Proof

        Raises
        ------
        ValueError
            As for `blind_spots`.
        """
        from gnomon.twins import MapAlone, proves

        claim, groups = _by_name(self, claim)
        method, table, given = _asked(self, {**options, **groups})
        proof = proves(method, table, claim, **given)
        values = np.asarray(table.values, dtype=np.float64)
        self._alone = (self._alone or MapAlone()).with_proof(proof, values, cast("Map", self).embedding)
        return proof


def _by_name(questions: TwinQuestions, claim: Any) -> tuple[Any, dict[str, Any]]:
    """Return a claim about groups by their names, and labels that have these names if some were given by their rows."""
    if not isinstance(claim, list | tuple) or claim[:1] == ("near",) or not any(np.ndim(one) for one in claim[1:]):
        return claim, {}
    from gnomon.evaluation.groups import check_groups

    result = cast("Map", questions)
    names = [letter if np.ndim(one) else str(one) for one, letter in zip(claim[1:], "ABC", strict=False)]
    groups = result._groups_of(*claim[1 : len(names) + 1])
    labels = np.full(result.n_samples, "the rest", dtype=object)
    for name, mask in zip(names, check_groups(result.n_samples, **dict(zip(names, groups, strict=True))), strict=True):
        labels[mask] = name
    return (claim[0], *names, *claim[len(names) + 1 :]), {"labels": labels}


def _asked(questions: TwinQuestions, options: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Return the method of a map, the table that it maps, and the arguments of a question."""
    result = cast("Map", questions)
    given = {"labels": result.labels} if len(result._classes()) else {}
    table = result._mapped()
    if result.representation is None:
        table = replace(table, feature_names=result.feature_names)
    return method_of(result, remedy=_REMEDY), table, {**given, "n_jobs": result.n_jobs, **options}
