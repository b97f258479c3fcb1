# SPDX-License-Identifier: Apache-2.0
"""Registers described in SystemRDL, and what is derived from them: `source` reads, every other module writes one artefact."""
