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
            Such as ("nearer", "A", "B", "C").
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

        method, table, given = _asked(self, options)
        proof = proves(method, table, claim, **given)
        values = np.asarray(table.values, dtype=np.float64)
        self._alone = (self._alone or MapAlone()).with_proof(proof, values, cast("Map", self).embedding)
        return proof


def _asked(questions: TwinQuestions, options: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Return the method of a map, the table that it maps, and the arguments of a question."""
    result = cast("Map", questions)
    given = {"labels": result.labels} if len(result._classes()) else {}
    table = result._mapped()
    if result.representation is None:
        table = replace(table, feature_names=result.feature_names)
    return method_of(result, remedy=_REMEDY), table, {**given, "n_jobs": result.n_jobs, **options}
