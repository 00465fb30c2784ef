//===- Npy.cpp - arrays in .npy files ---------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A file is a magic string, a version, the length of the header, the header and
// the data. The header is a Python dictionary with three keys,
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace hla_run;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef kMagic("\x93NUMPY", 6);
/// More than any array that an entry function takes.
static constexpr size_t kMaxRank = 8;

namespace {

struct Header {
  std::string descr;
  bool isFortran = false;
  llvm::SmallVector<int64_t> shape;
};

/// Reads the dictionary.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  bool parse(Header &header) {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!consume("{"))
      return false;
    while (!consume("}")) {
      std::string key;
      if (!parseString(key) || !consume(":"))
        return false;
      if (key == "descr" && !hasDescr)
        hasDescr = parseString(header.descr);
      else if (key == "fortran_order" && !hasOrder)
        hasOrder = parseBool(header.isFortran);
      else if (key == "shape" && !hasShape)
        hasShape = parseShape(header.shape);
      else
        return false;
      if (!consume(",") && !peek("}"))
        return false;
    }
    return hasDescr && hasOrder && hasShape && text.trim().empty();
  }

private:
  bool peek(StringRef token) {
    return (text = text.ltrim()).starts_with(token);
  }
  bool consume(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }
  bool parseString(std::string &result) {
    StringRef quote = peek("'") ? "'" : "\"";
    if (!consume(quote))
      return false;
    size_t end = text.find(quote);
    if (end == StringRef::npos)
      return false;
    result = text.take_front(end).str();
    text = text.drop_front(end + 1);
    return true;
  }
  bool parseBool(bool &result) {
    if ((result = consume("True")))
      return true;
    return consume("False");
  }
  bool parseShape(llvm::SmallVector<int64_t> &shape) {
    if (!consume("("))
      return false;
    while (!consume(")")) {
      int64_t extent;
      text = text.ltrim();
      if (shape.size() == kMaxRank || text.consumeInteger(10, extent) ||
          extent < 0)
        return false;
      shape.push_back(extent);
      if (!consume(",") && !peek(")"))
        return false;
    }
    return true;
  }

  StringRef text;
};

} // namespace

/// The names under which files hold `type`; the first one is written.
static llvm::ArrayRef<StringRef> getDescrs(DType type) {
  static const StringRef bf16[] = {"<V2", "|V2", "<u2"}, f16[] = {"<f2"},
                         f32[] = {"<f4"}, f64[] = {"<f8"}, i32[] = {"<i4"};
  switch (type) {
  case DType::BF16:
    return bf16;
  case DType::F16:
    return f16;
  case DType::F32:
    return f32;
  case DType::F64:
    return f64;
  case DType::I32:
    return i32;
  }
  llvm_unreachable("unknown element type");
}

/// The element type that a file calls `descr`, for messages.
static std::string describe(StringRef descr) {
  for (DType type :
       {DType::BF16, DType::F16, DType::F32, DType::F64, DType::I32})
    if (llvm::is_contained(getDescrs(type), descr))
      return (getName(type) + " ('" + descr + "')").str();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::printEscapedString(descr.take_front(32), os);
  return "'" + text + "'";
}

llvm::Expected<Array> hla_run::readNpy(StringRef path, DType type) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("expected '" + path + "' " + what);
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail("to be a readable .npy file, but got " +
                file.getError().message());
  StringRef content = (*file)->getBuffer();
  if (!content.consume_front(kMagic) || content.size() < 2)
    return fail("to be a .npy file, but got one that begins otherwise");
  unsigned version = static_cast<uint8_t>(content[0]);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3)
    return fail("to be a .npy file of version 1 to 3, but got " +
                Twine(version));
  content = content.drop_front(2);
  if (content.size() < lengthBytes)
    return fail("to be a complete .npy file, but got one cut in its header");
  size_t length = version == 1
                      ? llvm::support::endian::read16le(content.data())
                      : llvm::support::endian::read32le(content.data());
  content = content.drop_front(lengthBytes);
  if (content.size() < length)
    return fail("to be a complete .npy file, but got one cut in its header");
  Header header;
  if (!HeaderParser(content.take_front(length)).parse(header))
    return fail("to have a .npy header (descr, fortran_order, shape), but got "
                "another");
  if (!llvm::is_contained(getDescrs(type), header.descr))
    return fail("to hold " + getName(type) + " ('" + getDescrs(type).front() +
                "'), but got " + describe(header.descr));
  content = content.drop_front(length);

  std::optional<int64_t> size = getNumElements(header.shape, getBytes(type));
  if (!size || content.size() != *size * getBytes(type))
    return fail("to hold the elements of its shape, " +
                formatShape(header.shape) + ", but got " +
                Twine(content.size()) + " bytes");
  llvm::Expected<Array> array = Array::create(path, type, header.shape);
  if (!array)
    return array.takeError();
  if (!header.isFortran) {
    std::memcpy(array->getData(), content.data(), content.size());
    return array;
  }
  // Walks the elements in C order, `source` being the place in Fortran order.
  size_t bytes = getBytes(type);
  llvm::SmallVector<int64_t> position(header.shape.size(), 0);
  for (int64_t target = 0; target < *size; ++target) {
    int64_t source = 0, stride = 1;
    for (auto [index, extent] : llvm::zip(position, header.shape)) {
      source += index * stride;
      stride *= extent;
    }
    std::memcpy(array->getData() + target * bytes,
                content.data() + source * bytes, bytes);
    for (int64_t i = static_cast<int64_t>(position.size()) - 1; i >= 0; --i) {
      if (++position[i] < header.shape[i])
        break;
      position[i] = 0;
    }
  }
  return array;
}

llvm::Error hla_run::writeNpy(StringRef path, const Array &array) {
  std::string header = ("{'descr': '" + getDescrs(array.getType()).front() +
                        "', 'fortran_order': False, 'shape': (")
                           .str();
  for (int64_t extent : array.getShape())
    header += std::to_string(extent) + ", ";
  header += "), }";
  // Magic, version, length and header, with its newline, are a multiple of 64.
  size_t prefix = kMagic.size() + 4;
  header.resize(llvm::alignTo(prefix + header.size() + 1, 64) - prefix - 1,
                ' ');
  header += '\n';

  std::error_code code;
  llvm::raw_fd_ostream os(path, code, llvm::sys::fs::OF_None);
  if (!code) {
    char length[2];
    llvm::support::endian::write16le(length, header.size());
    os << kMagic << '\1' << '\0' << StringRef(length, 2) << header
       << StringRef(array.getData(), array.getSizeInBytes());
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return llvm::createStringError("expected to write '" + path +
                                   "', but got " + code.message());
  return llvm::Error::success();
}
