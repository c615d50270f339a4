"""A hub of the test's own on loopback, with a small data set, that misbehaves when told to."""

from __future__ import annotations

import hashlib
import io
import json
import random
import threading
import time
import zipfile
from collections import defaultdict
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from typer.testing import CliRunner

from evals.cli import app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

REPO = "BIABench/BIABench"
TASKS = ("dots", "lines", "planes")
_SPEC = {
    "input": {"spatial_dimensions": "2D", "temporal_dimension": "static"},
    "task_logic": {"basic_instructions": "Count.", "expert_instructions": "Count well."},
    "deliverables": [{"id": "counts", "description": "One CSV file.", "filename_pattern": "*.csv"}],
}
_RUBRIC = {"metric_config": {"type": "dots"}, "grader": "counting"}


def sha256(content: bytes) -> str:
    """Return a digest as the hub and the manifest write it."""
    return hashlib.sha256(content).hexdigest()


def zipped(members: dict[str, bytes]) -> bytes:
    """Return an archive, the same for the same members."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def release(seed: int = 0, files: int = 20) -> dict[str, bytes]:
    """Return the files of a data set of three tasks; one of them has no reference."""
    rng = random.Random(seed)
    content: dict[str, bytes] = {}
    for task in TASKS:
        spec, rubric = _SPEC | {"task_id": task}, dict(_RUBRIC)
        inputs = {f"input/{n // 10}/{n:03}.bin": rng.randbytes(4000) for n in range(files)}
        content[f"{task}/input.zip"] = zipped(inputs)
        if task == "planes":
            rubric["evaluation_metadata"] = {"structure": "quality", "ground_truth_present": False}
        else:
            reference = {f"evaluation/{n}.csv": rng.randbytes(500) for n in range(3)}
            content[f"{task}/evaluation.zip"] = zipped(reference)
        content[f"{task}/task_spec.yaml"] = yaml.safe_dump(spec).encode()
        content[f"{task}/evaluation_rubric.yaml"] = yaml.safe_dump(rubric).encode()
        content[f"{task}/{task}.yaml"] = b"complexity_level: easy\n"
    content["README.md"] = b"made up\n"
    return with_manifest(content)


def with_manifest(content: dict[str, bytes]) -> dict[str, bytes]:
    """Return a data set with the manifest of its archives."""
    tasks: dict[str, Any] = {}
    for path, packed in content.items():
        if path.endswith(".zip"):
            task, field = path.removesuffix(".zip").split("/")
            tasks.setdefault(task, {})[field] = {"zip_sha256": sha256(packed), "bytes": 1}
    return content | {"manifest.json": json.dumps({"tasks": tasks, "note": "x"}).encode()}


class FakeHub:
    """The state of the hub.

    Attributes
    ----------
    commits
        The files of each commit.
    revisions
        What each tag stands for.
    faults
        By path, what to do wrong at the next requests, one after the other: `cut`, `stall`,
        `flip`, `whole` (a range is ignored), or `STATUS`, or
        `STATUS RETRY_AFTER_OR_RATE_LIMIT`.
    gated
        Whether a token is needed.
    served
        Bytes of each path that were sent.
    on_bytes
        Called with the count of all bytes that were sent, before more are sent.
    """

    release = staticmethod(release)
    zipped = staticmethod(zipped)
    with_manifest = staticmethod(with_manifest)

    def __init__(self) -> None:
        self.url = ""
        self.repo = REPO
        self.commits: dict[str, dict[str, bytes]] = {}
        self.revisions: dict[str, str] = {}
        self.faults: dict[str, list[str]] = defaultdict(list)
        self.gated = False
        self.served: dict[str, int] = defaultdict(int)
        self.asked: list[str] = []
        self.on_bytes: Callable[[int], None] | None = None
        self.pause_s = 0.0
        self.release_stalled = threading.Event()
        self.lock = threading.Lock()

    def publish(self, revision: str, content: dict[str, bytes]) -> str:
        """Let a tag stand for a commit of these files, and return the commit."""
        whole = b"".join(path.encode() + data for path, data in sorted(content.items()))
        commit = hashlib.sha1(whole).hexdigest()
        self.commits[commit] = content
        self.revisions[revision] = commit
        return commit


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(path)
        if path.startswith("/cdn/"):
            if "Authorization" in self.headers:
                self._refuse(400)
                return
            _, _, commit, name = path.split("/", 3)
            self._file(commit, name)
        elif self.hub.gated and self.headers.get("Authorization") != "Bearer letmein":
            self._refuse(403, "GatedRepo")
        elif path.startswith(f"/api/datasets/{self.hub.repo}/revision/"):
            self._info(path.rsplit("/", 1)[1])
        elif path.startswith(f"/datasets/{self.hub.repo}/resolve/"):
            commit, _, name = path.split("/resolve/")[1].partition("/")
            if name.endswith((".zip", ".gz")):
                self._redirect(f"/cdn/{commit}/{name}")
            else:
                self._file(commit, name)
        else:
            self._refuse(401, "RepoNotFound")

    def _refuse(self, status: int, code: str = "", after: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if code:
            self.send_header("X-Error-Code", code)
        if after.isdecimal():
            self.send_header("Retry-After", after)
        elif after:
            self.send_header("RateLimit", after)
        self.end_headers()

    def _redirect(self, path: str) -> None:
        """Send on to another host, as the hub does for large files; it must get no token."""
        port = self.hub.url.rsplit(":", 1)[1]
        self.send_response(302)
        self.send_header("Location", f"http://localhost:{port}{path}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _fault(self, name: str) -> str:
        with self.hub.lock:
            return self.hub.faults[name].pop(0) if self.hub.faults[name] else ""

    def _info(self, revision: str) -> None:
        fault = self._fault("info")
        if fault:
            self._refuse(int(fault.split()[0]), after=fault.partition(" ")[2])
            return
        commit = self.hub.revisions.get(revision, revision)
        if commit not in self.hub.commits:
            self._refuse(404, "RevisionNotFound")
            return
        siblings = [self._sibling(*one) for one in sorted(self.hub.commits[commit].items())]
        told = {"id": self.hub.repo, "sha": commit, "siblings": siblings}
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def _sibling(self, path: str, data: bytes) -> dict[str, Any]:
        blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
        told: dict[str, Any] = {"rfilename": path, "size": len(data), "blobId": blob}
        if path.endswith((".zip", ".gz")):
            told["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 130}
        return told

    def _file(self, commit: str, name: str) -> None:
        fault = self._fault(name)
        data = self.hub.commits.get(commit, {}).get(name)
        if data is None or fault == "404":
            self._refuse(404, "EntryNotFound")
            return
        if fault[:1].isdigit():
            self._refuse(int(fault.split()[0]), after=fault.partition(" ")[2])
            return
        if fault == "flip":
            data = bytes([data[0] ^ 1]) + data[1:]
        start = 0
        asked = self.headers.get("Range")
        if asked and fault != "whole":
            start = int(asked.removeprefix("bytes=").rstrip("-"))
        body = data[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault in ("cut", "stall"):
            self._send(name, body[: len(body) // 2])
            if fault == "stall":
                self.hub.release_stalled.wait(20)
            self.close_connection = True
            return
        self._send(name, body)

    def _send(self, name: str, body: bytes) -> None:
        for at in range(0, len(body), 4096):
            chunk = body[at : at + 4096]
            try:
                self.wfile.write(chunk)
                self.wfile.flush()
            except OSError:
                self.close_connection = True
                return
            with self.hub.lock:
                self.hub.served[name] += len(chunk)
                whole = sum(self.hub.served.values())
            if self.hub.on_bytes is not None:
                self.hub.on_bytes(whole)
            if self.hub.pause_s:
                time.sleep(self.hub.pause_s)


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    """Give a hub that serves the data set as v1.0."""
    state = FakeHub()
    state.publish("v1.0", release())
    handler = type("Handler", (_Handler,), {"hub": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    state.release_stalled.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def data(
    hub: FakeHub, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Give `evals data`, speaking with the test's hub: checks the exit code, gives what it said."""
    from huggingface_hub import constants

    from evals.data.hub import client

    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    template = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 3)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.delenv("HUGGING_FACE_HUB_TOKEN", raising=False)
    monkeypatch.setattr(client, "_FIRST_PAUSE_S", 0.01)

    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["data", *arguments])
        assert result.exit_code == code, result.output
        return result.output

    return run


@pytest.fixture
def root(own_cache: Path) -> Path:
    """Give the folder where v1.0 goes."""
    return own_cache / "data" / "v1.0"
