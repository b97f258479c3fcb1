# SPDX-License-Identifier: Apache-2.0
"""`python -m narrowgauge.workload`."""

from . import main

raise SystemExit(main())
