// SPDX-License-Identifier: Apache-2.0
// What `extract` looks for behind the full adders: what is left of one where an input is 0.
module ng_half_adder (input x, input y, output sum, output carry);
  \$_XOR_ u_sum (.A(x), .B(y), .Y(sum));
  \$_AND_ u_carry (.A(x), .B(y), .Y(carry));
endmodule
