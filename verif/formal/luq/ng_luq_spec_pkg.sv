// SPDX-License-Identifier: Apache-2.0
//
// The specification of LUQ's operands and products for proofs: what each code stands for, from the table of formats
// (docs/formats.md). LUQ_FALSE lets it say 24 alpha of the field 5, which is 16, and the proofs must notice.
package ng_luq_spec_pkg;
  // FP4 [1,3,0] in units of alpha.
  function automatic logic signed [12:0] fp4_value(logic [3:0] code);
    logic signed [12:0] magnitude;
    case (code[2:0])
      3'd0: magnitude = 13'sd0;
      3'd1: magnitude = 13'sd1;
      3'd2: magnitude = 13'sd2;
      3'd3: magnitude = 13'sd4;
      3'd4: magnitude = 13'sd8;
`ifdef LUQ_FALSE
      3'd5: magnitude = 13'sd24;  // wrong on purpose
`else
      3'd5: magnitude = 13'sd16;
`endif
      3'd6: magnitude = 13'sd32;
      default: magnitude = 13'sd64;
    endcase
    fp4_value = code[3] ? -magnitude : magnitude;
  endfunction

  // Two's complement, 4 bits.
  function automatic logic signed [12:0] int4_value(logic [3:0] code);
    int4_value = {{9{code[3]}}, code};
  endfunction

  // Their product.
  function automatic logic signed [12:0] product(logic [3:0] int4, logic [3:0] fp4);
    product = int4_value(int4) * fp4_value(fp4);
  endfunction

  // Four times the magnitude of an FP7 [1,4,2] code with E of 0 to 10; a subnormal one is zero in these products.
  function automatic logic [15:0] fp7_magnitude(logic [5:0] code);
    fp7_magnitude = code[5:2] == 4'd0 ? 16'd0 : {13'd0, 1'b1, code[1:0]} << (code[5:2] - 4'd1);
  endfunction
endpackage
