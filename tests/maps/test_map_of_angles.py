"""A map of angles tells them from where they hold fewest rows; where rows lie all round it says that they mislead."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data import Representation
from gnomon.data.places import refuse_longitude_first
from gnomon.exceptions import DataWarning
from gnomon.maps.seam import warn_of_units
from gnomon.maps.wrapped import warn_of_wrapped
from gnomon.server.answers import Answers
from gnomon.viewer import PageContent

ANGLES = np.random.default_rng(0).uniform(-180, 180, (60, 3))  # rows everywhere

ASKED = {"explain": lambda m: m.explain(), "jacobian": lambda m: m.jacobian(ANGLES[0])}


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("metric", ["periodic(360)", "manhattan"])
def test_an_explained_map_of_angles_warns_once_of_the_seam(metric, ask, tmp_path):
    made = gn.Map(ANGLES, ANGLES[:, :2], metric=metric)
    told = [text for text in made.notes if "near the seam, where the values start again, those of" in text]
    assert len(told) == metric.startswith("periodic")
    made.save(tmp_path / "m.gnomon")
    assert gn.Map.load(tmp_path / "m.gnomon").notes == made.notes
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            ASKED[ask](made)
    seen = [one for one in caught if one.category is DataWarning and "sine and cosine" in str(one.message)]
    assert len(seen) == len(told) * (ask == "explain")


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("report", lambda m: m.report(verdicts=False)),
        ("to_dict", lambda m: m.to_dict()),
        ("point_scores", lambda m: m.point_scores()),
        ("explain", lambda m: m.explain()),
        ("why", lambda m: m.why(3)),
        ("importance", lambda m: m.importance()),
        ("axis", lambda m: m.axis(direction=[1, 0])),
        ("contrast", lambda m: m.contrast([0, 1, 2], groups="auto")),
        ("feature_groups", lambda m: m.feature_groups()),
        ("profiles", lambda m: m.profiles(groups="auto")),
        ("counterfactual", lambda m: m.counterfactual(3, position=(0, 0), transform=lambda X: X[:, :2])),
    ],
)
def test_the_warning_has_the_name_of_what_was_asked(name, ask):
    with pytest.warns(DataWarning, match=f"^{name}: Explanations take differences"):
        ask(gn.Map(ANGLES, ANGLES[:, :2], metric="periodic(360)", labels=np.arange(60) % 2))


def test_a_fitted_map_of_angles_has_the_note():
    made = gn.map(ANGLES, metric="periodic", metric_params={"period": 360}, max_iter=5)
    assert any("near the seam" in text for text in made.notes)


def wrapped(angles):
    return (angles + 180.0) % 360.0 - 180.0


TRANS = np.arange(80) % 2 == 1
OMEGA = wrapped(180.0 * TRANS + np.random.default_rng(1).normal(0, 12, 80))
PEPTIDES = np.column_stack([OMEGA, np.random.default_rng(2).normal(50, 12, 80)])


@pytest.fixture(scope="module")
def peptides():
    return gn.Map(
        PEPTIDES,
        np.column_stack([TRANS * 9.0, PEPTIDES[:, 1]]),
        labels=np.where(TRANS, "trans", "cis"),
        feature_names=["omega", "phi"],
        metric="periodic(360)",
    )


def test_two_states_on_either_side_of_a_circle_are_set_apart(peptides):
    found = peptides.contrast(TRANS)
    assert found.features[0] == "omega"
    assert abs(found.auc[0] - 0.5) == 0.5
    assert abs(found.mean_selected[0] % 360 - 180) < 5
    assert abs((found.mean_rest[0] + 180) % 360 - 180) < 5
    more = found.effect[0] > 0
    assert more == (found.mean_selected[0] > found.mean_rest[0])
    assert found.caption() == f"{'more' if more else 'less'} omega"
    assert peptides.profiles()["trans"].auc[0] == found.auc[0]
    assert str(peptides.captions()["trans"]) == f"{'high' if more else 'low'} omega"
    assert [note for note in peptides.notes if "near the seam" in note] == []
    assert any("'omega' from " in note for note in peptides.notes)


def test_the_page_and_the_server_tell_what_python_tells(peptides):
    content = PageContent.of(peptides)
    assert abs(content.X[TRANS, 0].mean() - content.X[~TRANS, 0].mean()) > 170
    assert np.ptp(content.X[TRANS, 0]) < 90
    np.testing.assert_allclose(wrapped(content.X), PEPTIDES, atol=1e-9)
    assert abs(content.profiles["trans"][0][2] - 0.5) == 0.5
    row = int(np.argmax(content.X[:, 0]))
    answer = Answers(peptides).answer({"question": "feature", "row": row, "feature": 0})
    assert answer["value"] == answer["high"] == content.X[row, 0]


def test_conditions_compare_values_as_the_page_tells_them(peptides):
    told = PageContent.known(peptides).X[:, 0]
    middle = (told[TRANS].mean() + told[~TRANS].mean()) / 2
    with pytest.warns(
        DataWarning, match=r"By the numbers of the table as given it holds for \d+; to have those pass a mask"
    ):
        above = peptides.select(f"omega>{middle}")
    np.testing.assert_array_equal(above, told > middle)
    assert len(np.unique(TRANS[above])) == 1  # one state, not parts of both
    with pytest.raises(ValueError, match=r"\(none does\)\. Columns with a period are told .*: 'omega' from \S+ to "):
        peptides.select("omega>720")
    with pytest.raises(ValueError, match=r"\(none does\)\.$"):
        peptides.select("phi>1000")


def test_arrows_do_not_feel_the_seam(peptides):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        made = gn.Map(wrapped(PEPTIDES + 130.0), peptides.embedding, metric="periodic(360)")
        found, turned = peptides.explain(), made.explain()
    np.testing.assert_allclose(found.r2, turned.r2, atol=1e-5)
    for row in (0, 1):
        np.testing.assert_allclose(found.axes(row), turned.axes(row), atol=1e-6)
        np.testing.assert_allclose(found.foretell(row, PEPTIDES[row]), 0.0, atol=1e-9)
        np.testing.assert_allclose(found.foretell(row, PEPTIDES[row] + 360.0), 0.0, atol=1e-9)


def test_clusters_are_named_by_angles_in_one_piece():
    rng = np.random.default_rng(0)
    X = wrapped(np.column_stack([180.0 * (np.arange(400) % 2) + rng.normal(0, 12, 400), rng.normal(0, 12, 400)]))
    names = gn.find_clusters(X, feature_names=["omega", "phi"], metric="periodic(360)").level().names.tolist()
    assert {name for name in names if name} == {"low omega", "high omega"}


def test_collinear_angles_are_grouped_within_the_neighbours_of_the_map():
    angle = np.linspace(100, 250, 60)
    rows = wrapped(np.column_stack([angle, angle, np.random.default_rng(0).normal(0, 9, 60)]))
    made = gn.Map(rows, np.column_stack([angle, rows[:, 2]]), metric="periodic(360, 360, 360)")
    assert list(made.feature_groups().groups) == ["feature 0 + 1 alike"]


def test_features_beside_coordinates_with_a_period_stay_as_they_are():
    given = Representation("X_angles", PEPTIDES)
    made = gn.Map(PEPTIDES, PEPTIDES, metric="periodic(360)", representation=given)
    assert made.notes == []
    np.testing.assert_array_equal(PageContent.known(made).X, PEPTIDES)


UNLIKE = np.column_stack([ANGLES, 1e6 * ANGLES[:, :1]])


@pytest.mark.parametrize("scale", ["standard", "robust"])
@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"metric": "periodic(360)"}, "divided by 4"),
        ({"metric": "periodic", "metric_params": {"period": 360}, "n_fitted": 40}, "divided by 4"),
        ({"method": gn.UMAP(metric="periodic(360)")}, "divided by 4"),
        ({"metric": "jaccard"}, "Pass scale=None"),
    ],
)
def test_a_table_is_not_standardised_under_a_metric_that_reads_its_values(scale, given, remedy):
    with pytest.raises(ValueError, match=rf"scale='{scale}' must be left out .*{remedy}"):
        gn.map(ANGLES, scale=scale, **given)


def test_blocks_explanations_and_recommendations_refuse_it_likewise():
    block = gn.Block([0, 1], metric="periodic(360)", scale="standard")
    for ask in (
        lambda: gn.map(ANGLES, blocks={"a": block}),
        lambda: gn.explain(ANGLES, ANGLES[:, :2], metric="periodic(360)", scale="standard"),
        lambda: gn.recommend(ANGLES, metric="periodic(360)", scale="standard"),
    ):
        with pytest.raises(ValueError, match="scale='standard' must be left out under this metric"):
            ask()


def test_unlike_columns_beside_angles_are_to_be_divided_by_hand():
    metric = "periodic(360, 360, 360, inf)"
    with pytest.warns(DataWarning, match=r"the map shows little else. Divide columns .*, and their periods"):
        made = gn.map(UNLIKE, "classical_mds", metric=metric)
    assert made.scale is None
    by_hand = gn.map(UNLIKE / [1, 4, 1, 1e6], "classical_mds", metric="periodic(360, 90, 360, inf)")
    turned = gn.map(
        (UNLIKE + np.array([0, 77, 0, 0])) / [1, 4, 1, 1e6], "classical_mds", metric="periodic(360, 90, 360, inf)"
    )
    np.testing.assert_allclose(np.abs(by_hand.embedding), np.abs(turned.embedding), atol=1e-2)


@pytest.mark.parametrize("metric", ["periodic(360)", "jaccard", "hamming"])
def test_components_are_not_compared_by_a_metric_that_reads_values(metric):
    with pytest.raises(ValueError, match=r"the map is made of principal components\). Leave n_pcs out"):
        gn.map(ANGLES, n_pcs=2, metric=metric)
    gn.map(ANGLES, n_pcs=2, metric="cosine", max_iter=5)


def test_angles_in_radians_under_a_period_of_360_are_told():
    radians = np.deg2rad(ANGLES)
    with pytest.warns(
        DataWarning, match=r"as angles in radians do. If they are, pass metric='periodic\(6\.28318530717"
    ):
        made = gn.map(radians, metric="periodic(360)", max_iter=5)
    assert any("in radians" in note for note in made.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        gn.map(0.2 * radians, metric="periodic(360)", max_iter=5)  # small angles of improper dihedrals
        gn.map(radians, metric=f"periodic({2 * np.pi})", max_iter=5)
        gn.map(ANGLES, metric="periodic(360)", max_iter=5)


WELLS = np.random.default_rng(1).normal(size=(400, 2)) * 15 + np.repeat([[-60.0, -45.0], [-90.0, 60.0]], 200, axis=0)


def warned_of_units(X, metric):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_units(X, metric)
    return [str(one.message) for one in caught]


def test_degrees_under_a_period_of_two_pi_are_told():
    (told,) = warned_of_units(WELLS, f"periodic({2 * np.pi})")
    assert "as angles in degrees do. If they are, pass metric='periodic(360)'" in told
    (told,) = warned_of_units(np.c_[WELLS, WELLS[:, 0]], "periodic(6.283, inf, 6.283)")  # as people write it
    assert "pass metric='periodic(360, inf, 360)'" in told
    assert warned_of_units(WELLS % 360, f"periodic({2 * np.pi})")
    assert warned_of_units(10 * np.round(WELLS / 10), f"periodic({2 * np.pi})")  # in steps of ten, as of winds


@pytest.mark.parametrize(
    ("X", "period"),
    [
        (WELLS % (2 * np.pi), 2 * np.pi),  # several turns that are meant, as the warning says
        (np.deg2rad(WELLS), 2 * np.pi),
        (np.deg2rad(WELLS) + 2 * np.pi * (np.arange(400)[:, None] // 10), 2 * np.pi),  # wells, turn after turn
        (np.random.default_rng(0).uniform(-9, 9, (400, 2)), 2 * np.pi),  # three turns of a free rotor
        (40 * WELLS, 2 * np.pi),  # no degrees of one turn
        (np.arange(400.0)[:, None], 24),  # hours, day after day
        (WELLS * 9, 360),
    ],
)
def test_turns_and_other_periods_need_no_word(X, period):
    assert warned_of_units(X, f"periodic({period})") == []


def test_a_condition_that_holds_for_other_rows_by_the_numbers_given_says_so(peptides):
    given = peptides.X[:, 0]
    cut = peptides._seams().begins[0]
    with pytest.warns(
        DataWarning, match=r"select: 'omega>0' holds for .* rows, as answers and the page tell 'omega'"
    ) as seen:
        chosen = peptides.select("omega>0")
    assert not np.array_equal(chosen, given > 0)
    (told,) = [str(one.message) for one in seen]
    assert f"from {cut:.4g} to {cut + 360:.4g}" in told
    assert f"for {np.count_nonzero(chosen):,} rows" in told
    assert f"as given it holds for {np.count_nonzero(given > 0):,};" in told
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        peptides.select("phi>50")  # not cut
        peptides.select("label=trans")


def turned(values, period=360.0, begin=-180.0):
    return (values - begin) % period + begin


DRAWS = np.random.default_rng(5)
OMEGA, PSI = (
    turned(180 + 8 * DRAWS.normal(size=600)),
    turned(DRAWS.choice([150, -40], 600) + 25 * DRAWS.normal(size=600)),
)
PHI = DRAWS.choice([-65, 55], 600) + 12 * DRAWS.normal(size=600)


def told_wrapped(*columns, names=(), metric="euclidean"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_wrapped(np.column_stack(columns), metric, names)
    return " ".join(str(one.message) for one in caught)


def test_a_map_of_plain_angles_says_that_groups_at_their_ends_fall_into_two():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"phi": PHI, "psi": PSI, "omega": OMEGA})
    with pytest.warns(DataWarning, match="as angles do") as caught:
        made = gn.map(table, method="pca")
    assert sum("as angles do" in str(one.message) for one in caught) == 1
    (told,) = [note for note in made.notes if "as angles do" in note]
    assert re.search(
        "with rows at both ends: 'psi' from -179.3 to 179.7, 'omega' from -1(79.9|80) to 1(79.9|80)[.]", told
    )
    assert "As numbers -179 and 179 are far apart" in told
    assert "'phi'" not in told
    assert told.endswith("If they are angles, pass metric='periodic(360)'.")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        gn.map(table, method="umap", metric="periodic(360)", max_iter=5)


def test_the_remedy_fits_the_table():
    radians = np.deg2rad(OMEGA)
    assert f"pass metric='periodic({2 * np.pi:.16g})'" in told_wrapped(radians)
    assert "to 6.28." in told_wrapped(np.linspace(0.0, 6.28, 600))
    for most in (3.1416, 3.1418):  # pi in four digits, which is above it, and a turn that is none
        assert ("from -3.142 to 3.142." in told_wrapped(np.linspace(-most, most, 600))) == (most == 3.1416)
    assert "As numbers 1 and 359 are far apart" in told_wrapped(np.tile(10.0 * np.arange(1, 37), 20))  # winds, in tens
    assert "periodic(360, inf)', under which columns keep their units, or give the sine" in told_wrapped(
        OMEGA, 500 + PHI
    )
    for name in ("x", "feature 1"):  # small and within a turn, but no angle
        assert "periodic(360, inf)'" in told_wrapped(OMEGA, PHI / 100.0, names=["omega", name])
    assert "periodic(360)'" in told_wrapped(OMEGA, PHI / 100.0, names=["omega", "phi"])
    many = told_wrapped(OMEGA, *[500 + PHI] * 8)
    assert many.endswith("If they are angles, give the sine and cosine of each in place of it.")
    assert "periodic" not in told_wrapped(OMEGA, 500 + PHI, metric="gower")


def test_hours_are_told_by_their_name():
    hours = np.floor(turned(8 * DRAWS.normal(size=600), 24.0, 0.0))
    told = told_wrapped(hours, names=["pickup_hour"])
    assert "'pickup_hour' from 0 to 23" in told
    assert "As numbers 0 and 23 are far apart" in told
    assert told.endswith("If they are hours of the day, pass metric='periodic(24)'.")
    assert told_wrapped(hours, names=["count"]) == ""


MIDNIGHT = turned(2 * DRAWS.normal(size=400), 24.0, 0.0)  # a group at midnight
OF_TIME = {
    "hour": (np.floor(MIDNIGHT), "hours of the day"),
    "pickupHour": (np.floor(MIDNIGHT) + 1, "hours of the day"),  # 1 to 24
    "hr": (MIDNIGHT, "hours of the day"),
    "hours": (np.floor(MIDNIGHT), "hours of the day"),
    "time_of_day": (np.where(DRAWS.random(400) < 0.5, MIDNIGHT, 13 + DRAWS.normal(size=400)), "hours of the day"),
    "synop hour": (3.0 * DRAWS.integers(0, 8, 400), "hours of the day"),
    "month": (DRAWS.integers(1, 13, 400), "months of the year"),
    "mnth": (DRAWS.integers(0, 12, 400), "months of the year"),
    "weekday": (DRAWS.integers(0, 7, 400), "days of the week"),
    "day_of_week": (DRAWS.integers(1, 8, 400), "days of the week"),
    "minute": (np.floor(turned(9 * DRAWS.normal(size=400), 60.0, 0.0)), "minutes of the hour"),
    "start minute": (DRAWS.integers(0, 60, 400), "minutes of the hour"),
    "second": (DRAWS.integers(0, 60, 400), "seconds of the minute"),
    "h": (np.floor(MIDNIGHT), "hours of the day"),
    "Stunde": (np.floor(MIDNIGHT), "hours of the day"),
    "Monat": (DRAWS.integers(1, 13, 400), "months of the year"),
    "Wochentag": (DRAWS.integers(0, 7, 400), "days of the week"),
    "wind_direction": (45.0 * DRAWS.integers(1, 9, 400), "angles"),
}


@pytest.mark.parametrize("name", OF_TIME)
def test_what_a_name_says_to_start_again_is_told_with_its_period(name):
    values, kind = OF_TIME[name]
    told = told_wrapped(values, names=[name])
    periods = {"hours of the day": 24, "months of the year": 12, "days of the week": 7, "angles": 360}
    period = periods.get(kind, 60)
    assert f"as {kind} do, with rows at both ends: {name!r}" in told
    assert told.endswith(f"If they are {kind}, pass metric='periodic({period})'.")


AMOUNTS = {
    "hours_worked": DRAWS.uniform(0, 24, 600),
    "running_hours": 24 * DRAWS.beta(0.4, 0.4, 600),
    "hour": DRAWS.integers(0, 25, 600),  # 25 different ones
    "hours": np.floor(DRAWS.uniform(0, 24, 600)),
    "h": np.floor(DRAWS.uniform(0, 24, 600)),
    "minutes": DRAWS.integers(0, 60, 600),
    "minute": DRAWS.uniform(0, 60, 600),
    "minute of the game": DRAWS.integers(0, 91, 600),
    "second score": DRAWS.integers(0, 60, 600),
    "calls per minute": DRAWS.integers(0, 60, 600),
    "cost per hour": DRAWS.uniform(0, 24, 600),
    "months_employed": DRAWS.integers(1, 13, 600),
    "month": DRAWS.integers(3, 10, 600),
    "month since start": DRAWS.integers(1, 13, 600),
    "weekday": DRAWS.integers(0, 5, 600),
    "price": DRAWS.uniform(0, 360, 600),
    "product": DRAWS.integers(1, 361, 600),
    "number": np.arange(360.0),
    "hue": DRAWS.triangular(0, 120, 360, 600),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_that_end_where_a_circle_would_are_not_told(name):
    assert told_wrapped(AMOUNTS[name], names=[name]) == ""


def test_clusters_say_that_a_group_may_be_cut_where_values_start_again():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.floor(turned(4 * rng.normal(size=600) - 2.0, 24.0, 0.0)), *rng.normal(size=(3, 600))])
    with pytest.warns(DataWarning, match="as hours of the day do"):
        made = gn.map(X, "pca", feature_names=["hour", "a", "b", "c"], scale="standard", n_jobs=1)
    found = made.clusters()
    assert found.levels
    assert "Columns whose values start again are compared as numbers ('hour' from 0 to 23)" in found.caution
    other = gn.map(X, "pca", feature_names=["x", "a", "b", "c"], scale="standard", n_jobs=1).clusters()
    assert other.levels
    assert "start again" not in other.caution


def test_of_0_to_360_a_name_for_angles_no_name_or_a_group_at_the_seam_tell():
    even, group = np.linspace(0, 359.9, 600), turned(40 * DRAWS.normal(size=600), 360.0, 0.0)
    assert "'heading'" in told_wrapped(even, names=["heading"])
    assert "'V3'" in told_wrapped(even, names=["V3"])
    assert told_wrapped(even)
    assert told_wrapped(even, names=["quota"]) == ""
    assert "'quota'" in told_wrapped(group, names=["quota"])


def test_several_kinds_of_circles_are_told_at_once():
    month, hour = OF_TIME["month"][0], OF_TIME["hour"][0]
    told = told_wrapped(month, hour, OMEGA[:400], names=["month", "hour", "omega"])
    assert "as months of the year, hours of the day and angles do" in told
    assert "pass metric='periodic(12, 24, 360)', under which" in told
    two = told_wrapped(month, hour, names=["month", "hour"])
    assert "as months of the year and hours of the day do" in two
    rating = np.tile([1.0, 5.0], 200)  # farther apart than half a week, and no weekday
    told = told_wrapped(OF_TIME["weekday"][0], rating, names=["weekday", "rating"])
    assert "pass metric='periodic(7, inf)', under which" in told


def basin(center, share=0.5, seed=0):
    """Return a well beside another one, of which a few rows lie beyond the seam."""
    rng = np.random.default_rng(seed)
    return turned(np.where(rng.random(2000) < share, center, -35.0) + 20 * rng.normal(size=2000))


@pytest.mark.parametrize("name", ["psi", "chi1", "omega", "dihedral_7", "heading", "torsion angle", "wind direction"])
def test_a_few_rows_beyond_the_seam_are_enough_of_a_column_that_is_called_an_angle(name):
    few = np.append(basin(110.0), [-179.0, -178.0, -177.0, 178.0, -170.0, -168.0, 176.0, 172.0, 170.0])
    assert f"{name!r} from -1" in told_wrapped(few, names=[name])
    assert told_wrapped(few, names=["balance"]) == ""
    draw = np.random.default_rng(0)
    sparse = np.where(draw.random(3000) < 0.8, 0.0, np.radians(turned(draw.uniform(0, 360, 3000))))  # absent jets
    assert f"{name!r}" in told_wrapped(sparse, names=[name])


def test_without_a_name_an_eighth_of_the_rows_all_round_are_enough_unless_they_thin_out_to_the_ends():
    few = basin(150.0, 0.25, seed=1)
    assert 2000 / 24 / 8 < np.count_nonzero(few < -165) < 0.45 * 2000 / 24
    assert "as angles do" in told_wrapped(few, names=["value"])
    thinning = 180 * (2 * np.random.default_rng(0).beta(1.8, 1.8, 4000) - 1)
    assert min(np.count_nonzero(thinning < -165), np.count_nonzero(thinning > 165)) > 1.2 * 4000 / 24 / 8
    assert told_wrapped(thinning, names=["value"]) == ""


def test_amounts_that_are_clipped_at_half_a_turn_are_no_angles():
    clipped = np.clip(90 * DRAWS.normal(size=3000), -180, 180)
    assert told_wrapped(clipped, names=["value"]) == ""
    assert told_wrapped(turned(clipped + 180), names=["value"])


LATITUDE = np.degrees(np.arcsin(DRAWS.uniform(-1, 1, 400)))
LONGITUDE = DRAWS.uniform(-180, 180, 400)


@pytest.mark.parametrize("begin", [-180.0, 0.0, -30.0])
def test_latitudes_and_longitudes_are_told_together(begin):
    longitude, pair = turned(LONGITUDE, 360.0, begin), ["start_lng", "start_lat"]
    told = told_wrapped(longitude, LATITUDE, names=pair)
    assert "as latitudes and longitudes do: 'start_lat' and 'start_lng', the latter from" in told
    assert told.endswith("pass numpy.radians of them, latitude first, with metric='haversine'.")
    assert "periodic" not in told
    told = told_wrapped(np.radians(longitude), np.radians(LATITUDE), names=pair)
    assert told.endswith("longitudes, pass them, latitude first, with metric='haversine'.")
    told = told_wrapped(longitude, LATITUDE, OF_TIME["month"][0], names=[*pair, "month"])
    assert "in place of each pair, cos(latitude) * cos(longitude)" in told
    assert told.endswith(
        "If they are months of the year, give the sine and cosine of each, as an angle, in place of it."
    )
    assert "haversine" not in told_wrapped(turned(LONGITUDE), LATITUDE, names=["lon", "start_lat"])


OF_THE_SKY = {
    ("ra", "dec"): ("declination", "right ascension"),
    ("RA", "DEC"): ("declination", "right ascension"),
    ("RAJ2000", "DEJ2000"): ("declination", "right ascension"),
    ("RA_ICRS", "DE_ICRS"): ("declination", "right ascension"),
    ("right_ascension", "declination"): ("declination", "right ascension"),
    ("alpha", "delta"): ("declination", "right ascension"),
    ("glon", "glat"): ("latitude", "longitude"),
    ("l", "b"): ("latitude", "longitude"),
}


@pytest.mark.parametrize("pair", OF_THE_SKY, ids=" ".join)
def test_coordinates_of_the_sky_are_places_too(pair):
    (latitude, longitude), across = OF_THE_SKY[pair], turned(LONGITUDE, 360.0, 0.0)
    told = told_wrapped(across, LATITUDE, names=pair)
    assert f"as {latitude}s and {longitude}s do: {pair[1]!r} and {pair[0]!r}, the latter from" in told
    assert told.endswith(f"pass numpy.radians of them, {latitude} first, with metric='haversine'.")
    told = told_wrapped(across, LATITUDE, 100 + LATITUDE, names=[*pair, "mag"])
    assert f"cos({latitude}) * cos({longitude}), cos({latitude}) * sin({longitude}) and sin({latitude})" in told
    assert "haversine" not in told_wrapped(across, 4 * LATITUDE, names=pair)
    assert "haversine" not in told_wrapped(across, LATITUDE, names=[pair[0], "mag"])
    with pytest.raises(ValueError, match=rf"with the {latitude} before the {longitude} .*Pass X\[\['{pair[1]}', '"):
        refuse_longitude_first(pair, "haversine")
    refuse_longitude_first(pair[::-1], "haversine")


def test_lengths_beside_breadths_are_no_places():
    long, broad = DRAWS.uniform(0, 170, 400), DRAWS.uniform(42, 90, 400)
    assert told_wrapped(long, broad, names=["l", "b"]) == ""
    assert "degree of right ascension is" in told_wrapped(long, broad, names=["ra", "dec"])


def test_the_remedy_for_places_has_the_distances_of_the_sphere():
    latitude, longitude = np.radians(LATITUDE), np.radians(LONGITUDE)
    rows = np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)])
    chord = np.linalg.norm(rows[:, 0] - rows[:, 1])
    apart = np.sin((latitude[0] - latitude[1]) / 2) ** 2
    apart += np.cos(latitude[0]) * np.cos(latitude[1]) * np.sin((longitude[0] - longitude[1]) / 2) ** 2
    assert chord == pytest.approx(2 * np.sqrt(apart))


@pytest.mark.parametrize("metric", ["cosine", "periodic(360)", "hamming", "correlation"])
def test_metrics_that_take_no_differences_need_no_word_of_angles(metric):
    assert told_wrapped(OMEGA, metric=metric) == ""


ORDINARY = {
    "within": 170 * np.tanh(DRAWS.normal(size=600)),
    "percent": DRAWS.uniform(0, 100, 600),
    "standard": DRAWS.normal(size=600) * 1.02,
    "one end": np.r_[359.9, np.minimum(DRAWS.exponential(40, 599), 359.0)],
    "few at one end": np.r_[DRAWS.uniform(0, 340, 590), DRAWS.uniform(350, 360, 10)],
    "beyond": DRAWS.uniform(0, 366, 600),
    "two values": DRAWS.choice([0.0, 360.0], 600),
    "scale of seven": DRAWS.integers(0, 7, 600),
    "to three": np.linspace(-3.05, 3.05, 600),
    "many of nothing": np.r_[np.zeros(300), np.linspace(0, 360, 300)],
    "middle": 180 * (DRAWS.beta(3, 3, 600) * 2 - 1),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_columns_are_no_angles(name):
    assert told_wrapped(ORDINARY[name]) == ""


def region(middle=60.0, n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"lat": rng.uniform(middle - 8, middle + 8, n), "lon": rng.uniform(5.0, 30.0, n)})


@pytest.mark.parametrize("names", [("lat", "lon"), ("home latitude", "home lng")])
def test_longitude_before_latitude_is_refused_of_haversine_with_the_order_to_pass(names):
    radians = np.radians(region()).set_axis([*names], axis=1)
    swapped = radians[[*names[::-1]]]
    match = rf"latitude before the longitude .*Pass X\[\['{names[0]}', '{names[1]}'\]\], in radians"
    with pytest.raises(ValueError, match=match):
        gn.map(swapped, "laplacian_eigenmaps", metric="haversine")
    with pytest.raises(ValueError, match=match):
        gn.LaplacianEigenmaps(metric="haversine").fit(swapped)
    gn.LaplacianEigenmaps(metric="haversine").fit(radians)
    refuse_longitude_first(["lon", "lat"], "euclidean")
    refuse_longitude_first(["a", "b"], "haversine")
    refuse_longitude_first(None, "haversine")


def test_degrees_of_a_region_far_from_the_equator_are_told_with_what_to_multiply_by():
    frame = region()
    with pytest.warns(
        DataWarning, match=r"'lat' and 'lon' .* 0\.\d\d times .* multiply the longitudes by 0\.(4|5)\d, or"
    ):
        gn.map(frame, "pca")
    beside = {"divided": True}, {"metric": "manhattan"}
    for told in (
        told_narrow(region(30.0)),
        told_narrow(np.radians(frame)),
        told_narrow(frame.rename(columns={"lat": "x"})),
        *(told_narrow(frame, **options) for options in beside),
    ):
        assert told == ""


def told_narrow(frame, metric="euclidean", **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_wrapped(frame.to_numpy(), metric, [*frame], **options)
    return " ".join(str(one.message) for one in caught)
