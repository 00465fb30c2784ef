// The primitive by hand; fourth_order.mlir has an operator made of it.
//
//   hla-run scan.mlir --entry=stream --input=random:0,B=2,T=500,H=4 --check
//   hla-compile scan.mlir --target=sm_80 -o DIR

!seq = tensor<?x?x?x64xbf16>
!sums = tensor<?x?x?x64xf32>
!state = tensor<?x?x64x64xf32>

// One scan with a decay, from a carried state to the next,
//
//   S_t = 0.97 S_{t-1} + k_t v_tᵀ      y_t = S_tᵀ q_t
//
// The state, [B,H,d,dv], comes in `s` and the last one is left there: a sequence
// may come in parts, one call a part.
func.func @stream(%q: !seq, %k: !seq, %v: !seq, %s: !state, %y: !seq) -> (!seq, !state) {
  %r, %last = hla.scan decay(0.97) ins(%q, %k, %v : !seq, !seq, !seq) carry(%s : !state)
                       outs(%y, %s : !seq, !state) -> !seq, !state
  return %r, %last : !seq, !state
}
