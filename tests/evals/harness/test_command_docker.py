"""Programs as harnesses in the images that ship, on a real engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.util import SandboxEnvironmentSpec

from evals.biaa import biaa
from evals.edition import open_edition
from evals.errors import SandboxError
from evals.harness.command import command
from evals.workspace.compose import compose_for
from evals.workspace.images import Images, ensure_images
from evals.workspace.setup import prepare_workspace

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    # Inspect passes it to a library that has renamed it.
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]

SCRIPTS = Path(__file__).parents[2] / "data" / "harness"
USAGE = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
COUNTING = """\
Background off, Otsu, one centre for each component.

```python
import pathlib, sys
import tifffile
from skimage import filters, measure, morphology

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.tif*")):
    image = filters.gaussian(tifffile.imread(path).astype(float), 1.5)
    image -= filters.gaussian(image, 30)
    cells = morphology.opening(image > filters.threshold_otsu(image), morphology.disk(2))
    centres = [region.centroid for region in measure.regionprops(measure.label(cells))]
    lines = ["X,Y"] + [f"{x:.1f},{y:.1f}" for y, x in centres]
    (pathlib.Path(sys.argv[2]) / f"{path.stem}.csv").write_text("\\n".join(lines) + "\\n")
```
"""


@pytest.fixture
def images() -> Images:
    try:
        return ensure_images()
    except SandboxError as error:
        pytest.skip(f"no Docker engine to run on: {error.message}")


def report_of(sample: EvalSample) -> Any:
    infos = [event for event in sample.events if event.event == "info"]
    [report] = [event.data for event in infos if event.source == "evals/command"]
    return report


@pytest.mark.usefixtures("own_cache", "images")
def test_a_script_of_ten_lines_solves_a_task(tmp_path: Path) -> None:
    output = ModelOutput.from_content("mockllm/model", COUNTING)
    output.usage = USAGE
    call = "python3 tiny_agent.py {instruction_file} {input_dir} {output_dir}"
    task = biaa(
        tasks="fluo-cell-counting-2d-cellfmcount",
        submissions=str(tmp_path / "submissions"),
        solver=command(call, files=str(SCRIPTS / "tiny_agent.py")),
    )
    model = get_model("mockllm/model", custom_outputs=[output])
    [log] = eval(task, model=model, epochs=1, display="none", log_dir=str(tmp_path / "logs"))
    [sample] = log.samples or []
    assert sample.error is None
    assert report_of(sample)["exit_code"] == 0
    [score] = (sample.scores or {}).values()
    assert isinstance(score.value, dict)
    assert float(score.value["outcome"]) > 0.3  # type: ignore[arg-type]  # a number
    assert log.stats.model_usage["mockllm/model"].total_tokens == 15


def test_two_samples_at_once_do_not_see_each_other(
    make_capsule: Any, images: Images, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def answer(messages: list[Any], *_: Any) -> ModelOutput:
        asked.append(messages[-1].text)
        with anyio.fail_after(200):
            while len(asked) < 2:  # both are at work when either goes on
                await anyio.sleep(0.1)
        output = ModelOutput.from_content("mockllm/model", f"to {messages[-1].text}")
        output.usage = USAGE
        return output

    samples = []
    for name in ("dots", "lines"):
        [opened] = open_edition(str(make_capsule(tmp_path, name)))
        place = SandboxEnvironmentSpec("docker", compose_for(opened.path, images=images))
        facts = {"data_hash": opened.data_hash}
        samples.append(Sample(id=name, input=f"task {name}", metadata=facts, sandbox=place))
    call = "python3 neighbour.py {instruction_file} {input_dir} {output_dir}"
    task = Task(
        dataset=samples,
        setup=prepare_workspace(),
        solver=command(call, files=str(SCRIPTS / "neighbour.py")),
        sandbox="docker",
    )
    model = get_model("mockllm/model", custom_outputs=answer)
    [log] = eval(task, model=model, max_samples=2, display="none", log_dir=str(tmp_path / "logs"))
    assert log.status == "success", log.error
    told = {sample.id: report_of(sample)["stdout"].split("\n") for sample in log.samples or []}
    assert sorted(asked) == ["task dots", "task lines"]
    for name in ("dots", "lines"):
        assert told[name][:5] == [
            f"answer: to task {name}",
            f"input: input of {name}",
            f"output: task {name}",
            f"scratch: task {name}",
            "programs: 1",
        ]


def test_a_program_that_ends_its_endpoint_is_graded_on_what_it_left(
    make_capsule: Any, run_on_docker: Any, tmp_path: Path
) -> None:
    template = "whoami > {output_dir}/half; pkill -f '[m]odel_proxy'; sleep 600"
    ran = run_on_docker(make_capsule(tmp_path), command(template))
    assert ran.sample.error is None
    assert ran.files == {"half": "agent\n"}
    assert "the model endpoint in the sandbox ended" in ran.sample.output.completion
