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

namespace mlir::hla {

/// Keeps the first error that a context emits in this object's life; all other
/// diagnostics of that time are dropped.
class FirstError {
public:
  explicit FirstError(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
              !message.empty())
            return success();
          llvm::raw_string_ostream os(message);
          if (auto loc =
                  diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            os << loc.getFilename().getValue() << ":" << loc.getLine() << ":"
               << loc.getColumn() << ": ";
          os << diagnostic;
          return success();
        }) {}

  /// The error, `file:line:column: message`, or `fallback` if there was none.
  llvm::Error take(llvm::StringRef fallback) const {
    return llvm::createStringError(message.empty() ? fallback.str() : message);
  }

private:
  std::string message;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::hla

#endif // HLA_COMPILER_DIAGNOSTICS_H
