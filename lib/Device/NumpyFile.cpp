//===- NumpyFile.cpp - NumPy's .npy files ---------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format is described in NumPy's documentation, numpy.lib.format: a magic
// string, two version bytes, the length of the header (2 bytes in version 1.0,
// 4 in 2.0 and 3.0), the header, which is a Python dictionary of exactly the
// keys 'descr', 'fortran_order' and 'shape', padded with spaces and ended by a
// new line; then the elements.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/NumpyFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace wavesmith;

static constexpr llvm::StringLiteral magic("\x93NUMPY");

namespace {

/// Reads the dictionary of a header. Every function returns false, with
/// `problem` set, at the first thing that is wrong.
struct HeaderParser {
  llvm::StringRef text;
  std::string problem;

  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<llvm::SmallVector<int64_t, 4>> shape;

  bool fail(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
    return false;
  }

  void skipSpace() { text = text.ltrim(" \t\n"); }

  bool expect(llvm::StringRef token) {
    skipSpace();
    if (text.consume_front(token))
      return true;
    return fail("expected '" + token + "' before \"" + excerpt() + "\"");
  }

  std::string excerpt() const {
    std::string escaped;
    llvm::raw_string_ostream os(escaped);
    llvm::printEscapedString(text.take_front(24), os);
    return escaped;
  }

  bool parseString(std::string &value) {
    skipSpace();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return fail("expected a string before \"" + excerpt() + "\"");
    size_t end = text.find(text.front(), 1);
    if (end == llvm::StringRef::npos)
      return fail("a string does not end");
    value = text.slice(1, end).str();
    text = text.drop_front(end + 1);
    return true;
  }

  bool parseShape(llvm::SmallVector<int64_t, 4> &sizes) {
    // NumPy 2 reads up to 64 dimensions.
    constexpr size_t maximumRank = 64;
    if (!expect("("))
      return false;
    while (true) {
      skipSpace();
      if (text.consume_front(")"))
        return true;
      uint64_t size;
      if (text.empty() || !llvm::isDigit(text.front()) ||
          text.consumeInteger(10, size) || size > INT64_MAX)
        return fail("expected a size before \"" + excerpt() + "\"");
      text.consume_front("L"); // Written by Python 2.
      if (sizes.size() == maximumRank)
        return fail("more than 64 dimensions");
      sizes.push_back(int64_t(size));
      skipSpace();
      // (3) is no tuple, (3,) is.
      if (text.consume_front(","))
        continue;
      if (sizes.size() < 2)
        return fail("expected ',' before \"" + excerpt() + "\"");
      return expect(")");
    }
  }

  bool parse() {
    if (!expect("{"))
      return false;
    while (true) {
      skipSpace();
      if (text.consume_front("}"))
        break;
      std::string key;
      if (!parseString(key) || !expect(":"))
        return false;
      skipSpace();
      if (key == "descr" && !descr) {
        if (text.starts_with("["))
          return fail("structured elements are not supported");
        if (!parseString(descr.emplace()))
          return false;
      } else if (key == "fortran_order" && !fortranOrder) {
        if (text.consume_front("True"))
          fortranOrder = true;
        else if (text.consume_front("False"))
          fortranOrder = false;
        else
          return fail("expected True or False before \"" + excerpt() + "\"");
      } else if (key == "shape" && !shape) {
        if (!parseShape(shape.emplace()))
          return false;
      } else {
        return fail("key '" + key + "' is unknown or given twice");
      }
      skipSpace();
      if (!text.consume_front(",") && !text.starts_with("}"))
        return fail("expected ',' or '}' before \"" + excerpt() + "\"");
    }
    if (!text.trim(" \t\n").empty())
      return fail("something follows the dictionary: \"" + excerpt() + "\"");
    if (!descr)
      return fail("key 'descr' is missing");
    if (!fortranOrder)
      return fail("key 'fortran_order' is missing");
    if (!shape)
      return fail("key 'shape' is missing");
    return true;
  }
};

} // namespace

llvm::Expected<HostArray>
wavesmith::parseNumpy(llvm::ArrayRef<uint8_t> contents) {
  llvm::StringRef text = llvm::toStringRef(contents);
  const size_t prefix = magic.size() + 2;
  if (!text.starts_with(magic.substr(0, text.size())))
    return llvm::createStringError("not a .npy file: it does not start with "
                                   "\\x93NUMPY");
  if (text.size() < prefix)
    return llvm::createStringError(
        "truncated .npy file: " + llvm::Twine(text.size()) +
        " bytes, too few for a header");
  unsigned major = contents[magic.size()], minor = contents[magic.size() + 1];
  if (major < 1 || major > 3 || minor != 0)
    return llvm::createStringError(".npy format version " + llvm::Twine(major) +
                                   "." + llvm::Twine(minor) +
                                   " is not supported; 1.0, 2.0 and 3.0 are");
  const size_t lengthBytes = major == 1 ? 2 : 4;
  if (text.size() < prefix + lengthBytes)
    return llvm::createStringError(
        "truncated .npy file: " + llvm::Twine(text.size()) +
        " bytes, too few for a header");
  const uint8_t *lengthAt = contents.data() + prefix;
  uint64_t headerLength = major == 1
                              ? llvm::support::endian::read16le(lengthAt)
                              : llvm::support::endian::read32le(lengthAt);
  const uint64_t dataOffset = prefix + lengthBytes + headerLength;
  if (text.size() < dataOffset)
    return llvm::createStringError(
        "truncated .npy file: its header ends at byte " +
        llvm::Twine(dataOffset) + ", the file at " + llvm::Twine(text.size()));

  HeaderParser header;
  header.text = text.substr(prefix + lengthBytes, headerLength);
  if (!header.parse())
    return llvm::createStringError("malformed .npy header: " + header.problem);

  HostArray array;
  llvm::StringRef descr = *header.descr;
  if (descr == "<f8")
    array.type = ElementType::F64;
  else if (descr == "<f4")
    array.type = ElementType::F32;
  else if (descr == "<i8")
    array.type = ElementType::I64;
  else if (descr == "<i4")
    array.type = ElementType::I32;
  else if (descr == "<f2")
    array.type = ElementType::F16;
  // Bytes have no order, but NumPy gives some of them one.
  else if (descr == "<V2" || descr == "|V2")
    array.type = ElementType::BF16;
  else if (descr == "<V1" || descr == "|V1")
    array.type = ElementType::F8E4M3FNUZ;
  else if (descr.starts_with(">"))
    return llvm::createStringError("elements '" + descr +
                                   "' are big endian; little endian is needed "
                                   "(<f8, <f4, <f2, <i8, <i4 or <V2)");
  else
    return llvm::createStringError("elements '" + descr +
                                   "' are not supported; <f8, <f4, <f2, <i8, "
                                   "<i4, V2 (bf16) and V1 (f8E4M3FNUZ) are");
  array.shape = *header.shape;
  // With up to one dimension both orders are the same.
  if (*header.fortranOrder && array.shape.size() > 1)
    return llvm::createStringError("the array is in Fortran order; C order is "
                                   "needed (numpy.ascontiguousarray)");
  std::optional<uint64_t> bytes = getArrayBytes(array.type, array.shape);
  if (!bytes)
    return llvm::createStringError("malformed .npy header: shape " +
                                   formatShape(array.shape) + " is too large");
  const uint64_t got = text.size() - dataOffset;
  if (got != *bytes)
    return llvm::createStringError(
        llvm::Twine(got < *bytes ? "truncated" : "oversized") +
        " .npy file: shape " + formatShape(array.shape) + " of " +
        stringify(array.type) + " takes " + llvm::Twine(*bytes) +
        " bytes after the header, got " + llvm::Twine(got));
  array.bytes.assign(contents.begin() + dataOffset, contents.end());
  return array;
}

llvm::Expected<HostArray> wavesmith::readNumpyFile(llvm::StringRef path) {
  // Read, not mapped: a mapped file that shrinks meanwhile would end the
  // process.
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false,
                                  /*IsVolatile=*/true);
  if (!buffer)
    return llvm::createStringError("cannot read " + path + ": " +
                                   buffer.getError().message());
  llvm::Expected<HostArray> array =
      parseNumpy(llvm::arrayRefFromStringRef((*buffer)->getBuffer()));
  if (!array)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(array.takeError()));
  return array;
}

/// The type of an array's elements in a header.
static llvm::StringRef getDescr(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "<f8";
  case ElementType::F32:
    return "<f4";
  case ElementType::I64:
    return "<i8";
  case ElementType::I32:
    return "<i4";
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "|V2";
  case ElementType::F8E4M3FNUZ:
    return "|V1";
  }
  llvm_unreachable("all types are handled");
}

std::vector<uint8_t> wavesmith::formatNumpy(const HostArrayView &array) {
  std::string header = "{'descr': '" + getDescr(array.type).str() +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : array.shape)
    header += std::to_string(size) + ", ";
  header += "), }";
  // (, ) is no tuple and (3, 4, ) is.
  constexpr size_t alignment = 64;
  const size_t before = magic.size() + 4;
  while ((before + header.size() + 1) % alignment)
    header += ' ';
  header += '\n';

  std::vector<uint8_t> contents(magic.bytes_begin(), magic.bytes_end());
  contents.reserve(before + header.size() + array.bytes.size());
  for (unsigned byte :
       {1u, 0u, unsigned(header.size() & 0xff), unsigned(header.size() >> 8)})
    contents.push_back(uint8_t(byte));
  contents.insert(contents.end(), header.begin(), header.end());
  contents.insert(contents.end(), array.bytes.begin(), array.bytes.end());
  return contents;
}
