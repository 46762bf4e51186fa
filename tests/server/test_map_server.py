"""The server of a map answers its own page exactly, and nobody else."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import click.testing
import numpy as np
import pytest
from matplotlib.path import Path as Polygon
from scipy import sparse

from gnomon.cli import main
from gnomon.explanations.contrast import contrast
from gnomon.maps import Map
from gnomon.server import Answers, MapServer
from gnomon.surfaces import Sphere


def made(n=60, **options):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4))
    X[: n // 2, 1] += 3.0
    X[:, 3] = np.round(5 * X[:, 3])
    return Map(X, X[:, :2] @ [[2.0, 0.1], [0.3, 1.0]], labels=np.repeat(["a", "b"], n // 2), name="sixty", **options)


@pytest.fixture(scope="module")
def result():
    return made()


@pytest.fixture(scope="module")
def answers(result):
    return Answers(result)


@pytest.fixture(scope="module")
def server(result):
    with MapServer(result) as running:
        host, port, token = running.url.removeprefix("http://").replace(":", "/").split("/")[:3]
        yield SimpleNamespace(host=host, port=int(port), token=token, url=running.url)


def request(server, method, path, body=None, **headers):
    """Send a request as it stands, and return status, headers and body."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
    given = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, body, given)
    response = connection.getresponse()
    found = response.status, response.headers, response.read()
    connection.close()
    return found


def ask(server, **question):
    status, _, body = request(server, "POST", f"/{server.token}/ask", json.dumps(question))
    return status, json.loads(body)


# ---- what it answers -----------------------------------------------------------------------------------------------


def test_an_unchanged_row_stays_and_a_changed_one_goes_where_transform_says(server, result):
    status, stays = ask(server, question="move", row=7, values=[])
    assert status == 200
    np.testing.assert_allclose(stays["place"], result.embedding[7], atol=1e-4)
    assert stays["share"] < 1e-4
    _, answer = ask(server, question="move", row=7, values=[[1, 2.5], [3, -4]])
    changed = result.X[7].copy()
    changed[[1, 3]] = 2.5, -4.0
    np.testing.assert_allclose(answer["place"], result.transform(changed[None])[0], rtol=1e-6)
    assert answer["novelty"] == pytest.approx(result.novelty(changed[None])[0])
    away = np.linalg.norm(result.embedding - answer["place"], axis=1)
    away[7] = np.inf
    assert [one["row"] for one in answer["nearest"]] == np.argsort(away)[:5].tolist()
    width = np.ptp(result.embedding, axis=0).max()
    assert answer["share"] == pytest.approx(np.linalg.norm(answer["place"] - result.embedding[7]) / width, rel=1e-5)


def test_a_row_far_from_the_data_comes_with_the_warning(answers):
    assert any(
        "out of" in text for text in answers.answer({"question": "move", "row": 0, "values": [[0, 1e4]]})["warnings"]
    )


def test_values_are_exact_and_their_range_is_that_of_all_rows(server, result):
    _, answer = ask(server, question="feature", row=5, feature=0)
    column = result.X[:, 0]
    assert (answer["value"], answer["low"], answer["high"]) == (column[5], column.min(), column.max())
    assert answer["whole"] is False
    assert ask(server, question="feature", row=5, feature=3)[1]["whole"] is True
    _, row = ask(server, question="row", row=5)
    values = {one["name"]: one["value"] for one in row["features"]}
    assert [values[name] for name in result.feature_names] == result.X[5].tolist()
    away = np.abs(result.X[5] - result.X.mean(axis=0)) / result.X.std(axis=0)
    assert [one["name"] for one in row["features"]] == [result.feature_names[j] for j in np.argsort(-away)]


def test_neighbors_are_those_of_all_pairs(server, result):
    distances = np.linalg.norm(result.X - result.X[9], axis=1)
    order = np.argsort(distances)[1:6]
    found = ask(server, question="neighbors", row=9, n=5)[1]["neighbors"]
    assert [one["row"] for one in found] == order.tolist()
    np.testing.assert_allclose([one["distance"] for one in found], distances[order], rtol=1e-6)
    assert found[0]["name"] == f"{result.labels[order[0]]} (row {order[0]})"


def test_a_contrast_is_that_of_the_library_on_all_rows(server, result):
    rows = [3, 8, 13, 40, 41]
    _, answer = ask(server, question="contrast", rows=rows)
    expected = contrast(result.X, rows, feature_names=result.feature_names)
    told = {one["name"]: one for one in answer["features"]}
    for name, effect, auc in zip(expected.features, expected.effect, expected.auc, strict=True):
        assert (told[name]["effect"], told[name]["auc"]) == (effect, auc)
    sizes = [abs(one["effect"]) for one in answer["features"]]
    assert sizes == sorted(sizes, reverse=True)
    assert (answer["selected"], answer["rest"]) == (5, 55)


def test_a_path_selects_every_row_inside_it(answers, result):
    corners = [[-3.0, -2.0], [2.0, -3.0], [4.0, 2.5], [0.5, 0.5], [-1.0, 3.0]]
    inside = Polygon(corners).contains_points(result.embedding)
    assert 5 < inside.sum() < 55
    by_path = answers.answer({"question": "contrast", "path": corners})
    assert by_path == answers.answer({"question": "contrast", "rows": np.flatnonzero(inside).tolist()})


def test_sparse_data_are_answered_as_dense_ones(answers, result):
    thin = Answers(Map(sparse.csr_array(result.X), result.embedding, labels=result.labels))
    for question in ({"question": "row", "row": 4}, {"question": "move", "row": 4, "values": [[1, 0.5]]}):
        one, other = (json.dumps(found.answer(question), sort_keys=True) for found in (thin, answers))
        assert json.loads(one).keys() == json.loads(other).keys()
        np.testing.assert_allclose(thin.answer(question)["place"], answers.answer(question)["place"], atol=1e-5)
    assert [one["value"] for one in thin.answer({"question": "row", "row": 4})["features"]] == [
        one["value"] for one in answers.answer({"question": "row", "row": 4})["features"]
    ]


def test_a_map_that_is_no_function_says_why_and_answers_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    sphere = Map(X, X / np.linalg.norm(X, axis=1, keepdims=True), surface=Sphere(1.0))
    found = Answers(sphere)
    assert "flat space" in found.refusal
    with pytest.raises(ValueError, match="flat space"):
        found.answer({"question": "move", "row": 0, "values": []})
    assert len(found.answer({"question": "neighbors", "row": 0})["neighbors"]) == 15


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ([], "question=None must be one of"),
        ({"question": "eval"}, "question='eval' must be one of"),
        ({"question": ["row"]}, "must be one of"),
        ({"question": "row"}, "row=None must be a whole number"),
        ({"question": "row", "row": True}, "row=True must be a whole number"),
        ({"question": "row", "row": 60}, "row=60 must be in"),
        ({"question": "row", "row": -1}, "row=-1 must be in"),
        ({"question": "feature", "row": 0, "feature": 4}, "feature=4 must be in"),
        ({"question": "neighbors", "row": 0, "n": 60}, "n=60 must be a whole number in"),
        ({"question": "move", "row": 0, "values": "ab"}, "must be a list of"),
        ({"question": "move", "row": 0, "values": [[0]]}, "must be a list of"),
        ({"question": "move", "row": 0, "values": [[0, "1"]]}, "must be a finite number"),
        ({"question": "move", "row": 0, "values": [[0, float("inf")]]}, "must be a finite number"),
        ({"question": "move", "row": 0, "values": [[0, 10**400]]}, "must be a finite number"),
        ({"question": "contrast", "rows": []}, "must be a list of row numbers"),
        ({"question": "contrast", "rows": [0.5]}, "must be a whole number"),
        ({"question": "contrast", "rows": list(range(60))}, "must be smaller than the data"),
        ({"question": "contrast", "path": [[0, 0], [1, 1]]}, "3 to 100,000 corners"),
        ({"question": "contrast", "path": [[0, 0], [1, 1], [1]]}, "a list of"),
        ({"question": "contrast", "path": [[90, 90], [91, 91], [91, 90]]}, "no row lies inside"),
    ],
)
def test_what_is_not_well_formed_is_refused_in_words(answers, question, told):
    with pytest.raises((TypeError, ValueError), match=r"^(server|contrast): ") as caught:
        answers.answer(question)
    assert told in str(caught.value)


# ---- whom it answers -----------------------------------------------------------------------------------------------


def test_the_page_may_ask_its_server_and_no_other(server):
    status, headers, body = request(server, "GET", f"/{server.token}/")
    page = body.decode()
    assert status == 200
    assert "connect-src 'self'" in page
    assert "default-src 'none'" in page
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers
    assert server.host == "127.0.0.1"


def test_a_page_that_is_a_file_may_ask_nobody(result, tmp_path):
    result.to_html(tmp_path / "page.html")
    assert "connect-src" not in (tmp_path / "page.html").read_text().split("<style>")[0]


_ELSEWHERE = ["/", "/wrong/", "/{token}", "/{token}x/", "/{token}/../{token}/", "/{token}/../../etc/passwd"]
_ELSEWHERE += ["/{token}/%2e%2e/", "/{token}/ask", "/{token}/?a=1", "/%00/", "/{token}%C3%A9/"]


@pytest.mark.parametrize("path", _ELSEWHERE)
def test_everything_but_the_page_is_not_there(server, path):
    status, _, body = request(server, "GET", path.format(token=server.token))
    assert status == 404
    assert server.token not in body.decode()


def test_other_hosts_and_other_origins_are_refused(server):
    own = f"127.0.0.1:{server.port}"
    ask_it = f"/{server.token}/ask"
    good = json.dumps({"question": "row", "row": 0})
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", ""):
        assert request(server, "GET", f"/{server.token}/", Host=host)[0] == 403
    for origin in ("http://evil.example", "null", f"https://{own}", f"http://{own}.evil.example"):
        assert request(server, "POST", ask_it, good, Origin=origin)[0] == 403
    assert request(server, "POST", ask_it, good, Origin=f"http://{own}")[0] == 200
    assert request(server, "GET", f"/{server.token}/", Host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ("{", {}, 400),
        ("[" * 100_000, {}, 400),
        (b"\xff\xfe", {}, 400),
        ("", {}, 400),
        ("{}", {"Content_Type": "text/plain"}, 415),
        ("{}", {"Content_Length": "-1"}, 411),
        ("{}", {"Content_Length": "ten"}, 411),
        ("{}", {"Content_Length": str((16 << 20) + 1)}, 413),
        ("{}", {"Content_Length": "9" * 5000}, 413),
        ("{}", {"Transfer_Encoding": "chunked"}, 411),
    ],
)
def test_hostile_bodies_are_refused_in_words_and_the_server_goes_on(server, body, headers, status):
    found, _, answer = request(server, "POST", f"/{server.token}/ask", body, **headers)
    assert found == status
    assert json.loads(answer)["error"].startswith(("A question", "The question"))
    assert ask(server, question="row", row=0)[0] == 200


def test_a_question_that_is_too_long_is_answered_though_it_is_sent(server):
    found, _, answer = request(server, "POST", f"/{server.token}/ask", b" " * ((16 << 20) + (4 << 20)))
    assert found == 413
    assert json.loads(answer)["error"] == "A question must have at most 16 MiB."


def test_wrong_tokens_cannot_ask_and_other_methods_are_not_there(server):
    good = json.dumps({"question": "row", "row": 0})
    assert request(server, "POST", "/wrong/ask", good)[0] == 404
    assert request(server, "POST", f"/{server.token}/", good)[0] == 404
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert request(server, method, f"/{server.token}/ask", good)[0] == 501


def test_questions_at_once_get_their_own_answers(server, result):
    found = {}

    def one(row):
        found[row] = ask(server, question="feature", row=row, feature=2)[1]["value"]

    threads = [threading.Thread(target=one, args=(row,)) for row in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {row: result.X[row, 2] for row in range(12)}


def test_each_server_has_another_token_and_stops():
    tokens = set()
    for _ in range(2):
        with MapServer(made(40)) as running:
            tokens.add(running.url.split("/")[3])
            port = int(running.url.split(":")[2].split("/")[0])
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=5)
    assert len(tokens) == 2
    assert min(map(len, tokens)) >= 32


def test_a_server_that_never_answered_stops_and_frees_its_port():
    server = MapServer(made(40))
    server.stop()
    with socket.socket() as other:
        other.bind(("127.0.0.1", int(server.url.split(":")[2].split("/")[0])))


# ---- the command ---------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken_or_none_is_an_error_before_the_work(result, tmp_path):
    path = tmp_path / "m.gnomon"
    result.save(path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = click.testing.CliRunner().invoke(main, ["serve", str(path), "--port", str(port), "--no-browser"])
    assert found.exit_code == 2
    assert f"port={port} must be free" in found.stderr
    assert "Name another port" in found.stderr
    found = click.testing.CliRunner().invoke(main, ["serve", str(path), "--port", "70000", "--no-browser"])
    assert found.exit_code == 2
    assert "port=70000 must be an integer >= 0 and <= 65535" in found.stderr


def test_the_command_tells_the_address_opens_it_and_ends_quietly_with_ctrl_c(result, tmp_path, monkeypatch):
    result.save(tmp_path / "m.gnomon")
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def interrupted(self):
        self._http.server_close()
        raise KeyboardInterrupt

    monkeypatch.setattr(MapServer, "run", interrupted)
    found = click.testing.CliRunner().invoke(main, ["serve", str(tmp_path / "m.gnomon")])
    assert found.exit_code == 0, found.output
    assert opened == [found.stdout.split(" at ")[1].split(" ")[0]]
    assert opened[0].startswith("http://127.0.0.1:")
    assert found.stdout.endswith("Stopped.\n")
    click.testing.CliRunner().invoke(main, ["serve", str(tmp_path / "m.gnomon"), "--no-browser"])
    assert len(opened) == 1
    assert Path(tmp_path / "m.gnomon").exists()
