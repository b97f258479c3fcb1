# SPDX-License-Identifier: Apache-2.0
"""python -m narrowgauge.page"""

from . import main

raise SystemExit(main())
