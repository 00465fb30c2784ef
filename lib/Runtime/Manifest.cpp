//===- Manifest.cpp - What a bundle says about itself -----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "DataType.h"
#include "Error.h"
#include "Json.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace hla::runtime;

namespace {

// Sizes that no compiler output reaches, so that a hostile manifest stays
// cheap.
constexpr size_t mostDims = 64;
constexpr size_t mostArguments = 256;
constexpr size_t mostDimensions = 16;
constexpr size_t mostConstraints = 64;
constexpr size_t mostLaunches = 256;
constexpr size_t mostParameters = 512; // of 8 bytes: CUDA's classic 4 KiB
constexpr int64_t largestAlignment = 256;

// Of every CUDA device that a target names.
constexpr int64_t mostThreads = 1024;
constexpr int64_t mostThreadsZ = 64;
constexpr int64_t largestCluster = 16;

// Of every CUDA device that has tensor maps.
constexpr int32_t firstMajorWithMaps = 9;
constexpr size_t mostMapDimensions = 5;
constexpr int64_t largestBox = 256;
constexpr int64_t mapAlignment = 16;

class ManifestParser {
public:
  ManifestParser(const JsonView &root) : root(root) {}

  Manifest parse() {
    checkFormat();
    root.expectKeys({"format", "abi_version", "producer", "entry", "target",
                     "files", "dims", "limits", "arguments", "constraints",
                     "scratch", "launches", "schedule", "constants"});
    root.at("producer").string();
    result.entry = root.at("entry").string();
    if (result.entry.empty())
      root.at("entry").failValue("the name of a function");
    parseTarget(root.at("target"));
    parseFiles(root.at("files"));
    parseDims();
    parseArguments();
    if (auto constraints = root.find("constraints"))
      for (const JsonView &view : constraints->elements(0, mostConstraints))
        parseConstraint(view);
    parseScratch(root.at("scratch"));
    for (const JsonView &launch : root.at("launches").elements(1, mostLaunches))
      parseLaunch(launch);
    // For people and tools; the runtime does not read them.
    if (auto schedule = root.find("schedule"))
      schedule->string();
    if (auto constants = root.find("constants"))
      constants->members();
    return std::move(result);
  }

private:
  /// Comes before everything else: another version may have any other keys.
  void checkFormat() {
    JsonView format = root.at("format");
    if (format.string() != "hla-bundle")
      format.failValue("'hla-bundle'");
    int64_t version =
        root.at("abi_version").integer(0, std::numeric_limits<int32_t>::max());
    if (version != bundleAbiVersion)
      throw Failure(HLA_STATUS_ABI_MISMATCH,
                    "manifest.json: abi_version: expected " +
                        std::to_string(bundleAbiVersion) +
                        " (what this runtime reads), but got " +
                        std::to_string(version));
  }

  void parseTarget(const JsonView &view) {
    view.expectKeys(
        {"arch", "ptx_isa", "compute_capability", "forward_compatible"});
    TargetSpec &target = result.target;
    target.arch = view.at("arch").string();
    target.ptxIsa = view.at("ptx_isa").string();
    checkIsa(view.at("ptx_isa"));
    auto capability = view.at("compute_capability").elements(2, 2);
    target.major = static_cast<int32_t>(capability[0].integer(1, 99));
    target.minor = static_cast<int32_t>(capability[1].integer(0, 9));
    target.forwardCompatible = view.at("forward_compatible").boolean();

    // The suffix 'a' stands for features of one capability only.
    std::string plain =
        "sm_" + std::to_string(target.major) + std::to_string(target.minor);
    bool specific = target.arch == plain + "a";
    if (target.arch != plain && !specific)
      view.at("arch").failValue("'" + plain + "' or '" + plain +
                                "a' (of compute_capability)");
    if (target.forwardCompatible == specific)
      view.at("forward_compatible")
          .failValue(specific ? "false (of " + target.arch + ")"
                              : "true (of " + target.arch + ")");
  }

  static void checkIsa(const JsonView &view) {
    const std::string &text = view.string();
    size_t dot = text.find('.');
    auto isNumber = [](std::string_view digits) {
      return !digits.empty() && digits.size() <= 2 &&
             std::all_of(digits.begin(), digits.end(),
                         [](char c) { return c >= '0' && c <= '9'; });
    };
    if (dot == std::string::npos ||
        !isNumber(std::string_view(text).substr(0, dot)) ||
        !isNumber(std::string_view(text).substr(dot + 1)))
      view.failValue("a PTX ISA version, as '8.7'");
  }

  void parseFiles(const JsonView &view) {
    view.expectKeys({"ptx", "cubin"});
    result.ptx = parseFile(view.at("ptx"));
    if (auto cubin = view.find("cubin"))
      result.cubin = parseFile(*cubin);
  }

  static FileSpec parseFile(const JsonView &view) {
    view.expectKeys({"path", "sha256"});
    FileSpec file;
    file.path = view.at("path").string();
    file.sha256 = view.at("sha256").string();
    // A bundle is one folder: its files are named, nothing is walked to.
    bool plain =
        !file.path.empty() && file.path.size() <= 255 && file.path[0] != '.' &&
        std::none_of(file.path.begin(), file.path.end(), [](unsigned char c) {
          return c == '/' || c == '\\' || c < 0x20 || c == 0x7f;
        });
    if (!plain)
      throw Failure(HLA_STATUS_UNSAFE_PATH,
                    "manifest.json: " + view.at("path").getPlace() +
                        ": expected the name of a file in the bundle (no '/', "
                        "no leading '.'), but got " +
                        quote(file.path));
    bool hex = file.sha256.size() == 64 &&
               std::all_of(file.sha256.begin(), file.sha256.end(), [](char c) {
                 return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
               });
    if (!hex)
      view.at("sha256").failValue("64 lower-case hexadecimal digits");
    return file;
  }

  void parseDims() {
    for (const JsonView &view : root.at("dims").elements(0, mostDims)) {
      const std::string &name = view.string();
      if (!isIdentifier(name) || isFunctionName(name))
        view.failValue("an identifier that is no function's name");
      if (findDim(name) != -1)
        view.failValue("each dimension once", quote(name) + " twice");
      result.dims.push_back({name});
      scope.dims.push_back(name);
    }
    std::optional<JsonView> limits = root.find("limits");
    if (!limits)
      return;
    for (const auto &[name, view] : limits->members()) {
      int32_t index = findDim(name);
      if (index == -1)
        limits->failValue("names of dims", quote(name));
      auto bounds = view.elements(2, 2);
      DimSpec &dim = result.dims[index];
      dim.minimum = bounds[0].integer(0, INT64_MAX);
      dim.maximum = bounds[1].integer(dim.minimum, INT64_MAX);
    }
  }

  int32_t findDim(std::string_view name) const {
    for (size_t i = 0; i < result.dims.size(); ++i)
      if (result.dims[i].name == name)
        return static_cast<int32_t>(i);
    return -1;
  }

  void parseArguments() {
    std::vector<bool> bound(result.dims.size(), false);
    for (const JsonView &view :
         root.at("arguments").elements(0, mostArguments)) {
      ArgumentSpec argument = parseArgument(view);
      for (int32_t dim : argument.dims)
        if (dim != -1)
          bound[dim] = true;
      scope.arguments.push_back(
          {argument.name, static_cast<int32_t>(argument.extents.size())});
      result.arguments.push_back(std::move(argument));
    }
    for (size_t i = 0; i < bound.size(); ++i)
      if (!bound[i])
        root.at("dims").failValue("dims that some argument's shape binds",
                                  quote(result.dims[i].name));
  }

  ArgumentSpec parseArgument(const JsonView &view) {
    view.expectKeys(
        {"name", "access", "dtype", "shape", "alignment", "stride_multiple"});
    ArgumentSpec argument;
    argument.name = view.at("name").string();
    if (!isIdentifier(argument.name))
      view.at("name").failValue("an identifier");
    for (const ArgumentSpec &other : result.arguments)
      if (other.name == argument.name)
        view.at("name").failValue("each argument once",
                                  quote(argument.name) + " twice");

    const std::string &access = view.at("access").string();
    if (access == "read")
      argument.access = HLA_ACCESS_READ;
    else if (access == "write")
      argument.access = HLA_ACCESS_WRITE;
    else if (access == "read_write")
      argument.access = HLA_ACCESS_READ_WRITE;
    else
      view.at("access").failValue("'read', 'write' or 'read_write'");

    argument.dtype = parseType(view.at("dtype"));
    for (const JsonView &extent : view.at("shape").elements(0, mostDimensions))
      parseExtent(extent, argument);
    if (argument.dtype.code == HLA_TYPE_CODE_INT) {
      // Lengths or slots; kernels compute with no other integers.
      if (argument.isWritten())
        view.at("access").failValue("'read' (of an i32 argument)");
      if (argument.extents.size() != 1)
        view.at("shape").failValue("one dimension (of an i32 argument)");
    }

    int64_t elementBytes = argument.dtype.bits / 8;
    argument.alignment =
        parsePowerOfTwo(view.at("alignment"), elementBytes, largestAlignment);
    argument.strideMultiple =
        view.at("stride_multiple").integer(1, largestAlignment);
    return argument;
  }

  static HlaDataType parseType(const JsonView &view) {
    const std::string &name = view.string();
    std::optional<HlaDataType> type = parseDataType(name);
    if (!type)
      throw Failure(HLA_STATUS_UNKNOWN_DTYPE,
                    "manifest.json: " + view.getPlace() + ": expected " +
                        knownDataTypes + ", but got " + quote(name));
    return *type;
  }

  void parseExtent(const JsonView &view, ArgumentSpec &argument) const {
    if (!view.isString()) {
      if (!view.isInteger())
        view.failType("an extent or the name of a dim");
      argument.extents.push_back(view.integer(0, INT64_MAX));
      argument.dims.push_back(-1);
      return;
    }
    int32_t dim = findDim(view.string());
    if (dim == -1)
      view.failValue("an extent or the name of a dim");
    argument.extents.push_back(-1);
    argument.dims.push_back(dim);
  }

  static int64_t parsePowerOfTwo(const JsonView &view, int64_t minimum,
                                 int64_t maximum) {
    int64_t value = view.integer(minimum, maximum);
    if ((value & (value - 1)) != 0)
      view.failValue("a power of two");
    return value;
  }

  void parseConstraint(const JsonView &view) {
    auto sides = view.elements(2, 2);
    for (const JsonView &side : sides)
      if (parseExpression(side).readsArguments())
        side.failValue("an expression of dims alone");
    result.constraints.push_back(
        {parseExpression(sides[0]), parseExpression(sides[1])});
  }

  void parseScratch(const JsonView &view) {
    view.expectKeys({"bytes", "alignment"});
    result.scratchBytes = parseExpression(view.at("bytes"));
    result.scratchAlignment =
        parsePowerOfTwo(view.at("alignment"), 1, largestAlignment);
  }

  Expression parseExpression(const JsonView &view) const {
    if (view.isInteger())
      return Expression::constant(view.integer(INT64_MIN, INT64_MAX));
    if (!view.isString())
      view.failType("an expression (a string or an integer)");
    try {
      return Expression::parse(view.string(), scope);
    } catch (const Failure &failure) {
      throw Failure(failure.getStatus(), "manifest.json: " + view.getPlace() +
                                             ": " + failure.getMessage());
    }
  }

  void parseLaunch(const JsonView &view) {
    view.expectKeys({"kernel", "grid", "block", "cluster",
                     "dynamic_shared_memory", "parameters"});
    LaunchSpec launch;
    launch.kernel = view.at("kernel").string();
    // PTX identifiers may also hold '$'.
    std::string letters = launch.kernel;
    std::replace(letters.begin(), letters.end(), '$', '_');
    if (!isIdentifier(letters))
      view.at("kernel").failValue("the name of a kernel");

    auto grid = view.at("grid").elements(3, 3);
    for (int i = 0; i < 3; ++i)
      launch.grid[i] = parseExpression(grid[i]);
    launch.block = parseSizes(view.at("block"), mostThreads, mostThreads);
    if (launch.block[2] > mostThreadsZ)
      view.at("block").failValue("at most " + std::to_string(mostThreadsZ) +
                                     " threads in z",
                                 std::to_string(launch.block[2]));
    launch.cluster =
        parseSizes(view.at("cluster"), largestCluster, largestCluster);
    launch.dynamicSharedMemory =
        parseExpression(view.at("dynamic_shared_memory"));
    for (const JsonView &parameter :
         view.at("parameters").elements(0, mostParameters))
      launch.parameters.push_back(parseParameter(parameter));
    result.launches.push_back(std::move(launch));
  }

  static std::array<uint32_t, 3> parseSizes(const JsonView &view, int64_t most,
                                            int64_t mostInAll) {
    auto elements = view.elements(3, 3);
    std::array<uint32_t, 3> sizes;
    int64_t product = 1;
    for (int i = 0; i < 3; ++i) {
      sizes[i] = static_cast<uint32_t>(elements[i].integer(1, most));
      product *= sizes[i];
    }
    if (product > mostInAll)
      view.failValue("a product of at most " + std::to_string(mostInAll),
                     std::to_string(product));
    return sizes;
  }

  ParameterSpec parseParameter(const JsonView &view) const {
    using Kind = ParameterSpec::Kind;
    ParameterSpec parameter;
    const std::string &type = view.at("type").string();
    if (type == "pointer") {
      view.expectKeys({"type", getMemoryKey(view)});
      parseMemory(view, parameter);
      return parameter;
    }
    if (type == "tensor_map") {
      parseTensorMap(view, parameter);
      return parameter;
    }
    using Type = std::pair<std::string_view, Kind>;
    constexpr Type types[] = {{"i32", Kind::I32},
                              {"i64", Kind::I64},
                              {"f32", Kind::F32},
                              {"f64", Kind::F64}};
    auto it = std::find_if(std::begin(types), std::end(types),
                           [&](const Type &t) { return t.first == type; });
    if (it == std::end(types))
      view.at("type").failValue(
          "'pointer', 'tensor_map', 'i32', 'i64', 'f32' or 'f64'");
    view.expectKeys({"type", "value"});
    JsonView value = view.at("value");
    parameter.kind = it->second;
    if (parameter.kind == Kind::I32 || parameter.kind == Kind::I64) {
      parameter.value = parseExpression(value);
      return parameter;
    }
    parameter.number = value.number();
    if (parameter.kind == Kind::F32 &&
        std::abs(parameter.number) > std::numeric_limits<float>::max())
      value.failValue("a number in f32's range");
    return parameter;
  }

  /// The key that says what memory a parameter is of.
  static const char *getMemoryKey(const JsonView &view) {
    return view.find("scratch") ? "scratch" : "argument";
  }

  void parseMemory(const JsonView &view, ParameterSpec &parameter) const {
    if (auto scratch = view.find("scratch")) {
      parameter.kind = ParameterSpec::Kind::Scratch;
      parameter.value = parseExpression(*scratch);
      return;
    }
    JsonView argument = view.at("argument");
    const std::string &name = argument.string();
    parameter.kind = ParameterSpec::Kind::Argument;
    auto it =
        std::find_if(result.arguments.begin(), result.arguments.end(),
                     [&](const ArgumentSpec &a) { return a.name == name; });
    if (it == result.arguments.end())
      argument.failValue("the name of an argument");
    parameter.argument = it - result.arguments.begin();
  }

  void parseTensorMap(const JsonView &view, ParameterSpec &parameter) const {
    if (result.target.major < firstMajorWithMaps)
      view.at("type").failValue("no tensor map (of " + result.target.arch +
                                "; devices have them from sm_90 on)");
    view.expectKeys({"type", getMemoryKey(view), "dtype", "shape", "strides",
                     "box", "swizzle"});
    parseMemory(view, parameter);
    TensorMapSpec &map = parameter.map.emplace();
    map.dtype = parseType(view.at("dtype"));
    if (map.dtype.code == HLA_TYPE_CODE_INT)
      view.at("dtype").failValue("a floating type (of a tensor map)");
    checkMapMemory(view, parameter);

    auto shape = view.at("shape").elements(1, mostMapDimensions);
    for (const JsonView &extent : shape)
      map.shape.push_back(parseExpression(extent));
    for (const JsonView &stride :
         view.at("strides").elements(shape.size() - 1, shape.size() - 1))
      map.strides.push_back(parseExpression(stride));

    JsonView swizzle = view.at("swizzle");
    map.swizzle = static_cast<int32_t>(swizzle.integer(0, 128));
    if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 &&
        map.swizzle != 128)
      swizzle.failValue("0, 32, 64 or 128 bytes");

    auto box = view.at("box").elements(shape.size(), shape.size());
    for (const JsonView &extent : box)
      map.box.push_back(static_cast<uint32_t>(extent.integer(1, largestBox)));
    int64_t elementBytes = map.dtype.bits / 8;
    int64_t rowBytes = map.box[0] * elementBytes;
    if (rowBytes % mapAlignment != 0)
      box[0].failValue("a multiple of " +
                       std::to_string(mapAlignment / elementBytes) +
                       " elements (a row of a box is a multiple of 16 bytes)");
    if (map.swizzle != 0 && rowBytes > map.swizzle)
      box[0].failValue("at most " + std::to_string(map.swizzle / elementBytes) +
                       " elements (a row of a box is within the swizzle)");
  }

  void checkMapMemory(const JsonView &view,
                      const ParameterSpec &parameter) const {
    if (parameter.kind == ParameterSpec::Kind::Scratch) {
      if (result.scratchAlignment < mapAlignment)
        view.at("scratch").failValue(
            "scratch with an alignment of at least 16 (for a tensor map)",
            std::to_string(result.scratchAlignment));
      return;
    }
    const ArgumentSpec &argument = result.arguments[parameter.argument];
    if (!isSameType(parameter.map->dtype, argument.dtype))
      view.at("dtype").failValue(quote(getDataTypeName(argument.dtype)) +
                                 " (the type of " + quote(argument.name) + ")");
  }

  const JsonView &root;
  ExpressionScope scope;
  Manifest result;
};

} // namespace

Manifest Manifest::parse(std::string_view text) {
  nlohmann::json json = parseJson(text);
  return ManifestParser(JsonView(json, "")).parse();
}
