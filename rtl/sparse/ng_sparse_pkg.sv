// SPDX-License-Identifier: Apache-2.0
// Names for the cuts (docs/cuts.md) of the sparse dot products: the place behind the selection, and
// by how much the places of the dense unit behind it are shifted up.
package ng_sparse_pkg;

  localparam int CutSelected = 1;
  localparam int DenseShift = 1;

endpackage
