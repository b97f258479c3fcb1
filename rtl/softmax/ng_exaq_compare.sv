// SPDX-License-Identifier: Apache-2.0
// A score's thermometer: bit k - 1 says that the key reaches threshold k. All bits of a score that
// is not attended are low. The thresholds come complemented, so that all lanes share the inverters:
// key + ~T + 1 carries out where key >= T.
module ng_exaq_compare #(
  parameter int Bits = 2,  // of a code
  localparam int Steps = (1 << Bits) - 1
) (
  input  logic [15:0]         key_i,
  input  logic                mask_i,          // the score is attended
  input  logic [16*Steps-1:0] thresholds_n_i,  // complemented
  output logic [Steps-1:0]    reached_o
);
  for (genvar k = 0; k < Steps; k++) begin : gen_step
    logic        reaches, unused_half;
    logic [15:0] unused_less;
    // The carry-in as a half-unit column: one addition, hence one carry chain.
    assign {reaches, unused_less, unused_half} = {1'b0, key_i, 1'b1}
        + {1'b0, thresholds_n_i[16*k +: 16], 1'b1};
    assign reached_o[k] = mask_i & reaches;
  end
endmodule
