//===- Bundle.h - A bundle read from its directory --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_BUNDLE_H
#define HLA_LIB_RUNTIME_BUNDLE_H

#include "Kernels.h"
#include "Manifest.h"
#include "hla-c/Runtime.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

/// What the C interface's handle points to.
struct HlaBundle {
  /// Reads `directory` and checks every file; throws Failure.
  explicit HlaBundle(const std::string &directory);
  ~HlaBundle();

  /// The kernels in the scope's context, loaded on first use.
  hla::runtime::Kernels &prepare(hla::runtime::Driver &driver,
                                 const hla::runtime::ContextScope &scope);

  void launch(const HlaTensor *arguments, size_t numArguments, void *stream,
              void *scratch, size_t scratchBytes);

  std::string manifestText;
  hla::runtime::Manifest manifest;

private:
  /// An address alone could be that of a context which is no more.
  struct ContextKey {
    hla::runtime::cuda::Context context;
    unsigned long long id;

    bool operator<(const ContextKey &other) const {
      return std::tie(context, id) < std::tie(other.context, other.id);
    }
  };

  hla::runtime::KernelCode code;
  std::mutex mutex; // of the map; a load holds it
  std::map<ContextKey, std::unique_ptr<hla::runtime::Kernels>> loaded;
};

#endif // HLA_LIB_RUNTIME_BUNDLE_H
