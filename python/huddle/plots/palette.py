# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Colours that people with colour blindness can distinguish: blue and orange, after Okabe and Ito.

A figure for a page uses STAND_INS: unusual colours that the page replaces by its own, which depend on the light or
dark scheme.
"""
import bisect
from dataclasses import dataclass, fields
from typing import Tuple

# Upper limits of the heat map's steps. The middle step has the ratios within 5 % of equal.
RATIO_EDGES = (1 / 4, 1 / 2.5, 1 / 1.6, 1 / 1.25, 1 / 1.05, 1.05, 1.25, 1.6, 2.5, 4)
STEPS = len(RATIO_EDGES) + 1


@dataclass(frozen=True)
class Palette:
    ink: str
    quiet: str  # less important text
    grid: str
    paper: str
    native: str
    peer: str
    huddle: str
    floor: str
    steps: Tuple[str, ...]  # for ratios, from slower to faster
    step_inks: Tuple[str, ...]  # text on the steps
    ramp: Tuple[str, ...]  # for times, from short to long
    ramp_inks: Tuple[str, ...]


LIGHT = Palette(
    ink="#1d2125", quiet="#59636e", grid="#e3e6e9", paper="#ffffff",
    native="#6b7580", peer="#c4540a", huddle="#0b65a8", floor="#8a7bb0",
    steps=("#8a3f04", "#bf660f", "#e59a4c", "#f5c692", "#fbe5cd", "#f1f2f3",
           "#dceaf6", "#b3d2ec", "#7cb2de", "#2f7ab6", "#125a93"),
    step_inks=("#ffffff", "#ffffff") + ("#1d2125",) * 7 + ("#ffffff", "#ffffff"),
    ramp=("#eef3ee", "#d3e4d8", "#a9cdb9", "#78b199", "#3a806b", "#1f6d5b"),
    ramp_inks=("#1d2125",) * 4 + ("#ffffff",) * 2)

DARK = Palette(
    ink="#e4e7ea", quiet="#a0a9b2", grid="#343a41", paper="#16191d",
    native="#a0a9b2", peer="#f0914a", huddle="#5fb0ee", floor="#ab9cd6",
    steps=("#f3b266", "#d4832f", "#a5611a", "#734716", "#44331f", "#262b31",
           "#203448", "#22496d", "#2a669c", "#4d94cf", "#93c7f0"),
    step_inks=("#16191d", "#16191d") + ("#f3f5f7",) * 7 + ("#16191d", "#16191d"),
    ramp=("#1e2a27", "#234039", "#28584d", "#327666", "#4b9a86", "#7cc4b0"),
    ramp_inks=("#f3f5f7",) * 4 + ("#16191d",) * 2)


def step_of(ratio):
    """Returns the step of the heat map for a ratio."""
    return bisect.bisect(RATIO_EDGES, ratio)


def variables(palette):
    """Yields the palette as variables of a style sheet: ("ink", "#1d2125"), ..., ("steps-0", ...)."""
    for field in fields(palette):
        value = getattr(palette, field.name)
        if isinstance(value, str):
            yield field.name.replace("_", "-"), value
        else:
            for number, one in enumerate(value):
                yield f"{field.name.replace('_', '-')}-{number}", one


def _stand_ins():
    taken = iter(range(len(list(variables(LIGHT)))))
    parts = {}
    for field in fields(Palette):
        value = getattr(LIGHT, field.name)
        if isinstance(value, str):
            parts[field.name] = f"#fe01{next(taken):02x}"
        else:
            parts[field.name] = tuple(f"#fe01{next(taken):02x}" for _ in value)
    return Palette(**parts)


STAND_INS = _stand_ins()
