"""An agent in ten lines: it asks a model for a program, and runs it."""

import json, os, pathlib, re, subprocess, sys, urllib.request  # noqa: E401, I001

task, folders = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2:]
ask = task + "\n\nAnswer with one Python program; it is called with the two folders, in and out."
body = {"model": os.environ["EVALS_MODEL"], "messages": [{"role": "user", "content": ask}]}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
head = {"Content-Type": "application/json"}
reply = urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head))
text = json.load(reply)["choices"][0]["message"]["content"]
program = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1]
sys.exit(subprocess.run([sys.executable, "-c", program, *folders]).returncode)
