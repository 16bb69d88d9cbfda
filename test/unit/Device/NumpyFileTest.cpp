//===- NumpyFileTest.cpp - Tests of the .npy reader and writer ------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/NumpyFile.h"
#include "wavesmith/Support/FileTransaction.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace wavesmith;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// A file with this header text, put together by hand.
std::vector<uint8_t> makeFile(std::string header, size_t dataBytes,
                              unsigned major = 1, unsigned minor = 0) {
  std::vector<uint8_t> file = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  file.push_back(major);
  file.push_back(minor);
  for (unsigned i = 0; i < (major == 1 ? 2 : 4); ++i)
    file.push_back(header.size() >> (8 * i) & 0xff);
  file.insert(file.end(), header.begin(), header.end());
  for (size_t i = 0; i < dataBytes; ++i)
    file.push_back(uint8_t(i));
  return file;
}

std::string header(std::string descr, std::string order, std::string shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order +
         ", 'shape': " + shape + ", }          \n";
}

std::string errorOf(llvm::ArrayRef<uint8_t> file) {
  llvm::Expected<HostArray> array = parseNumpy(file);
  return array ? "success" : llvm::toString(array.takeError());
}

TEST(NumpyFile, Versions) {
  for (unsigned major : {1, 2, 3}) {
    llvm::Expected<HostArray> array =
        parseNumpy(makeFile(header("'<f8'", "False", "(2, 3)"), 48, major));
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(array->type, ElementType::F64);
    EXPECT_EQ(formatShape(array->shape), "[2, 3]");
    ASSERT_EQ(array->bytes.size(), 48u);
    EXPECT_EQ(array->bytes[0], 0);
    EXPECT_EQ(array->bytes[47], 47);
  }
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "False", "()"), 8, 4)),
            ".npy format version 4.0 is not supported; 1.0, 2.0 and 3.0 are");
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "False", "()"), 8, 1, 1)),
            ".npy format version 1.1 is not supported; 1.0, 2.0 and 3.0 are");
}

TEST(NumpyFile, Types) {
  for (auto [descr, type, bytes] :
       {std::tuple("'<f8'", ElementType::F64, 8u),
        std::tuple("'<f4'", ElementType::F32, 4u),
        std::tuple("'<i8'", ElementType::I64, 8u),
        std::tuple("\"<i4\"", ElementType::I32, 4u),
        std::tuple("'<f2'", ElementType::F16, 2u),
        std::tuple("'<V2'", ElementType::BF16, 2u),
        std::tuple("'|V2'", ElementType::BF16, 2u),
        std::tuple("'<V1'", ElementType::F8E4M3FNUZ, 1u),
        std::tuple("'|V1'", ElementType::F8E4M3FNUZ, 1u)}) {
    llvm::Expected<HostArray> array =
        parseNumpy(makeFile(header(descr, "False", "(5,)"), 5 * bytes));
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(array->type, type);
  }
  EXPECT_EQ(errorOf(makeFile(header("'>f8'", "False", "(1,)"), 8)),
            "elements '>f8' are big endian; little endian is needed (<f8, <f4, "
            "<f2, <i8, <i4 or <V2)");
  EXPECT_EQ(errorOf(makeFile(header("'<u2'", "False", "(1,)"), 2)),
            "elements '<u2' are not supported; <f8, <f4, <f2, <i8, <i4, V2 "
            "(bf16) and V1 (f8E4M3FNUZ) are");
  EXPECT_EQ(errorOf(makeFile(header("'|O'", "False", "(1,)"), 8)),
            "elements '|O' are not supported; <f8, <f4, <f2, <i8, <i4, V2 "
            "(bf16) and V1 (f8E4M3FNUZ) are");
  EXPECT_EQ(errorOf(makeFile(header("[('a', '<f8')]", "False", "(1,)"), 8)),
            "malformed .npy header: structured elements are not supported");
}

TEST(NumpyFile, Order) {
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "True", "(2, 2)"), 32)),
            "the array is in Fortran order; C order is needed "
            "(numpy.ascontiguousarray)");
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "True", "(4,)"), 32)), "success");
}

TEST(NumpyFile, Sizes) {
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "False", "(2, 3)"), 47)),
            "truncated .npy file: shape [2, 3] of f64 takes 48 bytes after the "
            "header, got 47");
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "False", "(2, 3)"), 49)),
            "oversized .npy file: shape [2, 3] of f64 takes 48 bytes after the "
            "header, got 49");
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "False", "()"), 8)), "success");
  EXPECT_EQ(errorOf(makeFile(header("'<f8'", "False", "(0, 5)"), 0)),
            "success");
  EXPECT_EQ(errorOf(makeFile(
                header("'<f8'", "False", "(4294967296, 4294967296)"), 0)),
            "malformed .npy header: shape [4294967296, 4294967296] is too "
            "large");
}

TEST(NumpyFile, MalformedHeaders) {
  for (llvm::StringRef text :
       {"",
        "{",
        "}",
        "{}",
        "[]",
        "{'descr'",
        "{'descr': ",
        "{'descr': '<f8",
        "{'descr': '<f8'}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3 4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': "
        "(99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} x",
        "{'descr': '<f8', 'descr': '<f8'}",
        "{'what': 1}",
        "{1: 2}",
        "{'descr': '<f8' 'fortran_order': False}"})
    EXPECT_THAT(errorOf(makeFile(text.str(), 24)),
                StartsWith("malformed .npy header: "))
        << text.str();
  EXPECT_EQ(
      errorOf(makeFile(header("'<f8'", "False", "(3)"), 24)),
      "malformed .npy header: expected ',' before \"), }          \\0A\"");
}

// Every beginning of a good file, and every single byte of it changed: an error
// or an array, and never a crash.
TEST(NumpyFile, DamagedFiles) {
  std::vector<uint8_t> good = makeFile(header("'<f8'", "False", "(2, 3)"), 48);
  ASSERT_EQ(errorOf(good), "success");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_THAT(errorOf(llvm::ArrayRef(good).take_front(size)),
                HasSubstr("truncated .npy file"))
        << size;
  size_t headerEnd = good.size() - 48;
  for (size_t i = 0; i < headerEnd; ++i)
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::vector<uint8_t> damaged = good;
      damaged[i] = uint8_t(byte);
      llvm::Expected<HostArray> array = parseNumpy(damaged);
      if (!array) {
        EXPECT_FALSE(llvm::toString(array.takeError()).empty());
        continue;
      }
      EXPECT_EQ(getArrayBytes(array->type, array->shape),
                std::optional<uint64_t>(array->bytes.size()));
    }
  EXPECT_EQ(errorOf(makeFile(std::string(65535, '('), 0)),
            "malformed .npy header: expected '{' before "
            "\"((((((((((((((((((((((((\"");
}

TEST(NumpyFile, RoundTrip) {
  for (llvm::SmallVector<int64_t, 4> shape :
       {llvm::SmallVector<int64_t, 4>{}, {7}, {2, 3}, {0}, {1, 2, 3, 4}})
    for (ElementType type :
         {ElementType::F64, ElementType::F32, ElementType::I64,
          ElementType::I32, ElementType::F16, ElementType::BF16,
          ElementType::F8E4M3FNUZ}) {
      HostArray array;
      array.type = type;
      array.shape = shape;
      for (uint64_t i = 0; i < *getArrayBytes(type, shape); ++i)
        array.bytes.push_back(uint8_t(i * 7));
      std::vector<uint8_t> file = formatNumpy(array.view());
      // NumPy aligns the elements by 64 bytes.
      EXPECT_EQ((file.size() - array.bytes.size()) % 64, 0u);
      llvm::Expected<HostArray> read = parseNumpy(file);
      ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
      EXPECT_EQ(read->type, type);
      EXPECT_EQ(formatShape(read->shape), formatShape(shape));
      EXPECT_EQ(read->bytes, array.bytes);
    }
}

TEST(HostArray, Floats) {
  // Values and bits from the formats' definitions.
  struct Case {
    ElementType type;
    uint64_t bits;
    double value;
  };
  for (const Case &entry : {Case{ElementType::F64, 0x3ff8000000000000, 1.5},
                            Case{ElementType::F32, 0x80000001, -0x1p-149},
                            Case{ElementType::F16, 0x7bff, 65504},
                            Case{ElementType::F16, 1, 0x1p-24},
                            Case{ElementType::BF16, 0xbfc0, -1.5},
                            Case{ElementType::BF16, 0x7f7f, 0x1.fep127},
                            Case{ElementType::BF16, 1, 0x1p-133},
                            Case{ElementType::F8E4M3FNUZ, 0x7f, 240},
                            Case{ElementType::F8E4M3FNUZ, 0xc0, -1},
                            Case{ElementType::F8E4M3FNUZ, 0x01, 0x1p-10},
                            Case{ElementType::F8E4M3FNUZ, 0x08, 0x1p-7},
                            Case{ElementType::F8E4M3FNUZ, 0, 0}}) {
    EXPECT_EQ(decodeFloat(entry.type, entry.bits), entry.value);
    EXPECT_EQ(encodeFloat(entry.type, entry.value), entry.bits);
  }
  EXPECT_TRUE(std::isnan(decodeFloat(ElementType::F8E4M3FNUZ, 0x80)));
  EXPECT_TRUE(std::isinf(decodeFloat(ElementType::F16, 0x7c00)));
  // To nearest, of two the even one; no negative zero; too large.
  EXPECT_EQ(encodeFloat(ElementType::BF16, 1 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(encodeFloat(ElementType::BF16, 1 + 0x3p-8), 0x3f82u);
  EXPECT_EQ(encodeFloat(ElementType::BF16, 1 + 0x1.01p-8), 0x3f81u);
  EXPECT_EQ(encodeFloat(ElementType::F16, 1e6), 0x7c00u);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FNUZ, -0.0), 0u);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FNUZ, 1e6), 0x80u);
  EXPECT_EQ(getFloatFormat(ElementType::I32), nullptr);
}

TEST(NumpyFile, MissingFile) {
  llvm::Expected<HostArray> array = readNumpyFile("/nowhere/x.npy");
  ASSERT_FALSE(bool(array));
  EXPECT_EQ(llvm::toString(array.takeError()),
            "cannot read /nowhere/x.npy: No such file or directory");
}

class Transaction : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("wavesmith", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }
  std::string path(llvm::StringRef name) {
    llvm::SmallString<128> result(folder);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  unsigned countFiles() {
    unsigned count = 0;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator i(folder, code), end;
         i != end && !code; i.increment(code))
      ++count;
    return count;
  }
  llvm::SmallString<128> folder;
};

TEST_F(Transaction, AllFiles) {
  FileTransaction files;
  const uint8_t one[] = {'1'}, two[] = {'2', '2'};
  ASSERT_FALSE(bool(files.add(path("a"), one)));
  ASSERT_FALSE(bool(files.add(path("b"), two)));
  EXPECT_FALSE(llvm::sys::fs::exists(path("a")));
  ASSERT_FALSE(bool(files.commit()));
  EXPECT_EQ(countFiles(), 2u);
  auto buffer = llvm::MemoryBuffer::getFile(path("b"));
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ((*buffer)->getBuffer(), "22");
}

TEST_F(Transaction, NoFile) {
  const uint8_t one[] = {'1'};
  {
    FileTransaction files;
    ASSERT_FALSE(bool(files.add(path("a"), one)));
    llvm::Error missing = files.add(path("no/folder/b"), one);
    EXPECT_THAT(llvm::toString(std::move(missing)),
                StartsWith("cannot write " + path("no/folder/b") + ": "));
    llvm::Error directory = files.add(folder, one);
    EXPECT_EQ(llvm::toString(std::move(directory)),
              "cannot write " + folder.str().str() +
                  ": it is not a regular file");
  }
  EXPECT_EQ(countFiles(), 0u);
}

} // namespace
