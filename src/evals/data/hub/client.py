"""Speaking with the hub: which commit a revision is, which files it has, and one file's bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evals.data.hub.records import Remote, Revision
from evals.errors import EvalsError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from evals.data.hub.sources import Source

T = TypeVar("T")

_TRIES = 5
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
# A server that asks for more than this is better asked again by a later call.
_LONGEST_ASKED_S = 600.0
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class FetchFailedError(EvalsError, ConnectionError):
    """Something could not be fetched from the hub."""


class PullStoppedError(EvalsError):
    """The pull was stopped; what has arrived is kept."""


class CutOffError(ConnectionError):
    """A download that ended before its file did; another try goes on there."""


class Hub:
    """The hub as one source sees it.

    Args:
        source: The release.
        stopped: Set to give up, also in the middle of a pause.
    """

    def __init__(self, source: Source, stopped: threading.Event) -> None:
        self.source = source
        self.repo = source.needs_repo()
        self.stopped = stopped

    def look_up(self, revision: str) -> Revision:
        """Return the commit that a revision stands for now, and the files at it."""
        from huggingface_hub import HfApi

        def ask() -> Revision:
            api = HfApi(endpoint=_endpoint())
            told = api.dataset_info(
                self.repo, revision=revision, files_metadata=True, timeout=_timeout()
            )
            siblings = told.siblings or []
            files = tuple(
                Remote(one.rfilename, one.size, one.lfs.sha256 if one.lfs else None, one.blob_id)
                for one in siblings
                if one.size is not None
            )
            if told.sha is None or len(files) != len(siblings):
                raise FetchFailedError(
                    f"{self.repo}: expected the hub to tell the commit and the files' sizes, got "
                    f"neither from {_endpoint()}. Mend: check HF_ENDPOINT."
                )
            return Revision(self.repo, revision, told.sha, files)

        return self.patiently(f"revision {revision}", ask)

    def open(self, path: str, commit: str, start: int) -> AbstractContextManager[_Answer]:
        """Open a file's bytes from `start` on; the answer tells where it really starts."""
        return _open(self.repo, path, commit, start)

    def patiently(
        self, what: str, ask: Callable[[], T], progress: Callable[[], int] = lambda: 0
    ) -> T:
        """Return what `ask` does, trying again while the hub's trouble may pass.

        Args:
            what: What is asked for, for the error.
            ask: The request.
            progress: What has arrived; tries count only from where it last grew.
        """
        import httpx2

        failed, arrived = 0, progress()
        while True:
            self.check_stopped()
            try:
                return ask()
            except (httpx2.HTTPError, ConnectionError) as error:
                if progress() > arrived:
                    failed, arrived = 0, progress()
                pause = _pause(error, failed)
                failed += 1
                if pause is None or failed >= _TRIES:
                    raise self._told(what, error, failed) from error
            self.stopped.wait(pause)

    def check_stopped(self) -> None:
        """Raise if the pull was stopped."""
        if self.stopped.is_set():
            raise PullStoppedError("The pull was stopped; the next one goes on from there.")

    def _told(self, what: str, error: Exception, tries: int) -> EvalsError:
        """Return what went wrong in words that help to mend it."""
        from huggingface_hub import errors

        page = f"{_endpoint()}/datasets/{self.repo}"
        where = f"{self.repo}, {what}"
        if isinstance(error, EvalsError):
            return error
        if isinstance(error, errors.GatedRepoError):
            return FetchFailedError(
                f"{where}: access is gated, and this account has none. Mend: accept the terms at "
                f"{page}, make a token that may read gated repositories in the account's "
                "settings, and put it into HF_TOKEN."
            )
        if isinstance(error, errors.RevisionNotFoundError):
            return FetchFailedError(
                f"{where}: the hub has no such revision. Mend: choose a tag, branch or commit of "
                f"those at {page}/tree/main."
            )
        if isinstance(error, errors.RepositoryNotFoundError):
            return FetchFailedError(
                f"{where}: the hub has no such data set, or does not show it. Mend: if it is "
                f"private or gated, accept its terms at {page} and put a token into HF_TOKEN."
            )
        if isinstance(error, errors.OfflineModeIsEnabled):
            return FetchFailedError(f"{where}: HF_HUB_OFFLINE is set. Mend: unset it to pull.")
        response = getattr(error, "response", None)
        if response is not None:
            got = f"status {response.status_code}"
            asked = _asked_pause(response.headers)
            got += "" if asked is None else f", to be tried again after {asked:g} s"
        else:
            got = f"{type(error).__name__}: {error}".strip(": ")
        again = f" after {tries} tries" if tries > 1 else ""
        return FetchFailedError(
            f"{where}: expected it from {_endpoint()}, got {got}{again}. Mend: check the network "
            "and call the same command again; it goes on where it was."
        )


class _Answer:
    """An open response: where its bytes start, and the bytes."""

    def __init__(self, start: int, chunks: Iterator[bytes]) -> None:
        self.start = start
        self.chunks = chunks


def _open(repo: str, path: str, commit: str, start: int) -> AbstractContextManager[_Answer]:
    from contextlib import contextmanager

    from huggingface_hub import get_session, hf_hub_url, hf_raise_for_status
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    url = hf_hub_url(repo, path, repo_type="dataset", revision=commit, endpoint=_endpoint())
    # Ranges count the bytes that are sent, so they must be those of the file.
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"

    @contextmanager
    def opened() -> Iterator[_Answer]:
        session = get_session()
        with session.stream("GET", url, headers=headers, timeout=_timeout()) as response:
            hf_raise_for_status(response)
            told = response.headers.get("Content-Range", "")
            goes_on = response.status_code == 206 and told.startswith(f"bytes {start}-")
            if response.status_code == 206 and not goes_on:
                raise CutOffError(f"expected bytes from {start} on, got {told!r}")
            yield _Answer(start if goes_on else 0, response.iter_bytes())

    return opened()


def _endpoint() -> str:
    from huggingface_hub import constants

    return constants.ENDPOINT


def _timeout() -> float:
    from huggingface_hub import constants

    return float(constants.HF_HUB_DOWNLOAD_TIMEOUT)


def _pause(error: Exception, failed: int) -> float | None:
    """Return for how long to wait before another try, or None if another would not help."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    usual: float = min(_FIRST_PAUSE_S * 2.0**failed, _LONGEST_PAUSE_S)
    if isinstance(error, httpx2.TransportError | CutOffError):
        return usual
    if not isinstance(error, HfHubHTTPError) or error.response.status_code not in _PASSING:
        return None
    asked = _asked_pause(error.response.headers)
    if asked is None:
        return usual
    return asked if asked <= _LONGEST_ASKED_S else None


def _asked_pause(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the hub asks to wait for, in either of its two ways, or None."""
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    told = parse_ratelimit_headers(headers)
    if told is not None and told.remaining == 0:
        return float(told.reset_in_seconds)
    after = str(headers.get("Retry-After", "")).strip()
    return float(after) if after.isdecimal() else None
