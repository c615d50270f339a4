"""How references are damaged to see what a score notices: one table of kinds by task family."""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING

from evals.calibration import (
    field_files,
    kinetics_files,
    label_files,
    lines,
    mosaic_files,
    movie_files,
    movies,
    tables,
)
from evals.calibration.doses import Pick
from evals.calibration.entries import (
    AND_WHOLE,
    ANY_FILE,
    ONE_FILE,
    SINGLE,
    TURNED_IMAGES,
    Perturbation,
    instances,
    nodes,
    objects,
    rows,
    segments,
)
from evals.calibration.submission_files import remove_files
from evals.calibration.tables import Form

if TYPE_CHECKING:
    from pathlib import Path


def perturbations(family: str) -> tuple[Perturbation, ...]:
    """Return the kinds that apply to a family; none for a family that the table lacks."""
    return TABLE.get(family, ())


def perturb(folder: Path, family: str, kind: str, dose: float, seed: int) -> None:
    """Damage the submission in a folder in place, the same way for the same arguments.

    What is hit at a dose is hit at every higher one as well.

    Raises
    ------
    KeyError
        The family has no such kind.
    """
    known = {entry.kind: entry for entry in perturbations(family)}
    known[kind].damage(folder, Pick(seed, zlib.crc32(kind.encode()), dose))


_WIDTH = "centre lines do not see how wide a line is"
_COUNTING = Form("*.csv", place=("x", "y"))
_MOLECULES = Form("*.txt", ("x", "y"), "intensity", frame="frame", shift_px=0.5, separator="\t")
_PHENOTYPES = Form("*.csv", ("x", "y"), "predicted_phenotype", frame="frame")
_NUCLEI = Form("*.csv", ("z", "y", "x"), "number of gfp puncta", condition="condition")
_PLATE = Form("*.csv", value="mean_nuc_over_cyto_ratio", condition="cell_type")
_COEFFICIENTS = Form("*.csv", value="spearman", condition="condition")
_ONSETS = Form("*.csv", value="start_normalized", condition="condition")

_LINES = (
    segments("drop", lines.without),
    segments("gaps", lines.cut),
    segments("dilate", lines.thickened, _WIDTH),
    TURNED_IMAGES,
    ANY_FILE,
)

TABLE: dict[str, tuple[Perturbation, ...]] = {
    "instance": instances(linked=False),
    "compartments": (
        *instances(linked=True),
        objects("shuffled_ids", label_files.unlink, linked=True),
    ),
    "tracking": (
        nodes("drop", movies.drop),
        nodes("merge", movies.merge),
        nodes("split", movies.split),
        nodes("dilate", movies.dilate),
        Perturbation(
            "shuffled_ids", "frames", partial(movie_files.tracks, change=movies.shuffle_ids)
        ),
        Perturbation(
            "no_links", "tracks", partial(movie_files.tracks, change=movies.unlink), AND_WHOLE
        ),
        Perturbation(
            "one_based_frames", "tracks", partial(movie_files.tracks, change=movies.count_from_one)
        ),
        Perturbation(
            "swapped_axes", "whole", partial(movie_files.tracks, change=movies.turn), SINGLE
        ),
        ONE_FILE,
    ),
    "filaments": _LINES,
    "vessels": _LINES,
    "counting": (
        rows(_COUNTING, "drop", tables.dropped),
        rows(_COUNTING, "split", tables.split),
        rows(_COUNTING, "shuffled_positions", tables.scattered),
        rows(_COUNTING, "swapped_axes", tables.turned),
        rows(_COUNTING, "unit_error", tables.magnified_places),
        ANY_FILE,
    ),
    "smlm": (
        rows(_MOLECULES, "drop", tables.dropped),
        rows(_MOLECULES, "split", tables.split),
        rows(_MOLECULES, "shuffled_positions", tables.scattered),
        rows(_MOLECULES, "shifted", tables.shifted),
        rows(_MOLECULES, "swapped_axes", tables.turned),
        rows(_MOLECULES, "unit_error", tables.magnified_places),
        rows(_MOLECULES, "one_based_frames", tables.from_one),
        ONE_FILE,
    ),
    "microglia": (
        rows(_PHENOTYPES, "drop", tables.dropped),
        rows(_PHENOTYPES, "split", tables.split),
        rows(_PHENOTYPES, "shuffled_ids", tables.exchanged_values),
        rows(_PHENOTYPES, "shuffled_positions", tables.scattered),
        rows(_PHENOTYPES, "one_class", tables.one_class),
        rows(_PHENOTYPES, "swapped_axes", tables.turned),
        rows(_PHENOTYPES, "unit_error", tables.magnified_places),
        rows(_PHENOTYPES, "one_based_frames", tables.from_one),
        ONE_FILE,
    ),
    "puncta": (
        rows(_NUCLEI, "drop", tables.dropped),
        rows(_NUCLEI, "split", tables.split),
        rows(_NUCLEI, "shuffled_ids", tables.exchanged_values),
        rows(_NUCLEI, "shuffled_positions", tables.scattered),
        rows(_NUCLEI, "swapped_axes", tables.turned),
        rows(_NUCLEI, "unit_error", tables.magnified_places),
        rows(_NUCLEI, "omitted_condition", tables.without_a_condition, "conditions"),
        ONE_FILE,
    ),
    "translocation": (
        rows(_PLATE, "drop", tables.dropped),
        rows(_PLATE, "shuffled_ids", tables.exchanged_values),
        rows(_PLATE, "inverted", tables.inverted),
        rows(_PLATE, "unit_error", tables.magnified_values),
        rows(_PLATE, "omitted_condition", tables.without_a_condition, "conditions"),
        ONE_FILE,
    ),
    "golgi": (
        rows(_COEFFICIENTS, "drop", tables.dropped),
        rows(_COEFFICIENTS, "split", tables.split),
        rows(
            _COEFFICIENTS,
            "shuffled_ids",
            tables.exchanged_conditions,
            forgiven="two of the conditions are alike, whose cells may change places",
        ),
        rows(_COEFFICIENTS, "unit_error", tables.magnified_values),
        rows(_COEFFICIENTS, "reversed", tables.reversed_conditions, "whole"),
        rows(_COEFFICIENTS, "omitted_condition", tables.without_a_condition, "conditions"),
        ONE_FILE,
    ),
    "foci": (
        rows(_ONSETS, "drop", tables.dropped),
        rows(_ONSETS, "split", tables.split),
        rows(_ONSETS, "shuffled_ids", tables.exchanged_conditions),
        rows(_ONSETS, "unit_error", tables.magnified_values),
        rows(_ONSETS, "reversed", tables.reversed_conditions, "whole"),
        rows(_ONSETS, "omitted_condition", tables.without_a_condition, "conditions"),
        ONE_FILE,
    ),
    "wound": (
        Perturbation("gaps", "values", partial(field_files.values, change=field_files.blotted)),
        Perturbation(
            "shuffled_positions", "values", partial(field_files.values, change=field_files.shuffled)
        ),
        Perturbation(
            "unit_error",
            "experiments",
            partial(field_files.experiments, change=field_files.magnified),
            AND_WHOLE,
        ),
        Perturbation(
            "reversed",
            "experiments",
            partial(field_files.experiments, change=field_files.against),
            AND_WHOLE,
        ),
        Perturbation(
            "swapped_axes",
            "experiments",
            partial(field_files.experiments, change=field_files.turned),
        ),
        Perturbation("omitted_condition", "experiments", field_files.omit),
        ANY_FILE,
    ),
    "npc": (
        Perturbation("drop", "times", partial(kinetics_files.times, change=kinetics_files.drop)),
        Perturbation(
            "unit_error", "times", partial(kinetics_files.times, change=kinetics_files.magnify)
        ),
        Perturbation(
            "swapped_axes",
            "times",
            partial(kinetics_files.times, change=kinetics_files.exchange_regions),
        ),
        Perturbation(
            "shuffled_ids",
            "times",
            partial(kinetics_files.times, change=kinetics_files.exchange_daughters),
        ),
        Perturbation(
            "shifted",
            "cells",
            partial(kinetics_files.cells, change=kinetics_files.delay),
            AND_WHOLE,
        ),
        Perturbation(
            "one_based_frames",
            "cells",
            partial(kinetics_files.cells, change=kinetics_files.count_from_one),
        ),
        ANY_FILE,
    ),
    "stitching": (
        Perturbation("drop", "tiles", partial(mosaic_files.tiles, change=mosaic_files.blanked)),
        Perturbation("shifted", "tiles", partial(mosaic_files.tiles, change=mosaic_files.moved)),
        Perturbation(
            "shuffled_positions",
            "tiles",
            partial(mosaic_files.tiles, change=mosaic_files.scrambled),
        ),
        Perturbation(
            "shuffled_ids",
            "whole",
            partial(mosaic_files.image, change=mosaic_files.other_channels),
            SINGLE,
        ),
        Perturbation(
            "swapped_axes",
            "whole",
            partial(mosaic_files.image, change=mosaic_files.turned),
            SINGLE,
        ),
        Perturbation("missing_file", "files", partial(remove_files, pattern="*.tif*"), SINGLE),
    ),
}
