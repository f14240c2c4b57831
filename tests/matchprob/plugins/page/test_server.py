"""Guarantees of the server: tokens, hosts, origins, headers, files."""

import http.client
import json
import socket

import pytest

from matchprob.plugins.page.server import PageServer
from matchprob.plugins.page.state import first_problem
from tests.refusals import refuses


def ask(server, method="GET", path="", body=None, **headers):
    """Send a request with exactly these headers; return status, headers and text of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.putrequest(method, path or f"/{server.token}/", skip_host=True)
    given = {
        "Host": f"127.0.0.1:{server.port}",
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    data = (body or "").encode()
    if data:
        connection.putheader("Content-Length", str(len(data)))
    connection.endheaders(data or None)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


def origin(server):
    return f"http://127.0.0.1:{server.port}"


def test_the_page_and_its_headers(served):
    """The page loads nothing from other servers, may not be framed, and is not cached."""
    status, headers, text = ask(served)
    assert status == 200
    assert "host.js" in text
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    for name in ("allocator.js", "host.js", "allocator.css"):
        status, _, text = ask(served, path=f"/{served.token}/{name}")
        assert status == 200
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 403),
        ("/wrong/", {}, 403),
        ("/wrong/allocator.js", {}, 403),
        ("", {"Host": "example.org"}, 421),
        ("", {"Host": None}, 400),
        ("", {"Host": "127.0.0.1:1"}, 421),
        ("", {"Origin": "http://example.org"}, 403),
        ("", {"Origin": "null"}, 403),
    ],
)
def test_wrong_tokens_hosts_and_origins_are_refused(served, path, headers, status):
    """A wrong token, host or origin gives a status and a message, never the page."""
    found, _, text = ask(served, path=path, **headers)
    assert found == status
    assert "allocator" not in text


@pytest.mark.parametrize("target", ["*", "", "x", "//", "http:", "?", "/\u00e9"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
def test_targets_that_are_no_paths_are_refused(served, method, target):
    """A request line such as `GET *` is refused for its token, and is no error of the server."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as raw:
        host = f"127.0.0.1:{served.port}"
        raw.sendall(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        status = raw.recv(1 << 12).decode().split()[1]
    assert status in ("400", "403", "404")


def test_messages_are_checked(served):
    """A message needs the origin, JSON and the name of a tab, and has a maximal length."""
    path = f"/{served.token}/message?tab=abcdefgh1"
    hello = json.dumps({"verb": "hello"})
    mine = {"Origin": origin(served), "Content_Type": "application/json"}
    assert ask(served, "POST", path, hello, **mine)[0] == 200
    assert ask(served, "POST", path, hello, Content_Type="application/json")[0] == 403
    assert ask(served, "POST", path, hello, **{**mine, "Origin": "http://evil.example"})[0] == 403
    assert ask(served, "POST", path, hello, **{**mine, "Content_Type": "text/plain"})[0] == 415
    assert ask(served, "POST", path, "{", **mine)[0] == 400
    assert ask(served, "POST", path.replace("abcdefgh1", "../../x"), hello, **mine)[0] == 400
    assert ask(served, "POST", path, "[" * 100_000, **mine)[0] == 400
    # An invalid message is reported to the tab, and is not a bug.
    assert ask(served, "POST", path, '{"verb": "rm"}', **mine)[0] == 200


def test_only_this_machine_is_served(served):
    """The socket is bound to the loopback address."""
    assert served._socket.getsockname()[0] == "127.0.0.1"
    assert len(served.token) >= 24


def test_a_port_in_use_is_bad_input(tmp_path):
    """A port in use gives a message of one line."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refuses("cannot be served", PageServer, first_problem(), folder=tmp_path, port=port)
