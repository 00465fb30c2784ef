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

/// A tensor of `types`, which errors call `name`. Its class is `Type`, for a wrong
/// one to be the verifier's, whose error says what is expected, not the parser's.
class HLA_Tensor<string name, list<Type> types, string typeNames>
    : Type<RankedTensorOf<types>.predicate, name # " (a ranked tensor of " # typeNames # ")">;
/// A sequence, `[B,T,H,D]` or `[B,H,T,D]`.
class HLA_Sequence<string name>
    : HLA_Tensor<name, [BF16, F16, F32, F64], "bf16, f16, f32 or f64">;
/// The states of every head, `[B,H,d,dv]`.
class HLA_States<string name> : HLA_Tensor<name, [F32, F64], "f32 or f64">;
/// Where results go, and results: a sequence, then states.
def HLA_Output : HLA_Sequence<"sequence or states">;
/// A logarithm of a decay for every token, `[B,T,H]` or `[B,H,T]`, or for every
/// head, `[H]`.
def HLA_LogDecay : HLA_Tensor<"log_decay", [F32, F64], "f32 or f64">;
/// Integers of sequences.
class HLA_Integers<string name>
    : Type<1DTensorOf<[I32]>.predicate, name # " (a tensor<?xi32>)">;
/// Cumulative lengths, `[N+1]`.
def HLA_Lengths : HLA_Integers<"lengths">;
/// The numbers of states, `[B]` or `[N]`.
def HLA_Slots : HLA_Integers<"slots">;
/// A sequence, scalars of tokens or states, before or after bufferization.
def HLA_Shaped : TypeAlias<AnyTypeOf<[RankedTensorOf<[BF16, F16, F32, F64]>,
    StridedMemRefRankOf<[BF16, F16, F32, F64], [1, 3, 4, 5]>]>,
    "sequence, numbers or states (a ranked tensor or strided memref of bf16, f16, f32 or f64)">;
/// Integers of sequences, before or after bufferization.
class HLA_ShapedIntegers<string name> : TypeAlias<
    AnyTypeOf<[1DTensorOf<[I32]>, StridedMemRefRankOf<[I32], [1]>]>,
    name # " (a tensor<?xi32> or strided memref<?xi32>)">;
def HLA_ShapedLengths : HLA_ShapedIntegers<"lengths">;
def HLA_ShapedSlots : HLA_ShapedIntegers<"slots">;
/// The row of one token: `vector<d x T>`.
class HLA_Row<string name>
    : TypeAlias<FixedVectorOfRankAndType<[1], [BF16, F16, F32, F64]>,
                name # " (a 1D vector of bf16, f16, f32 or f64)">;
/// A number of one token: `vector<1 x T>`.
class HLA_Scalar<string name>
    : AllOfType<[FixedVectorOfRankAndType<[1], [F32, F64]>, VectorOfLength<[1]>],
                name # " (a vector<1xf32> or vector<1xf64>)", "::mlir::VectorType">;
/// The state of one head: `vector<d x dv x f32>`.
def HLA_State : TypeAlias<FixedVectorOfRankAndType<[2], [F32, F64]>,
                          "state (a 2D vector of f32 or f64)">;

class HLA_Op<string mnemonic, list<Trait> traits = []>
    : Op<HLA_Dialect, mnemonic, traits>;

/// An operation that writes its results to `outs` and knows their shapes.
class HLA_DestinationOp<string mnemonic, list<Trait> traits = []>
    : HLA_Op<mnemonic, traits # [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>]> {
  code structuredDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

/// The same, with several lists of operands.
class HLA_StructuredOp<string mnemonic, list<Trait> traits = []>
    : HLA_DestinationOp<mnemonic, traits # [AttrSizedOperandSegments]>;

#endif // HLA_DIALECT_HLA_IR_HLABASE_TD
