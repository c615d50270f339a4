"""A registry on this machine that speaks as npm's does, and a cache that belongs to the test."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Registry:
    """What the registry has: listings by package, archives by path; `cut` bytes are held back."""

    url: str = ""
    listings: dict[str, dict[str, Any]] = field(default_factory=dict)
    archives: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cut: int = 0

    def add(self, name: str, version: str, files: dict[str, bytes], host: str = "") -> None:
        """Publish a package, whose archive is said to be at `host`."""
        archive = packed(files)
        path = f"/{name}/-/{version}.tgz"
        digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
        listing = self.listings.setdefault(name, {"versions": {}, "dist-tags": {}})
        listing["versions"][version] = {
            "dist": {"tarball": f"{host or self.url}{path}", "integrity": f"sha512-{digest}"}
        }
        listing["dist-tags"]["latest"] = version
        self.archives[path] = archive


def packed(files: dict[str, bytes]) -> bytes:
    """Return an archive of programs, all in the folder `package`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size, member.mode = len(content), 0o700
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _handler(registry: Registry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(self.path)
            registry.asked.append(path)
            listing = registry.listings.get(path.removeprefix("/"))
            body = json.dumps(listing).encode() if listing else registry.archives.get(path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            held_back = registry.cut if body and not listing else 0
            self.wfile.write((body or b"")[: len(body or b"") - held_back])

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture
def registry(own_cache: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Registry]:
    """Give a registry that npm's settings name, for a machine of the kind x64."""
    having = Registry()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(having)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        having.url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("npm_config_registry", having.url + "/")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setattr("platform.machine", lambda: "x86_64")
        yield having
        server.shutdown()
        thread.join()
