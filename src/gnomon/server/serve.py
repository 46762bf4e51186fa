"""The server of one map for the browser of this machine: a page to get, a place to ask, and nothing else."""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gnomon._entrance import entrance
from gnomon._printed import harmless_texts
from gnomon._validation import Integer, check_parameters, message
from gnomon.server.answers import Answers
from gnomon.viewer import PageContent
from gnomon.viewer.write import compose

__all__ = ["MapServer"]

_LOOPBACK = "127.0.0.1"
_MOST_BYTES = 16 << 20  # of a question: a selection of a million rows takes 8 MB
_MOST_DISCARDED = 64 << 20  # of a question that is too long
_SHORT_PATIENCE = 0.5  # seconds that the rest of such a question may keep silent
_PATIENCE = 30.0  # seconds that a connection may keep silent
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
}


class MapServer:
    """Serve the page of a map, and exact answers to it, to programs of this machine that know the address.

    It listens on 127.0.0.1 alone. The address holds a random token; requests without it, with the name of another host
    or from pages of another origin are refused. `gnomon serve` starts one.

    Parameters
    ----------
    map : gnomon.Map
        It is explained and evaluated first, unless it is already.
    port : int in [0, 65535], default=0
        Where to listen; 0 takes a free one.
    title : str or None, default=None
        Heading; None takes the name of the map.
    byte_budget : int or None, default=None
        Bytes of the page, as for `gnomon.viewer.write_html`. Answers have all rows and features.

    Attributes
    ----------
    url : str
        The address of the page.

    Raises
    ------
    OSError
        If the port is taken.
    ValueError
        If it is none.
    """

    @entrance("serve")
    def __init__(self, map: Any, *, port: int = 0, title: str | None = None, byte_budget: int | None = None) -> None:
        check_parameters({"port": Integer(0, 65_535)}, {"port": port})
        try:
            self._http = _Listener((_LOOPBACK, port), _Handler)
        except OSError as error:
            remedy = "Name another port, or 0 for a free one."
            raise OSError(message(f"port={port}", "free", fact=str(error), remedy=remedy)) from error
        try:
            answers = Answers(map)
            about = {"server": {"refusal": answers.refusal}}
            pieces = compose(PageContent.of(map), title=title, byte_budget=byte_budget, header=about)
            self._http.page = "".join(pieces).encode("utf-8")
        except BaseException:
            self._http.server_close()
            raise
        self._http.answers = answers
        self._thread: threading.Thread | None = None
        self._begun = False
        self.url = f"http://{_LOOPBACK}:{self._http.server_port}/{self._http.token}/"

    def run(self) -> None:
        """Answer until `stop` is called or the program is interrupted."""
        self._begun = True
        try:
            self._http.serve_forever(poll_interval=0.2)
        finally:
            self._http.server_close()

    def start(self) -> None:
        """Answer in the background until `stop` is called."""
        self._begun = True
        self._thread = threading.Thread(target=self.run, name="gnomon serve", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and free the port."""
        if not self._begun:  # there is no loop to wait for
            self._http.server_close()
            return
        self._http.shutdown()
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> MapServer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    page: bytes
    answers: Answers

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.token = secrets.token_urlsafe(24)
        self.lock = threading.Lock()  # a map answers one question at a time

    @property
    def hosts(self) -> set[str]:
        return {f"{name}:{self.server_port}" for name in (_LOOPBACK, "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that hang up."""


class _RefusedError(Exception):
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    server_version = "gnomon"
    sys_version = ""
    protocol_version = "HTTP/1.0"  # a connection a request, so that nobody is answered after the end
    timeout = _PATIENCE

    def do_GET(self) -> None:
        """Send the page."""
        try:
            self._check_sender()
            if self._place() != "":
                raise _RefusedError(HTTPStatus.NOT_FOUND, "There is nothing here.")
        except _RefusedError as refused:
            self._refuse(refused)
            return
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    def do_POST(self) -> None:
        """Answer a question."""
        try:
            self._check_sender()
            if self._place() != "ask":
                raise _RefusedError(HTTPStatus.NOT_FOUND, "There is nothing here.")
            asked = self._read()
            try:
                with self.server.lock:
                    answer = self.server.answers.answer(asked)
            except (TypeError, ValueError, IndexError, MemoryError) as error:
                raise _RefusedError(HTTPStatus.BAD_REQUEST, " ".join(str(error).split())) from error
        except _RefusedError as refused:
            self._refuse(refused)
            return
        self._send_json(HTTPStatus.OK, answer)

    def _check_sender(self) -> None:
        """Refuse other hosts' names, which a rebound name server would bring, and pages of other origins."""
        if self.headers.get("Host") not in self.server.hosts:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "This server answers to its own address alone.")
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in self.server.hosts:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "This server answers to its own page alone.")

    def _place(self) -> str:
        """Return what of the path follows the token."""
        start, token, rest = [*self.path.split("/", 2), "", ""][:3]
        known = hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode())
        if start or not known or not self.path.startswith(f"/{token}/"):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "There is nothing here.")
        return rest

    def _read(self) -> Any:
        """Return the JSON of the request."""
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A question must be JSON.")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "A question must say how long it is.")
        if len(length) > 12 or int(length) > _MOST_BYTES:
            self._discard(int(length) if len(length) <= 12 else 0)
            told = f"A question must have at most {_MOST_BYTES >> 20} MiB."
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told)
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, f"The question is no JSON ({error}).") from error

    def _discard(self, n_bytes: int) -> None:
        """Read what a question holds that is too long, up to some bytes, so that its sender hears the answer.

        One who sends without being read finds the connection broken.
        """
        left = min(n_bytes, _MOST_DISCARDED)
        with contextlib.suppress(OSError):
            self.connection.settimeout(_SHORT_PATIENCE)
            while left > 0 and (part := self.rfile.read1(min(left, 1 << 16))):
                left -= len(part)

    def _refuse(self, refused: _RefusedError) -> None:
        self._send_json(refused.status, {"error": str(refused)})

    def _send_json(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(harmless_texts(document), allow_nan=False).encode("utf-8"))

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: addresses hold the token."""
