# SPDX-License-Identifier: Apache-2.0
"""How the package's commands end."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ._core import Error


def exit_code(run: Callable[[], None]) -> int:
    """Of a command that saves at its end only: 0, 2 after an Error, which is said in a sentence, 130 after Ctrl-C."""
    try:
        run()
    except Error as error:
        print(f"narrowgauge: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("narrowgauge: stopped; nothing was saved", file=sys.stderr)
        return 130
    return 0
