//===- Assembler.cpp - PTX to machine code ----------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "hla/Compiler/WriteFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hla;

std::string hla::findPtxas() {
  if (const char *path = std::getenv("HLA_PTXAS"))
    return path;
  if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  llvm::StringRef usual = "/usr/local/cuda/bin/ptxas";
  return llvm::sys::fs::can_execute(usual) ? usual.str() : std::string();
}

namespace {

/// A temporary file that goes with this object.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix) {
    llvm::SmallString<128> path;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("hla", suffix, path))
      return llvm::createStringError(
          error, "expected a writable directory for temporary files, but got " +
                     error.message());
    return TemporaryFile(path);
  }
  llvm::StringRef getPath() const { return path; }

  llvm::Error write(llvm::StringRef text) const {
    return writeFile(path, text);
  }
  llvm::Expected<std::string> read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return llvm::createStringError(
          buffer.getError(), "expected a readable file '" + path +
                                 "', but got " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

private:
  explicit TemporaryFile(llvm::StringRef path)
      : path(path.str()), remover(this->path) {}

  std::string path;
  llvm::FileRemover remover;
};

int64_t getNumber(llvm::StringRef text, llvm::StringRef pattern) {
  llvm::SmallVector<llvm::StringRef> groups;
  int64_t value = 0;
  if (llvm::Regex(pattern).match(text, &groups))
    groups[1].getAsInteger(10, value);
  return value;
}

} // namespace

/// Reads what `ptxas -v` prints, in this order for every kernel:
///
///   Compiling entry function 'name' for 'arch'
///   N bytes stack frame, N bytes spill stores, N bytes spill loads
///   Used N registers, …, N bytes smem
///
/// Anything else that speaks of performance is a remark.
static void parseReport(llvm::StringRef report, Assembled &result) {
  llvm::SmallVector<llvm::StringRef> lines;
  report.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef> groups;
    if (llvm::Regex("Compiling entry function '([^']+)'")
            .match(line, &groups)) {
      result.resources.emplace_back().kernel = groups[1].str();
    } else if (line.contains("bytes stack frame") &&
               !result.resources.empty()) {
      KernelResources &kernel = result.resources.back();
      kernel.stackFrame = getNumber(line, "([0-9]+) bytes stack frame");
      kernel.spillStores = getNumber(line, "([0-9]+) bytes spill stores");
      kernel.spillLoads = getNumber(line, "([0-9]+) bytes spill loads");
    } else if (line.contains("Used ") && !result.resources.empty()) {
      KernelResources &kernel = result.resources.back();
      kernel.registers = getNumber(line, "Used ([0-9]+) registers");
      kernel.sharedMemory = getNumber(line, "([0-9]+) bytes smem");
    } else if (llvm::Regex("C[0-9][0-9][0-9][0-9]|warning").match(line)) {
      result.remarks += (line + "\n").str();
    }
  }
}

llvm::Expected<Assembled> hla::assemble(llvm::StringRef ptx,
                                        llvm::StringRef arch,
                                        llvm::StringRef ptxas) {
  auto input = TemporaryFile::create("ptx");
  auto output = TemporaryFile::create("cubin");
  auto report = TemporaryFile::create("log");
  for (auto *file : {&input, &output, &report})
    if (!*file)
      return file->takeError();
  if (llvm::Error error = input->write(ptx))
    return error;

  std::string archFlag = ("-arch=" + arch).str();
  llvm::StringRef arguments[] = {
      ptxas, archFlag, "-v", input->getPath(), "-o", output->getPath()};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(
      ptxas, arguments, /*Env=*/std::nullopt,
      {llvm::StringRef(""), report->getPath(), report->getPath()},
      /*SecondsToWait=*/300, /*MemoryLimit=*/0, &message);
  llvm::Expected<std::string> text = report->read();
  if (!text)
    return text.takeError();
  if (status != 0) {
    if (message.empty())
      message = "status " + std::to_string(status) + ": " + *text;
    return llvm::createStringError("expected the assembler '" + ptxas +
                                   "' to accept the code, but got " + message);
  }
  Assembled result;
  parseReport(*text, result);
  llvm::Expected<std::string> cubin = output->read();
  if (!cubin)
    return cubin.takeError();
  result.cubin = std::move(*cubin);
  return result;
}
