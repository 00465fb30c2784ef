// An operator of one's own: fourth order, as a DAG of scans.
//
//   hla-run fourth_order.mlir --entry=fourth_order --input=random:0,B=2,T=500,H=4 --check
//   hla-compile fourth_order.mlir --target=sm_90a -o DIR
//
// With A = (q kᵀ) ⊙ L and L lower triangular, the masked second order is the
// matrix M = (A Aᵀ) ⊙ L. Applied twice, o = M (M v), it relates four scores:
//
//   u_j = Σ_{i≤j} (q_j·k_i) k_i        u = scan(q,k,k)
//   r_j = Σ_{i≤j} (q_j·u_i) v_i        r = scan(q,u,v)
//   o_t = Σ_{j≤t} (q_t·u_j) r_j        o = scan(q,u,r)
//
// The three scans become one loop with three states; `u` and `r` are never
// written to memory, and `u` is computed once.

!seq = tensor<?x?x?x64xbf16>
!sums = tensor<?x?x?x64xf32>

func.func @fourth_order(%q: !seq, %k: !seq, %v: !seq, %o: !seq) -> !seq {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %v, %c0 : !seq
  %T = tensor.dim %v, %c1 : !seq
  %H = tensor.dim %v, %c2 : !seq
  %e = tensor.empty(%B, %T, %H) : !sums
  %u = hla.scan ins(%q, %k, %k : !seq, !seq, !seq) outs(%e : !sums) -> !sums
  %r = hla.scan ins(%q, %u, %v : !seq, !sums, !seq) outs(%e : !sums) -> !sums
  %y = hla.scan ins(%q, %u, %r : !seq, !sums, !sums) outs(%o : !seq) -> !seq
  return %y : !seq
}
