"""Checks of statistics: p-values, corrections, numbers of values, sizes of effects."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.tables import read_text
from scorers.rubric.checks import headings
from scorers.rubric.checks.results import Finding, file_refs, weak
from scorers.rubric.checks.significance import LEAST_VALUES, agrees, corrected, effects, p_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorers.files.columns import Columns
    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene

    Floats = NDArray[np.float64]

_MOST_PAIRS, _MOST_COLUMNS, _MOST_GROUPS = 60, 40, 40
# A claim is invented where it is that much smaller than any test of the table gives.
_INVENTED, _NOT_SIGNIFICANT = 0.01, 0.05
_STATED_N = re.compile(r"\b[nN]\s{0,3}=\s{0,3}(\d{1,3}(?:,\d{3})+|\d{1,7})\b")
_REPORTS = frozenset({".md", ".txt", ".rst"})
_REPORT_BYTES = 262_144
_NO_TABLE = Finding("unknown", "No table of comparisons with p-values was handed in.")


@dataclass(frozen=True)
class Comparisons:
    """A table with one comparison of two groups a row."""

    file: SubmittedFile
    table: Columns
    pairs: list[tuple[str, str]]
    p: Floats


def p_recomputed(scene: Scene) -> Finding:
    """Work p-values of comparisons out from the submitted measurements."""
    told = next(_comparisons(scene), None)
    if told is None:
        return _NO_TABLE
    closest = np.full(len(told.pairs), np.inf)
    for file, groups in _measured(scene, told):
        computed = [p_values(groups[a], groups[b], groups) for a, b in told.pairs]
        for test in dict.fromkeys(name for each in computed for name in each):
            values = [each.get(test, np.nan) for each in computed]
            if all(map(agrees, told.p.tolist(), values)):
                says = (
                    f"All {len(told.pairs)} p-values come out of the submitted measurements by "
                    f"the {test} test; the smallest is {told.p.min():.3g}."
                )
                return Finding("pass", says, file_refs([told.file, file], "table"))
        closest = np.minimum(closest, [min(each.values(), default=np.inf) for each in computed])
    if not np.isfinite(closest).all():
        return weak(f"{len(told.pairs)} p-values; their measurements were not found.")
    invented = (told.p < _INVENTED * closest) & (closest > _NOT_SIGNIFICANT)
    says = (
        f"No usual test of the submitted measurements gives the {len(told.pairs)} p-values; "
        f"{int(invented.sum())} claim significance where every test gives more than 0.05."
    )
    refs = file_refs([told.file], "table")
    return Finding("fail", says, refs) if invented.sum() * 2 > len(invented) else weak(says, refs)


def p_adjusted(scene: Scene) -> Finding:
    """Check that corrected p-values follow from the uncorrected ones by a known method."""
    for file, table in scene.tables:
        raw, adjusted = headings.raw_p(table), headings.adjusted_p(table)
        if raw is None or not len(table):
            continue
        p = table.numbers(raw)
        refs = file_refs([file], "table")
        if not _are_p(p):
            continue
        if len(p) == 1:
            return Finding("not_applicable", "One comparison was tested.", refs)
        if adjusted is None:
            continue
        return _correction(p, table.numbers(adjusted), refs)
    return Finding("unknown", "No table has p-values before and after a correction.")


def n_is_rows(scene: Scene) -> Finding:
    """Check stated numbers of values against the rows of the submitted measurements."""
    right = wrong = 0
    refs: list[SubmittedFile] = []
    for file, stated in _stated_numbers(scene):
        for name, number in stated:
            known = {
                counts[name]
                for other, table in scene.tables
                if other is not file
                for counts in headings.groupings(table).values()
                if name in counts and counts.total() > len(counts)
            }
            if known:
                right, wrong = right + (number in known), wrong + (number not in known)
                refs.append(file)
    if not right + wrong:
        return _n_in_reports(scene)
    says = f"{right} of {right + wrong} numbers of values in tables equal the rows measured."
    if not wrong:
        return Finding("pass", says, file_refs(refs, "table"))
    # A number may count what no table lists, unless the rows are those that were tested.
    if p_recomputed(scene).verdict == "pass":
        return Finding("fail", says, file_refs(refs, "table"))
    return weak(says, file_refs(refs, "table"))


def effect_size(scene: Scene) -> Finding:
    """Check that sizes of effects stand beside the comparisons."""
    return _effects(scene, spread=False)


def effect_interval(scene: Scene) -> Finding:
    """Check that sizes of effects stand beside the comparisons, with an interval or deviation."""
    return _effects(scene, spread=True)


def _effects(scene: Scene, *, spread: bool) -> Finding:
    for told in _comparisons(scene):
        columns = headings.effect_columns(told.table)
        bounds = [at for at in headings.spread_columns(told.table) if at not in columns]
        refs = file_refs([told.file], "table")
        for _, groups in _measured(scene, told):
            computed = [effects(groups[a], groups[b]) for a, b in told.pairs]
            for at in columns:
                name = _effect_told(np.abs(told.table.numbers(at)), computed)
                if name:
                    says = (
                        f"{len(told.pairs)} comparisons state the {name} as the submitted "
                        f"measurements give it, with {len(bounds)} columns of intervals or "
                        "deviations."
                    )
                    if spread and not bounds:
                        return weak(says, refs)
                    return Finding("pass", says, refs)
        if columns:
            says = f"{len(columns)} columns of effect sizes that were not worked out here."
            return weak(says, refs)
    return Finding("unknown", "No table has sizes of effects beside comparisons.")


def _effect_told(told: Floats, computed: list[dict[str, float]]) -> str:
    """Return the name of the effect that a column states; empty if it is none that is known."""
    for name in dict.fromkeys(name for each in computed for name in each):
        values = [each.get(name, np.nan) for each in computed]
        if all(map(agrees, told.tolist(), values)):
            return name
    return ""


def _comparisons(scene: Scene) -> Iterator[Comparisons]:
    for file, table in scene.tables:
        pair, at = headings.pair_columns(table), headings.raw_p(table)
        at = headings.adjusted_p(table) if at is None else at
        if pair is None or at is None or not 0 < len(table) <= _MOST_PAIRS:
            continue
        p = table.numbers(at)
        if _are_p(p):
            names = [table.texts(place) for place in pair]
            yield Comparisons(file, table, list(zip(*names, strict=True)), p)


def _measured(scene: Scene, told: Comparisons) -> Iterator[tuple[SubmittedFile, dict[str, Floats]]]:
    """Yield measured quantities by the groups that are compared."""
    wanted = {name for pair in told.pairs for name in pair}
    for file, table in scene.tables:
        for at, counts in headings.groupings(table, _MOST_GROUPS).items():
            if table is told.table or not wanted <= set(counts):
                continue
            if min(counts[name] for name in wanted) < LEAST_VALUES:
                continue
            names = np.array(table.texts(at))
            for values in list(headings.numeric_columns(table).values())[:_MOST_COLUMNS]:
                known = np.isfinite(values)
                groups = {name: values[known & (names == name)] for name in counts}
                groups = {name: one for name, one in groups.items() if len(one) >= LEAST_VALUES}
                if wanted <= set(groups):
                    yield file, groups


def _correction(p: Floats, adjusted: Floats, refs: tuple[str, ...]) -> Finding:
    if not _are_p(adjusted):
        return Finding("unknown", "The corrected p-values are not all numbers.", refs)
    for method, values in corrected(p).items():
        if all(map(agrees, adjusted.tolist(), values.tolist())):
            says = f"The {len(p)} corrected p-values are those of {method}."
            if all(map(agrees, values.tolist(), p.tolist())):
                return weak(f"{says} So are the uncorrected ones, as far as they are told.", refs)
            return Finding("pass", says, refs)
    below = int((adjusted < p * (1 - 1e-3) - 1e-6).sum())
    if below:
        says = f"{below} of {len(p)} corrected p-values are smaller than the uncorrected ones."
        return Finding("fail", says, refs)
    if all(map(agrees, adjusted.tolist(), p.tolist())) and (p < 0.5 / len(p)).any():
        return Finding("fail", f"The {len(p)} corrected p-values equal the uncorrected.", refs)
    return weak(f"The {len(p)} corrected p-values come from no method that is known here.", refs)


def _stated_numbers(scene: Scene) -> Iterator[tuple[SubmittedFile, list[tuple[str, float]]]]:
    """Yield for each table with numbers of values the name of each group and its number."""
    for file, table in scene.tables:
        pair, numbers = headings.pair_columns(table), headings.paired_n(table)
        stated: list[tuple[str, float]] = []
        if pair and numbers:
            for name, number in zip(pair, numbers, strict=True):
                stated += zip(table.texts(name), table.numbers(number).tolist(), strict=True)
        elif (at := headings.n_column(table)) is not None:
            for place, counts in headings.groupings(table, _MOST_GROUPS).items():
                if place != at and counts.total() == len(counts):
                    stated += zip(table.texts(place), table.numbers(at).tolist(), strict=True)
        if stated:
            yield file, stated


def _n_in_reports(scene: Scene) -> Finding:
    known = Counter(len(table) for _, table in scene.tables)
    for _, table in scene.tables:
        for counts in headings.groupings(table).values():
            known.update(counts.values())
    stated: list[int] = []
    for file in scene.submission.files:
        if file.suffix not in _REPORTS or file.size > _REPORT_BYTES:
            continue
        try:
            found = _STATED_N.findall(read_text(file, scene.limits))
        except SubmissionFault:
            continue
        stated += [int(number.replace(",", "")) for number in found]
    fitting = sum(number in known for number in stated)
    return weak(f"{fitting} of {len(stated)} numbers in reports are those of rows or groups.")


def _are_p(values: Floats) -> bool:
    return bool(values.size and np.isfinite(values).all() and ((values >= 0) & (values <= 1)).all())
