// RUN: hla-opt %s --hla-tile-outline-kernels --verify-diagnostics

// expected-error @+1 {{expected a GPU as the module's target (its kernels are outlined), but got #hla.target<"cpu">}}
module attributes {hla.target = #hla.target<"cpu">} {
  func.func @f(%B: index) {
    hla_tile.launch (%b, %h) in (%B, %B) schedule(<chunk = 64, warps = 1, stages = 1, precision = f32>) {
    }
    return
  }
}
