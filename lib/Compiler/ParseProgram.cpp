//===- ParseProgram.cpp - reads a program and its names ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Compiler/ParseProgram.h"
#include "hla/Compiler/Diagnostics.h"
#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::hla;

/// The name at `range`, `q` of `%q`; none if it is a number, or no identifier.
static StringAttr getName(MLIRContext *context, SMRange range) {
  if (!range.isValid())
    return {};
  StringRef text(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  auto isOfIdentifier = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (!text.consume_front("%") || text.empty() || llvm::isDigit(text.front()) ||
      !llvm::all_of(text, isOfIdentifier))
    return {};
  return StringAttr::get(context, text);
}

/// The name of the text for an argument of a block or a result of an operation.
static StringAttr getName(const AsmParserState &state, Value value) {
  MLIRContext *context = value.getContext();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const auto *block = state.getBlockDef(argument.getOwner());
    if (block && argument.getArgNumber() < block->arguments.size())
      return getName(context, block->arguments[argument.getArgNumber()].loc);
    return {};
  }
  auto result = cast<OpResult>(value);
  if (const auto *op = state.getOpDef(result.getOwner()))
    for (const auto &group : op->resultGroups)
      if (group.startIndex == result.getResultNumber())
        return getName(context, group.definition.loc);
  return {};
}

/// Names are distinct: a result that is an argument, or another result, has
/// none.
static void nameOperands(func::FuncOp function, const AsmParserState &state) {
  if (function.isDeclaration())
    return;
  llvm::SmallDenseSet<Value> named;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    named.insert(argument);
    StringAttr name = getName(state, argument);
    if (name && !function.getArgAttr(i, EntryABI::kNameAttrName))
      function.setArgAttr(i, EntryABI::kNameAttrName, name);
  }
  Operation *terminator = function.getBody().back().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    if (!named.insert(operand.get()).second)
      continue;
    StringAttr name = getName(state, operand.get());
    if (name && !function.getResultAttr(i, EntryABI::kNameAttrName))
      function.setResultAttr(i, EntryABI::kNameAttrName, name);
  }
}

llvm::Expected<OwningOpRef<ModuleOp>> hla::parseProgram(StringRef path,
                                                        MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return llvm::createStringError("expected a program in '" + path +
                                   "', but got " + buffer.getError().message());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  FirstError firstError(context);
  AsmParserState state;
  Block block;
  ParserConfig config(context);
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return firstError.take(("could not read '" + path + "'").str());
  auto loc = FileLineColLoc::get(context, path, 0, 0);
  OwningOpRef<ModuleOp> module =
      mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
          &block, context, loc);
  if (!module)
    return firstError.take(("could not read '" + path + "'").str());
  for (auto function : module->getOps<func::FuncOp>())
    nameOperands(function, state);
  return module;
}
