# SPDX-License-Identifier: Apache-2.0
"""From RTL to energy: netlists, stimuli, records, fits (docs/energy_flow.md)."""
