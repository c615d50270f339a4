"""Packages of the npm registry: found, fetched, and proved to be whole."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

from evals.errors import DataMissingError
from evals.names import near_matches

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE_S = 60
_CHUNK = 1 << 20
_MOST_OF_A_LISTING = 64 << 20
_AGAIN = "Run the same command again: what is prepared already is kept."


@dataclass(frozen=True)
class Tarball:
    """A package's archive: its address, and the SHA-512 that it must have."""

    name: str
    version: str
    url: str
    sha512: bytes


def registry_url() -> str:
    """Return the registry that npm would ask: by its variable, its file, or what it says itself.

    Raises:
        DataMissingError: Nothing names one.
    """
    # npm itself writes it in small letters.
    named = os.environ.get("npm_config_registry") or os.environ.get("NPM_CONFIG_REGISTRY")  # noqa: SIM112
    found = (named or _from_npmrc(Path.home() / ".npmrc") or _from_npm()).strip().rstrip("/")
    if not urlsplit(found).netloc:
        raise DataMissingError(
            f"No npm registry is known here, got {found!r}. Mend: install npm, which knows the "
            "public one, or set the variable `npm_config_registry` to the address of yours."
        )
    return found


def find(name: str, version: str) -> Tarball:
    """Return where a version of a package is.

    Args:
        name: Name of the package.
        version: Version, or a tag such as `latest`.

    Raises:
        DataMissingError: It does not exist, or the registry does not answer as one.
    """
    registry = registry_url()
    listing = _listing(registry, name)
    versions = listing.get("versions") or {}
    version = (listing.get("dist-tags") or {}).get(version, version)
    if version not in versions:
        newest = (listing.get("dist-tags") or {}).get("latest", "none")
        near = near_matches(version, versions)
        raise DataMissingError(
            f"The package {name} of {registry} has no version {version!r}; the newest is {newest}"
            + (f", near ones are {', '.join(near)}" if near else "")
            + ". Mend: choose another --version, or leave it out."
        )
    dist = versions[version].get("dist") or {}
    return Tarball(
        name,
        version,
        _at_registry(str(dist.get("tarball", "")), name, registry),
        _sha512(str(dist.get("integrity", "")), f"{name} {version} of {registry}"),
    )


def fetch(tarball: Tarball, path: Path, advance: Callable[[int, int], None]) -> None:
    """Write a package's archive to a file, and check it.

    Args:
        tarball: What to fetch.
        path: The file.
        advance: Called with the bytes so far and those that are expected, 0 if unknown.

    Raises:
        DataMissingError: It is cut off, is not what it should be, or does not come.
    """
    digest, done = hashlib.sha512(), 0
    what = f"{tarball.name} {tarball.version}"
    with _open(tarball.url, what) as answer, path.open("wb") as file:
        expected = int(answer.headers.get("Content-Length") or 0)
        while chunk := _read(answer, what):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            advance(done, expected)
    if expected and done != expected:
        raise DataMissingError(
            f"{what} was cut off: expected {expected} bytes, got {done}. {_AGAIN}"
        )
    if not hmac.compare_digest(digest.digest(), tarball.sha512):
        raise DataMissingError(
            f"{what} is not what the registry says it is: its SHA-512 is another one. It was "
            f"thrown away. {_AGAIN} If it stays so, the registry or what lies between is at fault."
        )


def _listing(registry: str, name: str) -> dict[str, Any]:
    url = f"{registry}/{quote(name, safe='@')}"
    # The short form tells of versions and archives only.
    with _open(url, name, accept="application/vnd.npm.install-v1+json") as answer:
        raw = b""
        while (chunk := _read(answer, name)) and len(raw) <= _MOST_OF_A_LISTING:
            raw += chunk
    try:
        listing = json.loads(raw)
    except ValueError:
        listing = None
    if not isinstance(listing, dict):
        raise DataMissingError(
            f"{url} did not answer as an npm registry does. Mend: look at the variable "
            "`npm_config_registry` and at `registry=` in ~/.npmrc."
        )
    return listing


def _open(url: str, what: str, accept: str = "*/*") -> http.client.HTTPResponse:
    request = urllib.request.Request(url, headers={"Accept": accept})
    try:
        answer: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=_PATIENCE_S)
    except urllib.error.HTTPError as error:
        with error:
            told = f"{error.code} {error.reason}"
        why = "has no such package" if error.code == http.client.NOT_FOUND else f"answered {told}"
        raise DataMissingError(
            f"{what}: {urlsplit(url).netloc} {why}. Mend: look at the variable "
            "`npm_config_registry` and at `registry=` in ~/.npmrc, or copy an install of yours "
            "with --from."
        ) from error
    except (OSError, ValueError) as error:
        raise DataMissingError(
            f"{what}: {url} cannot be reached: {getattr(error, 'reason', error)}. Mend: it needs "
            "the network once; without it copy an install of yours with --from."
        ) from error
    return answer


def _read(answer: http.client.HTTPResponse, what: str) -> bytes:
    try:
        return answer.read(_CHUNK)
    except (OSError, http.client.HTTPException) as error:
        raise DataMissingError(f"{what} was cut off: {error}. {_AGAIN}") from error


def _sha512(integrity: str, what: str) -> bytes:
    for each in integrity.split():
        kind, _, text = each.partition("-")
        if kind == "sha512":
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error:
                break
    raise DataMissingError(
        f"{what} states no SHA-512, so what is fetched could not be checked. Nothing was fetched. "
        "Mend: use another registry, or copy an install of yours with --from."
    )


def _at_registry(url: str, name: str, registry: str) -> str:
    """Return a package's address at the registry that was chosen: mirrors hand on foreign ones."""
    parts, own = urlsplit(url), urlsplit(registry)
    if parts.netloc == own.netloc or f"/{name}/-/" not in parts.path:
        return url
    file = parts.path.rpartition("/")[2]
    return urlunsplit(own._replace(path=f"{own.path.rstrip('/')}/{name}/-/{file}"))


def _from_npmrc(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    pairs = [line.partition("=") for line in lines]
    found = [value.strip().strip("\"'") for key, _, value in pairs if key.strip() == "registry"]
    return os.path.expandvars(found[-1]) if found else ""


def _from_npm() -> str:
    npm = shutil.which("npm")
    if npm is None:
        return ""
    told = subprocess.run(
        [npm, "config", "get", "registry"],
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    return told.stdout
