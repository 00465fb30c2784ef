// RUN: hla-opt %s --convert-hla-tile-to-linalg --split-input-file --verify-diagnostics

// Layouts and buffers in shared memory are a GPU's.
func.func @layout(%t: tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{failed to legalize operation 'hla_tile.convert_layout'}}
  %s = hla_tile.convert_layout %t : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
  return
}

// -----

func.func @scheduled() {
  // expected-error @+1 {{failed to legalize operation 'hla_tile.barrier'}}
  hla_tile.barrier
  return
}
