# SPDX-License-Identifier: Apache-2.0
"""Results that are exact before their one rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def odd(near: NDArray[np.float64], lost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers that are narrowed as near + lost is, where near is that rounded to float64 and lost has the sign of what is left.

    They are rounded to odd: an even number with something left gives its place to the neighbour. A second rounding, to 51 bits
    or fewer, then does no harm."""
    even = near.view(np.uint64) & np.uint64(1) == 0
    numbers: NDArray[np.float64] = np.where((lost != 0) & even, np.nextafter(near, np.copysign(np.inf, lost)), near)
    return numbers
