# SPDX-License-Identifier: Apache-2.0
"""The program behind `narrowgauge energy --activity`."""

from __future__ import annotations

from ._activity import main

if __name__ == "__main__":
    raise SystemExit(main())
