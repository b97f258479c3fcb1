// SPDX-License-Identifier: Apache-2.0
//
// The specification of E2M1 for proofs: what each code stands for, from the format's table (docs/formats.md).
package ng_e2m1_spec_pkg;
  // Twice the value, an integer.
  function automatic logic signed [4:0] twice_value(logic [3:0] code);
    logic signed [4:0] magnitude;
    case (code[2:0])
      3'd4: magnitude = 5'sd4;
`ifdef DOT_E2M1_FALSE
      3'd5: magnitude = 5'sd7;  // wrong on purpose: the proof must notice
`else
      3'd5: magnitude = 5'sd6;
`endif
      3'd6: magnitude = 5'sd8;
      3'd7: magnitude = 5'sd12;
      default: magnitude = {3'd0, code[1:0]};
    endcase
    twice_value = code[3] ? -magnitude : magnitude;
  endfunction
endpackage
