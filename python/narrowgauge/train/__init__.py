# SPDX-License-Identifier: Apache-2.0
"""Networks trained in 4 and 8 bits: every product of a linear layer, and the optimizer, in this package's arithmetic (docs/training.md).

>>> from narrowgauge import train
>>> data = train.digits("examples/digits")
>>> trainer = train.Trainer(train.load("fp4-all-the-way"), data, steps=300, seed=1)
>>> for _ in range(300):
...     step = trainer.step()
>>> trainer.evaluate()  # loss and accuracy on what is held out
>>> trainer.verify(ng.Engine("rtl"))  # the next step on simulated hardware: None where all weights are equal
"""

from .convolution import Convolution
from .data import DigitImages, Text, digits, text
from .energy import StepEnergy, StepPart, step_energy
from .integers import Integers
from .networks import Characters, Digits
from .packets import Packet, Reduced, lossy_reduce, reciprocals, sent
from .products import Costs, Layer, seed_of
from .recipe import Network, Operand, Optimizer, Product, Recipe, Regularizer, load, recipes, with_sparsity
from .stragglers import Ended, Speedup, Threshold, delays, drop_threshold, ended, speedup
from .trainer import Difference, Noise, Step, Trainer
from .workers import Link, Workers, exact_sum, mean_of_arrived

__all__ = [
    "Characters",
    "Convolution",
    "Costs",
    "Difference",
    "DigitImages",
    "Digits",
    "Ended",
    "Integers",
    "Layer",
    "Link",
    "Network",
    "Noise",
    "Operand",
    "Optimizer",
    "Packet",
    "Product",
    "Recipe",
    "Reduced",
    "Regularizer",
    "Speedup",
    "Step",
    "StepEnergy",
    "StepPart",
    "Text",
    "Threshold",
    "Trainer",
    "Workers",
    "delays",
    "digits",
    "drop_threshold",
    "ended",
    "exact_sum",
    "load",
    "lossy_reduce",
    "mean_of_arrived",
    "recipes",
    "reciprocals",
    "seed_of",
    "sent",
    "speedup",
    "step_energy",
    "text",
    "with_sparsity",
]
