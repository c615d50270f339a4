"""Under which licences released data are, whom to name, and what they must not be used for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.capsule import Capsule


@dataclass(frozen=True)
class Terms:
    """The terms of one task's data.

    Attributes:
        task: The task's id, or the name of the release if it is one for all of its tasks.
        licence: The licence's name.
        attribution: The record and the paper to name.
        asks: What the licence asks for beside that.
        restricted: What is not allowed or not settled; empty where nothing is known.
    """

    task: str
    licence: str
    attribution: str = "not stated"
    asks: str = ""
    restricted: str = ""


@dataclass(frozen=True)
class _Credit:
    attribution: str
    asks: str = ""
    restricted: str = ""


_BBBC = "cite image set and paper in the wording of the collection's page"
_CREDITS = {
    "he-nuinsseg-nuclear-segmentation": _Credit(
        "NuInsSeg, Zenodo 10518968; doi:10.1038/s41597-024-03117-2"
    ),
    "fluo-helacytonuc-cell-segmentation": _Credit(
        "HeLaCytoNuc, Rodare 3001; doi:10.14278/rodare.3001"
    ),
    "fluo-cell-counting-2d-cellfmcount": _Credit(
        "CellFMCount, Zenodo 17088532; arXiv:2511.19351",
        "copies and adaptations stay under the same licence, marked apart",
    ),
    "cytoplasm-nucleus-translocation-bbbc014": _Credit(
        "BBBC014v1, Broad Bioimage Benchmark Collection; doi:10.1038/nmeth.2083", _BBBC
    ),
    "smlm-localization-dnapaint": _Credit(
        "Endesfelder-Lab/SMLMComputational; doi:10.3389/fbinf.2021.817254",
        "keep the notice of the GPL-3.0",
        "no licence of the data was confirmed: for evaluation only",
    ),
    "wound-healing-speed-kymograph-gigadb100118": _Credit(
        "GigaDB 100118, doi:10.5524/100118; doi:10.1186/s13742-015-0049-6"
    ),
    "microglia-phenotype-progression-bbbc054": _Credit(
        "BBBC054, Broad Bioimage Benchmark Collection; doi:10.1038/nmeth.2083", _BBBC
    ),
    "sim-microtubules-segmentation": _Credit(
        "MicSim_FluoMT, Zenodo 14696280; doi:10.1101/2025.10.23.684152"
    ),
    "3d-fluo-cell-segmentation-lateral-line-idr0079": _Credit(
        "IDR idr0079, doi:10.17867/10000138; doi:10.7554/eLife.55913"
    ),
    "fluo-coronavirus-golgi-colocalization": _Credit(
        "Apollo, doi:10.17863/CAM.78118; doi:10.1126/sciadv.abl4895"
    ),
    "phase-contrast-bacteria-tracking-toiam": _Credit("TOIAM, Zenodo 7260137; arXiv:2411.00552"),
    "confocal-mosaic-4channel-stitching-ctc-model": _Credit(
        "Zenodo 44884; doi:10.1117/12.2222317 (the reference table is from the paper)"
    ),
    "3d-light-sheet-brain-vessels": _Credit("Zenodo 6025935; doi:10.1016/j.crmeth.2023.100436"),
    "fluo-dna-repair-foci-colocalization-sbsst227": _Credit(
        "BioStudies S-BSST227; doi:10.1038/s41556-019-0293-6",
        restricted=(
            "the publisher's figure and the values read from it must not be redistributed: for "
            "evaluation only"
        ),
    ),
    "5D-npc-assembly-kinetics-idr0115": _Credit(
        "IDR idr0115; doi:10.1038/s41586-022-05528-w",
        restricted="where the reference workbook comes from is not settled: for evaluation only",
    ),
    "3d-confocal-puncta-quantification-sbiad1556": _Credit(
        "BioImage Archive S-BIAD1556; doi:10.1038/s41556-025-01745-3"
    ),
}
_OTHERS = {
    "biomnibench_da": Terms(
        "biomnibench_da",
        "CC BY 4.0",
        "BiomniBench-DA; doi:10.64898/2026.05.12.724604; each task's own publication",
        restricted="gated: what was pulled must not be passed on to those who have no access",
    ),
    "bioxarena": Terms(
        "bioxarena",
        "none stated",
        "BioXArena, arXiv:2605.15766; each task's own source",
        restricted="no licence was given: not to be redistributed",
    ),
    "automedbench": Terms(
        "automedbench",
        "each data set's own",
        "AutoMedBench, arXiv:2606.01961; each data set's owner",
        restricted="several data sets are gated or for research only: not to be redistributed",
    ),
}


def released_terms(source: str) -> list[Terms]:
    """Return the terms of a release's data."""
    from evals.biaa.facts import RELEASED

    if source in _OTHERS:
        return [_OTHERS[source]]
    return [_terms(task, facts.licence) for task, facts in RELEASED.items()]


def terms_of(capsules: Sequence[Capsule]) -> list[Terms]:
    """Return the terms of the data of an edition's capsules, each by its own statement."""
    from evals.biaa.facts import facts_of

    return [_terms(capsule.task_id, facts_of(capsule).licence) for capsule in capsules]


def _terms(task: str, licence: str) -> Terms:
    from evals.biaa.facts import RELEASED

    # A capsule that states another licence holds other data than the released task of its id.
    if task not in RELEASED or RELEASED[task].licence != licence:
        return Terms(task, licence)
    credit = _CREDITS[task]
    return Terms(task, licence, credit.attribution, credit.asks, credit.restricted)
