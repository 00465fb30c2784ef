//===- Diagnostics.h - errors of a context as messages ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_COMPILER_DIAGNOSTICS_H
#define HLA_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::hla {

/// Keeps the first error, and all remarks, that a context emits in this
/// object's life; other diagnostics of that time are dropped.
class FirstError {
public:
  explicit FirstError(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
            remarks.push_back(print(diagnostic));
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              message.empty())
            message = print(diagnostic);
          return success();
        }) {}

  /// The error, `file:line:column: message`, or `fallback` if there was none.
  llvm::Error take(llvm::StringRef fallback) const {
    return llvm::createStringError(message.empty() ? fallback.str() : message);
  }

  /// The remarks, in the same form.
  std::vector<std::string> takeRemarks() { return std::move(remarks); }

private:
  static std::string print(Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      os << loc.getFilename().getValue() << ":" << loc.getLine() << ":"
         << loc.getColumn() << ": ";
    os << diagnostic;
    return text;
  }

  std::string message;
  std::vector<std::string> remarks;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::hla

#endif // HLA_COMPILER_DIAGNOSTICS_H
