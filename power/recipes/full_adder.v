// SPDX-License-Identifier: Apache-2.0
// What `extract` looks for: a full adder as add.v, ng_int_mult and ng_ripple_add write it.
module ng_full_adder (input x, input y, input z, output sum, output carry);
  wire half, both, any, passed;
  \$_XOR_ u_half (.A(x), .B(y), .Y(half));
  \$_XOR_ u_sum (.A(half), .B(z), .Y(sum));
  \$_AND_ u_both (.A(x), .B(y), .Y(both));
  \$_OR_ u_any (.A(x), .B(y), .Y(any));
  \$_AND_ u_passed (.A(z), .B(any), .Y(passed));
  \$_OR_ u_carry (.A(both), .B(passed), .Y(carry));
endmodule
