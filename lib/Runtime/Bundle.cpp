//===- Bundle.cpp - A bundle read from its directory ------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle.h"

#include "Arguments.h"
#include "Error.h"
#include "Sha256.h"

#include <filesystem>
#include <fstream>

using namespace hla::runtime;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

// Far above what a compiler writes, far below what would hurt.
static constexpr uintmax_t largestManifest = 4u << 20;
static constexpr uintmax_t largestCode = 256u << 20;

static std::string readFile(const fs::path &directory, const std::string &name,
                            uintmax_t largest) {
  fs::path path = directory / name;
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    throw Failure(HLA_STATUS_FILE_NOT_FOUND,
                  "expected a file " + name + ", but got none");
  // A pipe or a device would block or never end.
  if (status.type() != fs::file_type::regular)
    throw Failure(HLA_STATUS_FILE_UNREADABLE,
                  "expected " + name + " to be a regular file, but got " +
                      (error ? error.message() : "another kind"));
  uintmax_t size = fs::file_size(path, error);
  if (error || size > largest)
    throw Failure(HLA_STATUS_FILE_UNREADABLE,
                  "expected " + name + " to have at most " +
                      std::to_string(largest) + " bytes, but got " +
                      (error ? error.message() : std::to_string(size)));
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(size)))
    throw Failure(HLA_STATUS_FILE_UNREADABLE,
                  "expected to read " + std::to_string(size) + " bytes of " +
                      name + ", but got fewer");
  return text;
}

static std::string readCode(const fs::path &directory, const FileSpec &file) {
  std::string text = readFile(directory, file.path, largestCode);
  std::string digest = sha256(text);
  if (digest != file.sha256)
    throw Failure(HLA_STATUS_HASH_MISMATCH,
                  file.path + ": expected SHA-256 " + file.sha256 +
                      " (of the manifest; the file was cut or edited), but "
                      "got " +
                      digest);
  return text;
}

HlaBundle::HlaBundle(const std::string &directory) {
  try {
    std::error_code error;
    fs::file_status status = fs::status(directory, error);
    if (status.type() == fs::file_type::not_found)
      throw Failure(HLA_STATUS_FILE_NOT_FOUND,
                    "expected a directory, but got none");
    if (status.type() != fs::file_type::directory)
      throw Failure(HLA_STATUS_FILE_UNREADABLE,
                    "expected a directory, but got " +
                        (error ? error.message() : "a file"));
    manifestText = readFile(directory, "manifest.json", largestManifest);
    manifest = Manifest::parse(manifestText);
    code.ptx = readCode(directory, manifest.ptx);
    if (manifest.cubin)
      code.cubin = readCode(directory, *manifest.cubin);
  } catch (const Failure &failure) {
    throw Failure(failure.getStatus(),
                  "bundle '" + directory + "': " + failure.getMessage());
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static unsigned long long getContextId(const Driver &driver,
                                       cuda::Context context) {
  unsigned long long id = 0;
  if (driver.getApi().ctxGetId)
    driver.check(driver.getApi().ctxGetId(context, &id),
                 "query of a context's identity");
  return id;
}

HlaBundle::~HlaBundle() {
  if (loaded.empty())
    return;
  const cuda::Api &api = Driver::load().getApi();
  for (auto &[key, kernels] : loaded) {
    // A context that was destroyed took its modules with it.
    unsigned long long id = 0;
    bool alive =
        !api.ctxGetId ||
        (api.ctxGetId(key.context, &id) == cuda::success && id == key.id);
    if (alive && api.ctxPushCurrent(key.context) == cuda::success) {
      kernels.reset();
      cuda::Context popped = nullptr;
      api.ctxPopCurrent(&popped);
    } else {
      kernels->abandon();
    }
  }
}

Kernels &HlaBundle::prepare(Driver &driver, const ContextScope &scope) {
  ContextKey key = {scope.getContext(),
                    getContextId(driver, scope.getContext())};
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Kernels> &kernels = loaded[key];
  if (!kernels) {
    try {
      kernels =
          std::make_unique<Kernels>(driver, manifest, code, scope.getDevice());
    } catch (...) {
      loaded.erase(key);
      throw;
    }
  }
  return *kernels;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

namespace {

/// Memory allocated and freed in the order of a stream.
class StreamMemory {
public:
  StreamMemory(const Driver &driver, uint64_t bytes, cuda::Stream stream)
      : driver(driver), stream(stream) {
    driver.check(driver.getApi().memAllocAsync(&data, bytes, stream),
                 "allocation of " + std::to_string(bytes) +
                     " bytes of scratch");
  }
  ~StreamMemory() { driver.getApi().memFreeAsync(data, stream); }
  StreamMemory(const StreamMemory &) = delete;
  StreamMemory &operator=(const StreamMemory &) = delete;

  cuda::DevicePtr getData() const { return data; }

private:
  const Driver &driver;
  cuda::Stream stream;
  cuda::DevicePtr data = 0;
};

} // namespace

void HlaBundle::launch(const HlaTensor *arguments, size_t numArguments,
                       void *stream, void *scratch, size_t scratchBytes) {
  ExpressionValues values = bindShapes(manifest, arguments, numArguments);
  BoundMemory memory = bindMemory(manifest, arguments, values);
  LaunchPlan plan = planLaunch(manifest, arguments, values);
  if (scratch)
    checkScratch(manifest, plan, memory, scratch, scratchBytes);

  Driver &driver = Driver::get();
  ContextScope scope(driver, memory.device);
  Kernels &kernels = prepare(driver, scope);
  for (const PlannedLaunch &launch : plan.launches)
    kernels.allowSharedMemory(launch.index, launch.dynamicSharedMemory);

  auto cudaStream = static_cast<cuda::Stream>(stream);
  auto base = reinterpret_cast<cuda::DevicePtr>(scratch);
  std::optional<StreamMemory> owned;
  if (!scratch && plan.scratchBytes != 0 && !plan.launches.empty()) {
    owned.emplace(driver, plan.scratchBytes, cudaStream);
    base = owned->getData();
  }
  kernels.launch(plan, cudaStream, base);
}
