//===- HLADialect.td - the hla dialect ---------------------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLADIALECT_TD
#define HLA_DIALECT_HLA_IR_HLADIALECT_TD

include "mlir/IR/DialectBase.td"

def HLA_Dialect : Dialect {
  let name = "hla";
  let cppNamespace = "::mlir::hla";
  let summary = "Higher-order linear attention: causal prefix operators";
  let description = [{
    Causal prefix operators on tensors, independent of any target.

    Every operator is a small DAG of one primitive, the first-order causal scan
    `hla.scan`: with `q_t, k_t ∈ R^d` and `v_t ∈ R^dv` the rows of token `t`,

    ```
    S_t = γ S_{t-1} + k_t v_tᵀ        y_t = S_tᵀ q_t
    ```

    Operators are decomposed into scans (`hla-decompose-operators`), scans that
    walk the same tokens are put into one loop (`hla-fuse-scans`), and a loop
    gets a schedule (`hla-assign-schedule`). Source: Zhang, Qin,
    Wang, Gu, *Higher-order Linear Attention*, arXiv 2510.27258.

    **Shapes.** Sequences are rank 4, `[B,T,H,D]` (`layout(bthd)`, the default)
    or `[B,H,T,D]` (`layout(bhtd)`); `B`, `T` and `H` may be dynamic, the head
    dimensions `d` and `dv` are static. States are `[B,H,d,dv]`, in `f32` (`f64`
    where an operand is `f64`), plain ranked tensors.

    **Sums.** Results of a scan are accumulated in the state's element type and
    rounded once, to the element type of the result.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registers the attributes generated from HLAAttrs.td.
    void registerAttributes();
  }];
}

#endif // HLA_DIALECT_HLA_IR_HLADIALECT_TD
