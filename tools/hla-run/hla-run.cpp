//===- hla-run.cpp - runs an entry function on arrays -----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Inputs.h"
#include "Npy.h"
#include "Oracle.h"
#include "hla/Compiler/BundleCompiler.h"
#include "hla/Compiler/CPUExecutor.h"
#include "hla/Compiler/Diagnostics.h"
#include "hla/Compiler/ParseProgram.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include <chrono>
#include <cmath>

namespace cl = llvm::cl;
using namespace hla_run;
using namespace mlir::hla;
using llvm::StringRef;
using llvm::Twine;

static cl::OptionCategory category("hla-run options");
static cl::opt<std::string> program(cl::Positional, cl::desc("IN.mlir"),
                                    cl::Required, cl::cat(category));
static cl::opt<std::string> entryName("entry", cl::desc("Function to run"),
                                      cl::value_desc("name"), cl::Required,
                                      cl::cat(category));
static cl::opt<std::string> deviceName("device",
                                       cl::desc("cpu (default) or cuda"),
                                       cl::init("cpu"), cl::cat(category));
static cl::opt<std::string> inputSpec(
    "input",
    cl::desc("One .npy file for each argument that the function reads, "
             "in order; or random:SEED,B=N,T=N,H=N (and N=N sequences) for "
             "normal values, queries and keys scaled to unit length, "
             "log-decays of sigmoids, lengths of any sequences, and "
             "slots of any states"),
    cl::value_desc("a.npy,b.npy,..."), cl::Required, cl::cat(category));
static cl::opt<std::string>
    outputSpec("output",
               cl::desc("One .npy file for each argument or result that the "
                        "function writes, in order"),
               cl::value_desc("o.npy,..."), cl::cat(category));
static cl::opt<bool> isChecked("check",
                               cl::desc("Compare with a float64 evaluation"),
                               cl::cat(category));
static cl::opt<unsigned>
    repeat("repeat", cl::desc("Run N more times and take the median time"),
           cl::value_desc("N"), cl::init(0), cl::cat(category));
static cl::opt<std::string>
    scheduleTarget("schedule-target",
                   cl::desc("Run the program that this target would run (its "
                            "schedule and roundings)"),
                   cl::value_desc("target"), cl::cat(category));
static cl::opt<std::string>
    precision("precision",
              cl::desc("Precision of products: bf16, f16, tf32, bf16x3, f32 "
                       "or f64 "
                       "(default: what the inputs' types say)"),
              cl::value_desc("name"), cl::cat(category));
static cl::opt<std::string> segments(
    "segments",
    cl::desc("Segments of a sequence that are walked at once: a number, "
             "or auto, as many as fill the card (default: one)"),
    cl::value_desc("N"), cl::cat(category));
static cl::opt<int64_t> vectorBits("vector-bits",
                                   cl::desc("CPU: 128, 256 or 512; 0 for the "
                                            "host's"),
                                   cl::init(0), cl::cat(category));
static cl::opt<bool> isSerial("serial", cl::desc("CPU: use one thread"),
                              cl::cat(category));

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

static void printRow(StringRef label, const Twine &text) {
  llvm::outs() << llvm::left_justify(label, 12) << text << "\n";
}

static std::string format(double value, const char *pattern) {
  if (std::isnan(value))
    return "nan";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(pattern, value);
  return text;
}

/// How far a result may be where operands are sums of two bf16: four roundings
/// of at most 2^-17 on the way, and four products without their lowest part, at
/// most 2^-16.
constexpr double kBF16x3Tolerance = 5e-5;

/// How far a result of `rows` rows may be from the exact one, if `type` is what
/// operands are rounded to. The rounding of a score does not average out over
/// few rows: four roundings of u/√6 in quadrature, and three standard
/// deviations of their mean square over the last third of the rows, which
/// carries the norm (derived at `hla.reference.tolerance`).
static double getTolerance(DType type, int64_t rows) {
  auto fewRows = [&](double bound, double unitRoundoff) {
    double expected = 2.0 * unitRoundoff / std::sqrt(6.0);
    double weighty = std::max(1.0, static_cast<double>(rows) / 3.0);
    return rows < 64
               ? std::max(bound,
                          expected * (1.0 + 3.0 / std::sqrt(2.0 * weighty)))
               : bound;
  };
  switch (type) {
  case DType::BF16:
    return fewRows(4e-3, std::ldexp(1.0, -8));
  case DType::F16:
    return fewRows(6e-4, std::ldexp(1.0, -11));
  case DType::F32:
    return 1e-5;
  case DType::F64:
    return 1e-12;
  case DType::I32:
    break; // No result is.
  }
  llvm_unreachable("unknown element type");
}

/// ‖out − ref‖ / ‖ref‖, the numerator alone where the reference is zero.
static double getError(const Array &out, const Tensor &reference) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < out.getSize(); ++i) {
    if (!reference.isUnspecified.empty() && reference.isUnspecified[i])
      continue;
    double delta = out.get(i) - reference.values[i];
    difference += delta * delta;
    norm += reference.values[i] * reference.values[i];
  }
  return std::sqrt(norm > 0 ? difference / norm : difference);
}

/// Multiply-adds that the recurrences need, times two: a scan updates and reads
/// a state of d×dv, once a token.
static double countFlops(mlir::func::FuncOp function, int64_t tokens) {
  double flops = 0;
  function.walk([&](mlir::Operation *op) {
    if (auto scan = llvm::dyn_cast<ScanOp>(op))
      flops += 4.0 * scan.getStateType().getNumElements();
    else if (auto operatorOp = llvm::dyn_cast<Operator>(op))
      for (const OperatorState &state : operatorOp.getStates())
        flops += 4.0 * state.rows * state.cols;
  });
  return flops * tokens;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static llvm::Expected<Arguments> getArguments(const EntryABI &abi) {
  StringRef spec = inputSpec;
  if (spec.consume_front("random:")) {
    llvm::Expected<RandomSpec> random = RandomSpec::parse(spec);
    if (!random)
      return random.takeError();
    return Arguments::fromRandom(abi, *random);
  }
  llvm::SmallVector<StringRef> paths;
  spec.split(paths, ',');
  return Arguments::fromFiles(abi, paths);
}

static llvm::Expected<llvm::SmallVector<StringRef>>
getOutputPaths(const EntryABI &abi) {
  llvm::SmallVector<StringRef> paths;
  if (outputSpec.empty())
    return paths;
  StringRef(outputSpec).split(paths, ',');
  size_t count = llvm::count_if(abi.arguments, [](const ABIArgument &argument) {
    return argument.isWritten();
  });
  if (paths.size() != count)
    return llvm::createStringError("expected " + Twine(count) +
                                   " files in --output (one for each argument "
                                   "or result that '" +
                                   abi.entry + "' writes), but got " +
                                   Twine(paths.size()));
  return paths;
}

/// Runs once, then `repeat` times more on the same inputs. The arrays hold the
/// results of the last run; returns the median time, of the first run if there
/// is no other.
static llvm::Expected<double> runAll(Device &device, const EntryABI &abi,
                                     std::vector<Array> &arrays) {
  // What the function overwrites of its inputs.
  std::vector<std::pair<size_t, Array>> initial;
  for (auto [i, argument] : llvm::enumerate(abi.arguments)) {
    if (argument.role != ABIRole::ReadWrite)
      continue;
    llvm::Expected<Array> copy =
        Array::create(argument.name, arrays[i].getType(), arrays[i].getShape());
    if (!copy)
      return copy.takeError();
    copy->copyFrom(arrays[i]);
    initial.emplace_back(i, std::move(*copy));
  }
  llvm::Expected<double> first = device.run(arrays);
  if (!first || repeat == 0)
    return first;
  std::vector<double> times;
  for (unsigned i = 0; i < repeat; ++i) {
    for (auto [argument, array] : llvm::zip(abi.arguments, arrays))
      if (argument.role == ABIRole::Write)
        array.poison();
    for (auto &[index, array] : initial)
      arrays[index].copyFrom(array);
    llvm::Expected<double> time = device.run(arrays);
    if (!time)
      return time.takeError();
    times.push_back(*time);
  }
  llvm::sort(times);
  return times[times.size() / 2];
}

/// Prints the errors; returns whether all are small enough.
static bool report(const EntryABI &abi, const std::vector<Array> &arrays,
                   llvm::ArrayRef<Tensor> references) {
  // Operands are rounded to the narrowest type among the arguments, or to the
  // precision; tf32 rounds as f16 does.
  DType type = DType::F64;
  for (const ABIArgument &argument : abi.arguments)
    type = std::min(type, getDType(argument.elementType));
  // Inputs of f32 are rounded to tf32 too: eight roundings for four.
  const double more =
      precision == "tf32" && type > DType::F16 ? std::sqrt(2.0) : 1.0;
  if (precision == "bf16")
    type = DType::BF16;
  else if (precision == "tf32" || precision == "f16")
    type = std::min(type, DType::F16);
  else if (precision == "f32" || precision == "bf16x3")
    type = std::min(type, DType::F32);
  bool isGood = true;
  for (auto [index, reference] : llvm::zip(abi.results, references)) {
    const int64_t width = std::max<int64_t>(1, reference.shape.back());
    double tolerance =
        more * getTolerance(type, reference.values.size() / width);
    if (precision == "bf16x3")
      tolerance = std::max(tolerance, kBF16x3Tolerance);
    double error = getError(arrays[index], reference);
    bool isClose = error <= tolerance; // false for NaN
    isGood &= isClose;
    printRow("error",
             abi.arguments[index].name + ": " + format(error, "%.2e") +
                 " (at most " + format(tolerance, "%.0e") + " for " +
                 (precision.empty() ? getName(type) : StringRef(precision)) +
                 ") " + (isClose ? "ok" : "FAIL"));
  }
  return isGood;
}

static llvm::Expected<std::vector<Tensor>>
evaluateReference(mlir::func::FuncOp function,
                  const std::vector<Array> &arrays) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < function.getNumArguments(); ++i) {
    Tensor tensor;
    tensor.shape.assign(arrays[i].getShape().begin(),
                        arrays[i].getShape().end());
    for (int64_t j = 0; j < arrays[i].getSize(); ++j)
      tensor.values.push_back(arrays[i].get(j));
    tensors.push_back(std::move(tensor));
  }
  return evaluate(function, tensors);
}

static llvm::Expected<bool> runProgram() {
  if (deviceName != "cpu" && deviceName != "cuda")
    return llvm::createStringError(
        "expected --device to be cpu or cuda, but got '" + deviceName + "'");
  if (!scheduleTarget.empty() && !TargetInfo::lookup(scheduleTarget))
    return llvm::createStringError("expected --schedule-target to be one of " +
                                   TargetInfo::getNames() + ", but got '" +
                                   scheduleTarget + "'");

  mlir::DialectRegistry registry;
  registerCPUExecutorDialects(registry);
  registerBundleCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = parseProgram(program, &context);
  if (!module)
    return module.takeError();
  auto function = (*module)->lookupSymbol<mlir::func::FuncOp>(entryName);
  if (!function)
    return llvm::createStringError("expected a function '" + entryName +
                                   "' in '" + program + "' (--entry)");
  mlir::FailureOr<EntryABI> abi;
  {
    FirstError firstError(&context);
    abi = getEntryABI(function);
    if (failed(abi))
      return firstError.take("could not determine the arguments of the entry");
  }
  auto outputPaths = getOutputPaths(*abi);
  if (!outputPaths)
    return outputPaths.takeError();
  llvm::Expected<Arguments> arguments = getArguments(*abi);
  if (!arguments)
    return arguments.takeError();
  std::vector<Tensor> references;
  if (isChecked) {
    auto evaluated = evaluateReference(function, arguments->arrays);
    if (!evaluated)
      return evaluated.takeError();
    references = std::move(*evaluated);
  }

  CompileOptions options{scheduleTarget, precision, segments, vectorBits,
                         isSerial};
  mlir::OwningOpRef<mlir::ModuleOp> compiled = (*module).get().clone();
  auto begin = std::chrono::steady_clock::now();
  auto device = deviceName == "cpu"
                    ? compileForCPU(*compiled, entryName, options)
                    : compileForCUDA(*compiled, entryName, options);
  if (!device)
    return device.takeError();
  auto end = std::chrono::steady_clock::now();
  llvm::Expected<double> time = runAll(**device, *abi, arguments->arrays);
  if (!time)
    return time.takeError();

  printRow("entry", entryName.getValue());
  printRow("device", (*device)->describe());
  for (auto [argument, array] : llvm::zip(abi->arguments, arguments->arrays))
    printRow(argument.isRead() ? (argument.isWritten() ? "in, out" : "in")
                               : "out",
             argument.name + ": " + formatShape(array.getShape()) + " " +
                 getName(array.getType()));
  bool isGood = report(*abi, arguments->arrays, references);
  std::chrono::duration<double, std::milli> compileTime = end - begin;
  printRow("compiled", "in " + format(compileTime.count(), "%.0f") + " ms");
  int64_t tokens = 1;
  for (StringRef symbol : {"B", "T", "H"})
    tokens *=
        arguments->sizes.count(symbol) ? arguments->sizes.lookup(symbol) : 1;
  double flops = countFlops(function, tokens);
  printRow("time", format(*time, "%.3f") + " ms, " +
                       format(flops / *time * 1e-6, "%.1f") +
                       " GFLOP/s (4·d·dv a token and scan)" +
                       (repeat ? ", median of " + Twine(repeat) : Twine("")));

  size_t next = 0;
  for (auto [argument, array] : llvm::zip(abi->arguments, arguments->arrays))
    if (argument.isWritten() && next < outputPaths->size())
      if (llvm::Error error = writeNpy((*outputPaths)[next++], array))
        return error;
  return isGood;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  // Options of one letter are not grouped, so that `--hx` is not `-h -x`.
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles an entry function, runs it on arrays and times it.\n\n"
      "  hla-run IN.mlir --entry=f --input=q.npy,k.npy,v.npy --output=o.npy\n"
      "  hla-run IN.mlir --entry=f --input=random:1,B=2,T=100,H=4 --check\n",
      /*Errs=*/nullptr, /*VFS=*/nullptr, /*EnvVar=*/nullptr,
      /*LongOptionsUseDoubleDash=*/true);
  llvm::Expected<bool> isGood = runProgram();
  if (!isGood) {
    llvm::errs() << "hla-run: error: " << llvm::toString(isGood.takeError())
                 << "\n";
    return 1;
  }
  if (!*isGood) {
    llvm::errs() << "hla-run: error: expected results within the limit\n";
    return 1;
  }
  return 0;
}
