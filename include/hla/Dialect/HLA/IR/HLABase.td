//===- HLABase.td - operands and base classes of operations *- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLABASE_TD
#define HLA_DIALECT_HLA_IR_HLABASE_TD

include "hla/Dialect/HLA/IR/HLAAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A sequence, `[B,T,H,D]` or `[B,H,T,D]`, or states, `[B,H,d,dv]`.
def HLA_Sequence : TensorOf<[BF16, F16, F32, F64]>;
/// The states of every head, `[B,H,d,dv]`.
def HLA_States : TensorOf<[F32, F64]>;
/// A logarithm of a decay for every token, `[B,T,H]` or `[B,H,T]`, or for every
/// head, `[H]`.
def HLA_LogDecay : TensorOf<[F32, F64]>;
/// Cumulative lengths, `[N+1]`.
def HLA_Lengths : 1DTensorOf<[I32]>;
/// A sequence, scalars of tokens or states, before or after bufferization.
def HLA_Shaped : AnyTypeOf<[TensorOf<[BF16, F16, F32, F64]>,
    StridedMemRefRankOf<[BF16, F16, F32, F64], [1, 3, 4]>]>;
/// Cumulative lengths, before or after bufferization.
def HLA_ShapedLengths : AnyTypeOf<[HLA_Lengths, StridedMemRefRankOf<[I32], [1]>]>;
/// The row of one token: `vector<d x T>`.
def HLA_Row : VectorOfRankAndType<[1], [BF16, F16, F32, F64]>;
/// A number of one token: `vector<1 x T>`.
def HLA_Scalar : VectorOfLengthAndType<[1], [F32, F64]>;
/// The state of one head: `vector<d x dv x f32>`.
def HLA_State : VectorOfRankAndType<[2], [F32, F64]>;

class HLA_Op<string mnemonic, list<Trait> traits = []>
    : Op<HLA_Dialect, mnemonic, traits>;

/// An operation that writes its results to `outs` and knows their shapes.
class HLA_StructuredOp<string mnemonic, list<Trait> traits = []>
    : HLA_Op<mnemonic, traits # [
        AttrSizedOperandSegments, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>]> {
  code structuredDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

#endif // HLA_DIALECT_HLA_IR_HLABASE_TD
