//===- FakeCuda.cpp - A CUDA driver without a GPU ---------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Exports the driver functions that the runtime opens, and writes one line a
// call into a log. Device memory is host memory; a launch records its
// parameters, whose sizes come from the PTX, and runs nothing. The fake*
// functions steer it, from C++ and from Python's ctypes alike. Without
// FakeTensorMap.cpp it is a driver from before tensor maps.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

using namespace hla::runtime::test;

namespace {

struct Context {
  int device;
  unsigned long long id;
  bool destroyed = false;
};

struct Module;

struct Function {
  std::string name;
  std::vector<size_t> parameterBytes;
  std::map<int, int> attributes;
};

struct Module {
  Context *context;
  std::map<std::string, Function> functions;
};

struct State {
  std::map<std::string, int> settings = {{"devices", 2},
                                         {"major", 9},
                                         {"minor", 0},
                                         {"driver_version", 12080},
                                         {"shared_optin", 232448},
                                         {"static_shared", 1024}};
  std::map<std::string, int> failures;
  std::string log;
  std::string logCopy;
  std::set<void *> memory;
  std::map<int, std::unique_ptr<Context>> primary;
  std::vector<std::unique_ptr<Context>> others;
  std::set<Module *> modules;
  unsigned long long nextId = 1;
};

std::mutex mutex;
State state;
thread_local std::vector<Context *> stack;

using Lock = std::lock_guard<std::mutex>;

/// Logs a call and returns the result set for it, else 0.
int call(const std::string &symbol, const std::string &details = "") {
  state.log += symbol + (details.empty() ? "" : " " + details) + "\n";
  auto it = state.failures.find(symbol);
  return it == state.failures.end() ? 0 : it->second;
}

/// As above, of a function that needs a current context.
int callInContext(const std::string &symbol, const std::string &details = "") {
  int result = call(symbol, details);
  if (result)
    return result;
  return stack.empty() ? 201 : 0;
}

std::string number(unsigned long long value) { return std::to_string(value); }
std::string number(const void *value) {
  return std::to_string(reinterpret_cast<uintptr_t>(value));
}

/// The kernels of a module, with the attributes that the driver gives them.
void addFunctions(const std::string &text, Module &module) {
  for (auto &[name, parameterBytes] : parseEntries(text)) {
    Function &function = module.functions[name];
    function.name = name;
    function.parameterBytes = parameterBytes;
    function.attributes[1] = state.settings["static_shared"];
    function.attributes[8] = 49152 - state.settings["static_shared"];
  }
}

std::string describeParameters(const Function &function, void **parameters) {
  std::string text;
  for (size_t i = 0; i < function.parameterBytes.size(); ++i) {
    text += i ? "," : "";
    auto *bytes = static_cast<unsigned char *>(parameters[i]);
    for (size_t j = 0; j < function.parameterBytes[i]; ++j) {
      char digits[3];
      std::snprintf(digits, sizeof(digits), "%02x", bytes[j]);
      text += digits;
    }
  }
  return text;
}

int allocate(unsigned long long *data, size_t bytes) {
  if (bytes > size_t(1) << 30)
    return 2;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  state.memory.insert(memory);
  *data = reinterpret_cast<uintptr_t>(memory);
  return 0;
}

int release(unsigned long long data) {
  void *memory = reinterpret_cast<void *>(data);
  if (!state.memory.erase(memory))
    return 1;
  std::free(memory);
  return 0;
}

} // namespace

int hla::runtime::test::recordCall(const std::string &symbol,
                                   const std::string &details) {
  Lock lock(mutex);
  return call(symbol, details);
}

//===----------------------------------------------------------------------===//
// Steering
//===----------------------------------------------------------------------===//

/// Forgets settings, failures and log. Contexts stay: the runtime keeps them.
EXPORT void fakeReset() {
  Lock lock(mutex);
  State fresh;
  state.settings = fresh.settings;
  state.failures.clear();
  state.log.clear();
  stack.clear();
}

EXPORT void fakeSet(const char *name, int value) {
  Lock lock(mutex);
  state.settings[name] = value;
}

/// Makes every call of `symbol` return `result`; 0 undoes it.
EXPORT void fakeFail(const char *symbol, int result) {
  Lock lock(mutex);
  if (result)
    state.failures[symbol] = result;
  else
    state.failures.erase(symbol);
}

EXPORT const char *fakeGetLog() {
  Lock lock(mutex);
  state.logCopy = state.log;
  return state.logCopy.c_str();
}

EXPORT int fakeGetNumAllocations() {
  Lock lock(mutex);
  return static_cast<int>(state.memory.size());
}

EXPORT int fakeGetNumModules() {
  Lock lock(mutex);
  return static_cast<int>(state.modules.size());
}

/// How deep this thread's stack of contexts is.
EXPORT int fakeGetContextDepth() { return static_cast<int>(stack.size()); }

/// Pushes a context of the user's own.
EXPORT void *fakePushContext(int device) {
  Lock lock(mutex);
  state.others.push_back(
      std::make_unique<Context>(Context{device, state.nextId++}));
  stack.push_back(state.others.back().get());
  return stack.back();
}

/// Destroys a context of the user's own with its modules.
EXPORT void fakeDestroyContext(void *context) {
  Lock lock(mutex);
  static_cast<Context *>(context)->destroyed = true;
  stack.clear();
  for (auto it = state.modules.begin(); it != state.modules.end();) {
    if ((*it)->context == context) {
      delete *it;
      it = state.modules.erase(it);
    } else {
      ++it;
    }
  }
}

//===----------------------------------------------------------------------===//
// Start, errors, devices
//===----------------------------------------------------------------------===//

EXPORT int cuInit(unsigned) {
  Lock lock(mutex);
  return call("cuInit");
}

EXPORT int cuDriverGetVersion(int *version) {
  Lock lock(mutex);
  *version = state.settings["driver_version"];
  return call("cuDriverGetVersion");
}

EXPORT int cuGetErrorName(int error, const char **text) {
  switch (error) {
  case 1:
    *text = "CUDA_ERROR_INVALID_VALUE";
    return 0;
  case 2:
    *text = "CUDA_ERROR_OUT_OF_MEMORY";
    return 0;
  case 218:
    *text = "CUDA_ERROR_INVALID_PTX";
    return 0;
  case 700:
    *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return 0;
  default:
    *text = nullptr;
    return 1;
  }
}

EXPORT int cuGetErrorString(int, const char **text) {
  *text = "as the test asked";
  return 0;
}

EXPORT int cuDeviceGetCount(int *count) {
  Lock lock(mutex);
  *count = state.settings["devices"];
  return call("cuDeviceGetCount");
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
  Lock lock(mutex);
  *device = ordinal;
  return call("cuDeviceGet");
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
  Lock lock(mutex);
  std::snprintf(name, size, "Fake GPU %d", device);
  return call("cuDeviceGetName");
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  Lock lock(mutex);
  switch (attribute) {
  case 75:
    *value = state.settings["major"];
    break;
  case 76:
    *value = state.settings["minor"];
    break;
  case 97:
    *value = state.settings["shared_optin"];
    break;
  default:
    return 1;
  }
  return call("cuDeviceGetAttribute");
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

EXPORT int cuDevicePrimaryCtxRetain(Context **context, int device) {
  Lock lock(mutex);
  if (int result = call("cuDevicePrimaryCtxRetain", std::to_string(device)))
    return result;
  std::unique_ptr<Context> &primary = state.primary[device];
  if (!primary)
    primary = std::make_unique<Context>(Context{device, state.nextId++});
  *context = primary.get();
  return 0;
}

EXPORT int cuCtxGetCurrent(Context **context) {
  Lock lock(mutex);
  *context = stack.empty() ? nullptr : stack.back();
  return call("cuCtxGetCurrent");
}

EXPORT int cuCtxGetDevice(int *device) {
  Lock lock(mutex);
  int result = callInContext("cuCtxGetDevice");
  if (!result)
    *device = stack.back()->device;
  return result;
}

EXPORT int cuCtxGetId(Context *context, unsigned long long *id) {
  Lock lock(mutex);
  if (context->destroyed)
    return 709;
  *id = context->id;
  return call("cuCtxGetId");
}

EXPORT int cuCtxPushCurrent_v2(Context *context) {
  Lock lock(mutex);
  if (int result = call("cuCtxPushCurrent"))
    return result;
  stack.push_back(context);
  return 0;
}

EXPORT int cuCtxPopCurrent_v2(Context **context) {
  Lock lock(mutex);
  int result = callInContext("cuCtxPopCurrent");
  if (result)
    return result;
  *context = stack.back();
  stack.pop_back();
  return 0;
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

EXPORT int cuModuleLoadDataEx(Module **module, const void *image,
                              unsigned numOptions, int *options,
                              void **values) {
  Lock lock(mutex);
  std::string text = static_cast<const char *>(image);
  bool cubin = text.compare(0, 4,
                            "\x7f"
                            "ELF") == 0;
  int result = callInContext("cuModuleLoadDataEx", cubin ? "cubin" : "ptx");
  if (!result)
    result = call(cubin ? "cubin" : "ptx");
  if (result) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char *>(values[i]), "ptxas: line 3");
    return result;
  }
  auto loaded = std::make_unique<Module>();
  loaded->context = stack.back();
  addFunctions(text, *loaded);
  *module = loaded.release();
  state.modules.insert(*module);
  return 0;
}

EXPORT int cuModuleUnload(Module *module) {
  Lock lock(mutex);
  int result = callInContext("cuModuleUnload");
  if (result)
    return result;
  if (!state.modules.erase(module))
    return 400;
  delete module;
  return 0;
}

EXPORT int cuModuleGetFunction(Function **function, Module *module,
                               const char *name) {
  Lock lock(mutex);
  if (int result = callInContext("cuModuleGetFunction", name))
    return result;
  auto it = module->functions.find(name);
  if (it == module->functions.end())
    return 500;
  *function = &it->second;
  return 0;
}

EXPORT int cuFuncGetParamInfo(Function *function, size_t index, size_t *offset,
                              size_t *size) {
  Lock lock(mutex);
  if (index >= function->parameterBytes.size())
    return 1;
  *offset = 8 * index;
  *size = function->parameterBytes[index];
  return call("cuFuncGetParamInfo");
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, Function *function) {
  Lock lock(mutex);
  *value = function->attributes[attribute];
  return callInContext("cuFuncGetAttribute");
}

EXPORT int cuFuncSetAttribute(Function *function, int attribute, int value) {
  Lock lock(mutex);
  int result = callInContext("cuFuncSetAttribute",
                             function->name + " " + std::to_string(attribute) +
                                 " " + std::to_string(value));
  if (!result)
    function->attributes[attribute] = value;
  return result;
}

namespace {

struct LaunchAttribute {
  int id;
  char padding[4];
  unsigned values[16];
};

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

std::string list(const unsigned *sizes) {
  return number(sizes[0]) + "," + number(sizes[1]) + "," + number(sizes[2]);
}

int launch(const char *symbol, Function *function, const LaunchConfig &config,
           void **parameters) {
  const unsigned one[] = {1, 1, 1};
  const unsigned *cluster = one;
  for (unsigned i = 0; i < config.numAttributes; ++i)
    if (config.attributes[i].id == 4)
      cluster = config.attributes[i].values;
  int result = callInContext(
      symbol, "kernel=" + function->name + " device=" +
                  std::to_string(stack.empty() ? -1 : stack.back()->device) +
                  " grid=" + list(config.grid) +
                  " block=" + list(config.block) + " cluster=" + list(cluster) +
                  " shared=" + number(config.shared) +
                  " stream=" + number(config.stream) +
                  " parameters=" + describeParameters(*function, parameters));
  if (result)
    return result;
  // The driver refuses what the function's limit does not allow.
  return static_cast<int>(config.shared) > function->attributes[8] ? 1 : 0;
}

} // namespace

EXPORT int cuLaunchKernel(Function *function, unsigned gridX, unsigned gridY,
                          unsigned gridZ, unsigned blockX, unsigned blockY,
                          unsigned blockZ, unsigned shared, void *stream,
                          void **parameters, void **) {
  Lock lock(mutex);
  LaunchConfig config = {{gridX, gridY, gridZ},
                         {blockX, blockY, blockZ},
                         shared,
                         stream,
                         nullptr,
                         0};
  return launch("cuLaunchKernel", function, config, parameters);
}

EXPORT int cuLaunchKernelEx(const LaunchConfig *config, Function *function,
                            void **parameters, void **) {
  Lock lock(mutex);
  return launch("cuLaunchKernelEx", function, *config, parameters);
}

//===----------------------------------------------------------------------===//
// Memory, streams, events
//===----------------------------------------------------------------------===//

EXPORT int cuMemAlloc_v2(unsigned long long *data, size_t bytes) {
  Lock lock(mutex);
  int result = callInContext("cuMemAlloc", number(bytes));
  return result ? result : allocate(data, bytes);
}

EXPORT int cuMemFree_v2(unsigned long long data) {
  Lock lock(mutex);
  int result = callInContext("cuMemFree");
  return result ? result : release(data);
}

EXPORT int cuMemAllocAsync(unsigned long long *data, size_t bytes,
                           void *stream) {
  Lock lock(mutex);
  int result =
      callInContext("cuMemAllocAsync", number(bytes) + " " + number(stream));
  return result ? result : allocate(data, bytes);
}

EXPORT int cuMemFreeAsync(unsigned long long data, void *stream) {
  Lock lock(mutex);
  int result = callInContext("cuMemFreeAsync", number(stream));
  return result ? result : release(data);
}

EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long target, const void *source,
                                size_t bytes, void *stream) {
  Lock lock(mutex);
  int result = callInContext("cuMemcpyHtoDAsync", number(stream));
  if (!result)
    std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return result;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *target, unsigned long long source,
                                size_t bytes, void *stream) {
  Lock lock(mutex);
  int result = callInContext("cuMemcpyDtoHAsync", number(stream));
  if (!result)
    std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return result;
}

EXPORT int cuMemsetD8Async(unsigned long long target, unsigned char value,
                           size_t bytes, void *stream) {
  Lock lock(mutex);
  int result = callInContext("cuMemsetD8Async", number(stream));
  if (!result)
    std::memset(reinterpret_cast<void *>(target), value, bytes);
  return result;
}

EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  Lock lock(mutex);
  *stream = reinterpret_cast<void *>(uintptr_t(0x1000));
  return callInContext("cuStreamCreate", number(flags));
}

EXPORT int cuStreamDestroy_v2(void *stream) {
  Lock lock(mutex);
  return callInContext("cuStreamDestroy", number(stream));
}

EXPORT int cuStreamSynchronize(void *stream) {
  Lock lock(mutex);
  return callInContext("cuStreamSynchronize", number(stream));
}

EXPORT int cuEventCreate(void **event, unsigned) {
  Lock lock(mutex);
  *event = reinterpret_cast<void *>(uintptr_t(0x2000));
  return callInContext("cuEventCreate");
}

EXPORT int cuEventDestroy_v2(void *event) {
  Lock lock(mutex);
  return callInContext("cuEventDestroy", number(event));
}

EXPORT int cuEventRecord(void *event, void *stream) {
  Lock lock(mutex);
  return callInContext("cuEventRecord", number(event) + " " + number(stream));
}

EXPORT int cuEventSynchronize(void *event) {
  Lock lock(mutex);
  return callInContext("cuEventSynchronize", number(event));
}

EXPORT int cuEventElapsedTime(float *milliseconds, void *, void *) {
  Lock lock(mutex);
  *milliseconds = 1.5f;
  return callInContext("cuEventElapsedTime");
}
