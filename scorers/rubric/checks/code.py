"""Calls in the code that an agent wrote; the code is parsed and never run.

That a call stands in a file does not say that it ran, nor on what: it is weak evidence.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.rubric.checks.results import Finding, file_refs, weak

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene

_CODE_BYTES = 1 << 20
_MOST_FILES = 60
_MOST_NAMED = 6
_MAGIC = re.compile(r"^\s*[%!?].*$", re.MULTILINE)

# By the last part of the name that is called.
CALLS: dict[str, frozenset[str]] = {
    "spot_filter_calls": frozenset({
        "gaussian_laplace", "blob_log", "blob_dog", "blob_doh", "difference_of_gaussians",
        "white_tophat", "tophat", "morphologyEx", "laplace", "match_template", "spotiflow",
    }),
    "local_maxima_calls": frozenset({
        "peak_local_max", "maximum_filter", "h_maxima", "local_maxima", "blob_log", "blob_dog",
        "find_peaks", "argrelextrema", "locate", "batch",
    }),
    "normality_calls": frozenset({
        "shapiro", "normaltest", "anderson", "probplot", "qqplot", "lilliefors", "jarque_bera",
    }),
    "test_calls": frozenset({
        "mannwhitneyu", "ttest_ind", "ttest_rel", "ttest_1samp", "wilcoxon", "kruskal", "f_oneway",
        "ks_2samp", "permutation_test", "ranksums", "brunnermunzel", "posthoc_dunn", "mixedlm",
        "tukey_hsd", "pairwise_tukeyhsd", "dunnett", "friedmanchisquare", "alexandergovern",
    }),
    "correction_calls": frozenset({
        "multipletests", "false_discovery_control", "fdrcorrection", "posthoc_dunn", "tukey_hsd",
        "pairwise_tukeyhsd", "dunnett",
    }),
    "watershed_calls": frozenset({
        "watershed", "random_walker", "StarDist2D", "StarDist3D", "Cellpose", "CellposeModel",
        "from_pretrained", "predict_instances",
    }),
    "skeleton_calls": frozenset({
        "skeletonize", "skeletonize_3d", "thin", "medial_axis", "Skeleton", "thinning",
    }),
    "ridge_calls": frozenset({
        "frangi", "sato", "meijering", "hessian_matrix_eigvals", "hessian_matrix", "gabor",
    }),
    "hole_filling_calls": frozenset({
        "binary_fill_holes", "remove_small_holes", "fill_holes", "binary_closing", "closing",
    }),
    "size_filter_calls": frozenset({
        "remove_small_objects", "binary_opening", "opening", "area_opening",
    }),
    "border_calls": frozenset({"clear_border"}),
    "background_calls": frozenset({
        "rolling_ball", "white_tophat", "minimum_filter", "percentile_filter", "median_filter",
        "Background2D", "BaSiC",
    }),
    "registration_calls": frozenset({
        "phase_cross_correlation", "phaseCorrelate", "match_template", "matchTemplate", "ORB",
        "SIFT", "match_descriptors", "ransac",
    }),
    "joint_solution_calls": frozenset({
        "lstsq", "least_squares", "lsqr", "lsmr", "minimum_spanning_tree", "spsolve",
    }),
    "tracking_calls": frozenset({
        "LapTrack", "BayesianTracker", "linear_sum_assignment", "link", "link_df", "lapjv",
    }),
    "correlation_calls": frozenset({
        "pearsonr", "spearmanr", "corrcoef", "pearson_corr_coeff", "manders_coloc_coeff",
        "manders_overlap_coeff",
    }),
}  # fmt: skip


def calls_in(scene: Scene) -> dict[str, Finding]:
    """Return for each kind of call how often and where it stands in submitted code."""
    found: dict[str, dict[str, int]] = {kind: {} for kind in CALLS}
    where: dict[str, list[SubmittedFile]] = {kind: [] for kind in CALLS}
    files = [f for f in scene.submission.files if f.suffix in {".py", ".ipynb"}][:_MOST_FILES]
    parsed = 0
    for file in files:
        names = called_names(_source(file))
        parsed += names is not None
        for kind, wanted in CALLS.items():
            for name in names or []:
                if name in wanted:
                    found[kind][name] = found[kind].get(name, 0) + 1
                    where[kind].append(file)
    return {kind: _finding(found[kind], where[kind], parsed, len(files)) for kind in CALLS}


def called_names(source: str) -> list[str] | None:
    r"""Return the last parts of all names called in some code; None if it is no Python.

    >>> called_names("from scipy import ndimage as n\nn.gaussian_laplace(a, 2)")
    ['gaussian_laplace']
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # What the parser says of code that is malformed, or nested too deeply for it.
        return None
    real = {
        alias.asname: alias.name.rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    names = (_last_part(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [real.get(name, name) for name in names if name]


def _last_part(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _source(file: SubmittedFile) -> str:
    if file.size > _CODE_BYTES:
        return ""
    try:
        text = file.read_bytes(_CODE_BYTES).decode("utf-8", errors="ignore")
    except SubmissionFault:
        return ""
    return "\n".join(_cells(text)) if file.suffix == ".ipynb" else text


def _cells(text: str) -> Iterator[str]:
    """Yield the cells of code of a notebook, without commands to the shell that ran it."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source")
            lines = source if isinstance(source, list) else [source]
            yield _MAGIC.sub("", "".join(line for line in lines if isinstance(line, str)))


def _finding(found: dict[str, int], where: list[SubmittedFile], parsed: int, total: int) -> Finding:
    # These names are our own: they stand in the table above.
    most = sorted(found, key=lambda name: (-found[name], name))[:_MOST_NAMED]
    if not most:
        return weak(f"no such call in {parsed} of {total} files of code that could be parsed.")
    named = ", ".join(f"{name} ({found[name]})" for name in most)
    return weak(f"calls in submitted code: {named}.", file_refs(where))
