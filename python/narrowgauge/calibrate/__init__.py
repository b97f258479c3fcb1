# SPDX-License-Identifier: Apache-2.0
"""Calibration after training: where to clip a tensor, how many bits a channel or a layer is worth, and losses that make weights easier
to quantize. Needs scipy, as the extra `calibrate` of the package installs it. `docs/calibration.md` says what is computed."""

from __future__ import annotations

from .._kurtosis import UNIFORM, kurtosis, kurtosis_loss
from .adaquant import Rates, TrainedLayer, adaquant
from .budget import Choice, Layer, choose_bits, energy_costs
from .clips import CONSTANTS, CORRECTIONS, PRIORS, Range, allocate_bits, clip_constant, clip_range, correct
from .coded import centred_codes, values_of_codes
from .formats import FormatChoice, choose_formats
from .lp import JointClips, joint_clips, lapq_quantizer, lp_clip, lp_error
from .teacher import weight_distribution_loss

__all__ = [
    "CONSTANTS",
    "CORRECTIONS",
    "PRIORS",
    "UNIFORM",
    "Choice",
    "FormatChoice",
    "JointClips",
    "Layer",
    "Range",
    "Rates",
    "TrainedLayer",
    "adaquant",
    "allocate_bits",
    "centred_codes",
    "choose_bits",
    "choose_formats",
    "clip_constant",
    "clip_range",
    "correct",
    "energy_costs",
    "joint_clips",
    "kurtosis",
    "kurtosis_loss",
    "lapq_quantizer",
    "lp_clip",
    "lp_error",
    "values_of_codes",
    "weight_distribution_loss",
]
