"""Leave traces, wait for the model's answer, and tell what is to be seen then."""

import json
import os
import sys
import tempfile
import urllib.request
from pathlib import Path

task = Path(sys.argv[1]).read_text(encoding="utf-8")
source, output = map(Path, sys.argv[2:])
scratch = Path(tempfile.gettempdir())
(output / "trace").write_text(task, encoding="utf-8")
(scratch / "trace").write_text(task, encoding="utf-8")

body = {"model": os.environ["EVALS_MODEL"], "messages": [{"role": "user", "content": task}]}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps(body).encode(),
    {"Content-Type": "application/json"},
)
answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]


def texts(folder: Path, pattern: str) -> str:
    """Return what the files of a folder hold, all in one line."""
    return " ".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob(pattern)))


lines = [each.read_bytes().split(b"\0") for each in Path("/proc").glob("[0-9]*/cmdline")]
print("answer:", answer)
print("input:", texts(source, "*"))
print("output:", texts(output, "*"))
print("scratch:", texts(scratch, "trace*"))
print("programs:", sum(line[1:2] == [b"neighbour.py"] for line in lines))
