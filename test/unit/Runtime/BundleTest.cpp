//===- BundleTest.cpp - Tests of a bundle's files ---------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sha256.h"
#include "TestBundle.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <sys/stat.h>
#include <thread>

using namespace hla::runtime;
using namespace hla::runtime::test;
using nlohmann::json;
namespace fs = std::filesystem;

extern "C" const char *getNameFromC();

namespace {

void expectLoadFailure(const std::string &path, HlaStatus status,
                       const std::vector<std::string> &parts) {
  HlaBundle *bundle = nullptr;
  expectFailure(hlaBundleLoad(path.c_str(), &bundle), status, parts);
  EXPECT_EQ(bundle, nullptr);
  hlaBundleDestroy(bundle);
}

void expectManifestFailure(const std::string &text, HlaStatus status,
                           const std::vector<std::string> &parts) {
  TestBundle directory;
  directory.write("manifest.json", text);
  expectLoadFailure(directory.getPath(), status, parts);
}

void expectPathFailure(const std::string &name) {
  SCOPED_TRACE(name);
  json manifest = makeManifest();
  manifest["files"]["ptx"]["path"] = name;
  TestBundle directory(manifest);
  expectLoadFailure(directory.getPath(), HLA_STATUS_UNSAFE_PATH,
                    {"files.ptx.path", "a file in the bundle"});
}

} // namespace

TEST(Bundle, MissingFiles) {
  expectLoadFailure("/nowhere/bundle", HLA_STATUS_FILE_NOT_FOUND,
                    {"bundle '/nowhere/bundle'", "a directory"});
  TestBundle directory;
  fs::remove(directory.getPath() + "/masked.ptx");
  expectLoadFailure(directory.getPath(), HLA_STATUS_FILE_NOT_FOUND,
                    {"masked.ptx"});
  fs::remove(directory.getPath() + "/manifest.json");
  expectLoadFailure(directory.getPath(), HLA_STATUS_FILE_NOT_FOUND,
                    {"manifest.json"});
  directory.write("file", "");
  expectLoadFailure(directory.getPath() + "/file", HLA_STATUS_FILE_UNREADABLE,
                    {"a directory", "a file"});
  HlaBundle *bundle = nullptr;
  expectFailure(hlaBundleLoad(nullptr, &bundle), HLA_STATUS_INVALID_ARGUMENT,
                {"non-null 'directory'"});
  expectFailure(hlaBundleLoad("x", nullptr), HLA_STATUS_INVALID_ARGUMENT,
                {"non-null 'bundle'"});
}

TEST(Bundle, EditedFiles) {
  TestBundle directory;
  std::string ptx = makePtx();
  directory.write("masked.ptx", ptx.substr(0, ptx.size() - 1));
  expectLoadFailure(directory.getPath(), HLA_STATUS_HASH_MISMATCH,
                    {"masked.ptx: expected SHA-256 " + sha256(ptx),
                     "cut or edited",
                     "but got " + sha256(ptx.substr(0, ptx.size() - 1))});
  ptx[10] ^= 1;
  directory.write("masked.ptx", ptx);
  expectLoadFailure(directory.getPath(), HLA_STATUS_HASH_MISMATCH, {});
  directory.write("masked.ptx", "");
  expectLoadFailure(directory.getPath(), HLA_STATUS_HASH_MISMATCH, {});
}

TEST(Bundle, Cubin) {
  json manifest = makeManifest();
  manifest["files"]["cubin"] = {{"path", "masked.cubin"},
                                {"sha256", sha256("code")}};
  TestBundle directory(manifest);
  expectLoadFailure(directory.getPath(), HLA_STATUS_FILE_NOT_FOUND,
                    {"masked.cubin"});
  directory.write("masked.cubin", "edited");
  expectLoadFailure(directory.getPath(), HLA_STATUS_HASH_MISMATCH,
                    {"masked.cubin"});
  directory.write("masked.cubin", "code");
  LoadedBundle bundle(directory);
  HlaTargetInfo target;
  expectSuccess(hlaBundleGetTarget(bundle, &target));
  EXPECT_EQ(target.hasCubin, 1);
}

TEST(Bundle, Paths) {
  for (const char *name : {"", ".", "..", "/etc/passwd", "../masked.ptx",
                           "a/../../b", "a/b.ptx", "..\\b", ".hidden", "a\nb"})
    expectPathFailure(name);
  expectPathFailure(std::string("masked.ptx\0x", 12));
  expectPathFailure(std::string(300, 'a'));

  json manifest = makeManifest();
  for (const char *digest : {"", "abc", "E3B0"}) {
    manifest["files"]["ptx"]["sha256"] = digest;
    TestBundle directory(manifest);
    expectLoadFailure(directory.getPath(), HLA_STATUS_INVALID_VALUE,
                      {"files.ptx.sha256", "64 lower-case"});
  }
}

TEST(Bundle, UnreadableFiles) {
  TestBundle directory;
  // A pipe that nobody writes would block an open.
  fs::remove(directory.getPath() + "/masked.ptx");
  ASSERT_EQ(mkfifo((directory.getPath() + "/masked.ptx").c_str(), 0600), 0);
  expectLoadFailure(directory.getPath(), HLA_STATUS_FILE_UNREADABLE,
                    {"masked.ptx", "a regular file"});
  fs::remove(directory.getPath() + "/masked.ptx");
  fs::create_symlink("/dev/zero", directory.getPath() + "/masked.ptx");
  expectLoadFailure(directory.getPath(), HLA_STATUS_FILE_UNREADABLE, {});

  // Enormous, though it takes no room on the disk.
  fs::remove(directory.getPath() + "/masked.ptx");
  directory.write("masked.ptx", "");
  fs::resize_file(directory.getPath() + "/masked.ptx", uintmax_t(1) << 40);
  expectLoadFailure(directory.getPath(), HLA_STATUS_FILE_UNREADABLE,
                    {"at most 268435456 bytes", "1099511627776"});
  fs::resize_file(directory.getPath() + "/manifest.json", uintmax_t(1) << 40);
  expectLoadFailure(directory.getPath(), HLA_STATUS_FILE_UNREADABLE,
                    {"manifest.json", "1099511627776"});
}

TEST(Bundle, MalformedJson) {
  expectManifestFailure("", HLA_STATUS_MALFORMED_JSON, {"line 1, column 1"});
  expectManifestFailure("{\n  \"format\": tru\n}", HLA_STATUS_MALFORMED_JSON,
                        {"manifest.json: line 2, column"});
  expectManifestFailure("{} {}", HLA_STATUS_MALFORMED_JSON, {"column 4"});
  expectManifestFailure("\xff\xfe", HLA_STATUS_MALFORMED_JSON, {"line 1"});
  expectManifestFailure("{\"a\": \"\x80\"}", HLA_STATUS_MALFORMED_JSON, {});
  expectManifestFailure("{\"a\": 1e999}", HLA_STATUS_MALFORMED_JSON, {});
  expectManifestFailure("{\"a\": NaN}", HLA_STATUS_MALFORMED_JSON, {});
  expectManifestFailure("{\"a\": 1, \"a\": 2}", HLA_STATUS_MALFORMED_JSON,
                        {"'a' twice"});
  expectManifestFailure("[]", HLA_STATUS_WRONG_TYPE, {"an object"});
  expectManifestFailure("7", HLA_STATUS_WRONG_TYPE, {"an object"});

  std::string text = makeManifest().dump();
  for (size_t length = 0; length < text.size(); length += 17)
    expectManifestFailure(text.substr(0, length), HLA_STATUS_MALFORMED_JSON,
                          {"line 1"});
}

TEST(Bundle, DeepJson) {
  for (size_t depth : {40u, 1000000u}) {
    expectManifestFailure(std::string(depth, '['), HLA_STATUS_MALFORMED_JSON,
                          {"levels of nesting"});
    std::string objects;
    for (size_t i = 0; i < depth; ++i)
      objects += "{\"\":";
    expectManifestFailure(objects.substr(0, 4000000), HLA_STATUS_MALFORMED_JSON,
                          {"levels of nesting"});
  }
}

TEST(Bundle, MessagesArePerThread) {
  HlaBundle *bundle = nullptr;
  hlaBundleLoad("/first", &bundle);
  std::thread other([] {
    EXPECT_STREQ(hlaGetLastErrorMessage(), "");
    HlaBundle *bundle = nullptr;
    hlaBundleLoad("/second", &bundle);
    EXPECT_NE(std::string(hlaGetLastErrorMessage()).find("/second"),
              std::string::npos);
  });
  other.join();
  EXPECT_NE(std::string(hlaGetLastErrorMessage()).find("/first"),
            std::string::npos);
}

TEST(Status, Names) {
  EXPECT_STREQ(hlaStatusGetName(HLA_STATUS_OK), "OK");
  EXPECT_STREQ(hlaStatusGetName(HLA_STATUS_HASH_MISMATCH), "HASH_MISMATCH");
  EXPECT_STREQ(getNameFromC(), "STRIDE");
  EXPECT_STREQ(hlaStatusGetName(static_cast<HlaStatus>(999)), "UNKNOWN");
  EXPECT_EQ(hlaGetBundleAbiVersion(), 2);
  EXPECT_STRNE(hlaGetVersion(), "");
}

TEST(DataType, FromName) {
  HlaDataType dtype;
  expectSuccess(hlaDataTypeFromName("f64", &dtype));
  EXPECT_EQ(dtype.code, HLA_TYPE_CODE_FLOAT);
  EXPECT_EQ(dtype.bits, 64);
  EXPECT_EQ(dtype.lanes, 1);
  expectSuccess(hlaDataTypeFromName("i32", &dtype));
  EXPECT_EQ(dtype.code, HLA_TYPE_CODE_INT);
  EXPECT_EQ(dtype.bits, 32);
  expectFailure(hlaDataTypeFromName("f8", &dtype), HLA_STATUS_UNKNOWN_DTYPE,
                {"bf16, f16, f32, f64 or i32", "'f8'"});
}
