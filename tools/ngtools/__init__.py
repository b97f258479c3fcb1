# SPDX-License-Identifier: Apache-2.0
"""The tools of this source tree that more than one script needs: Yosys and Verilator runs, the characterization of energy."""
