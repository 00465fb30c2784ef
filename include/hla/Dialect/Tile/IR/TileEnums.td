//===- TileEnums.td - enumerations of the hla_tile dialect -*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILEENUMS_TD
#define HLA_DIALECT_TILE_IR_TILEENUMS_TD

include "hla/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def HLATile_TriangleEnum : I32Enum<"Triangle",
    "the part of a square tile that is kept", [
      I32EnumCase<"Lower", 0, "lower">, I32EnumCase<"Upper", 1, "upper">]> {
  let cppNamespace = "::mlir::hla::tile";
}

def HLATile_TriangleAttr : EnumAttr<HLATile_Dialect, HLATile_TriangleEnum,
                                    "triangle"> {
  let summary = "The part of a square tile that is kept";
  let description = [{`lower`: column ≤ row; `upper`: column ≥ row.}];
  let assemblyFormat = "`<` $value `>`";
}

def HLATile_SpanEnum : I32Enum<"Span",
    "the tokens of a chunk that decay a row", [
      I32EnumCase<"Through", 0, "through">, I32EnumCase<"Before", 1, "before">,
      I32EnumCase<"After", 2, "after">, I32EnumCase<"From", 3, "from">,
      I32EnumCase<"All", 4, "all">]> {
  let cppNamespace = "::mlir::hla::tile";
}

def HLATile_SpanAttr : EnumAttr<HLATile_Dialect, HLATile_SpanEnum, "span"> {
  let summary = "The tokens of a chunk that decay a row";
  let description = [{
    Relative to the row's own: `through` it, `before` it, `after` it, `from` it on;
    or `all`.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def HLATile_DimEnum : I32Enum<"Dim", "a dimension of a tile", [
      I32EnumCase<"Rows", 0, "rows">, I32EnumCase<"Cols", 1, "cols">]> {
  let cppNamespace = "::mlir::hla::tile";
}

def HLATile_DimAttr : EnumAttr<HLATile_Dialect, HLATile_DimEnum, "dim"> {
  let summary = "A dimension of a tile";
  let description = [{`rows`, the tokens of a chunk; or `cols`.}];
  let assemblyFormat = "`<` $value `>`";
}

def HLATile_OrderEnum : I32Enum<"Order",
    "the index that is contiguous in shared memory", [
      I32EnumCase<"Row", 0, "row">, I32EnumCase<"Col", 1, "col">]> {
  let cppNamespace = "::mlir::hla::tile";
}

#endif // HLA_DIALECT_TILE_IR_TILEENUMS_TD
