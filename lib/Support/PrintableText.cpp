//===- PrintableText.cpp - Text of unknown origin in messages -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Support/PrintableText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace wavesmith;

/// The length of the valid UTF-8 character that \p text begins with, or 0.
static size_t characterLength(llvm::StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  unsigned length = llvm::getNumBytesForUTF8(*begin);
  if (length > text.size() || !llvm::isLegalUTF8Sequence(begin, begin + length))
    return 0;
  return length;
}

static bool isControl(llvm::StringRef character) {
  auto first = static_cast<uint8_t>(character[0]);
  if (character.size() == 1)
    return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<uint8_t>(character[1]) < 0xa0;
}

std::string wavesmith::printable(llvm::StringRef text, llvm::StringRef keep) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    size_t length = characterLength(text);
    llvm::StringRef character = text.take_front(std::max<size_t>(length, 1));
    text = text.drop_front(character.size());
    bool kept = length == 1 && keep.contains(character[0]);
    if (length && (kept || !isControl(character))) {
      result += character;
      continue;
    }
    for (char byte : character)
      result += "\\x" + llvm::toHex(llvm::StringRef(&byte, 1));
  }
  return result;
}

bool wavesmith::isPrintable(llvm::StringRef text) {
  while (!text.empty()) {
    size_t length = characterLength(text);
    if (!length || isControl(text.take_front(length)))
      return false;
    text = text.drop_front(length);
  }
  return true;
}

llvm::Error wavesmith::checkIsModule(llvm::StringRef contents) {
  size_t zero = contents.find('\0');
  if (zero == llvm::StringRef::npos || contents.starts_with("ML\xefR"))
    return llvm::Error::success();
  return llvm::createStringError(
      "expected MLIR text or bytecode, got a binary file (byte " +
      llvm::Twine(zero) + " is 0)");
}

PrintableStream::~PrintableStream() { os << printable(incomplete); }

llvm::raw_ostream &PrintableStream::changeColor(enum Colors color, bool bold,
                                                bool background) {
  os.changeColor(color, bold, background);
  return *this;
}

llvm::raw_ostream &PrintableStream::resetColor() {
  os.resetColor();
  return *this;
}

llvm::raw_ostream &PrintableStream::reverseColor() {
  os.reverseColor();
  return *this;
}

void PrintableStream::write_impl(const char *data, size_t size) {
  position += size;
  incomplete.append(data, size);
  // The last character may go on in the next piece.
  llvm::StringRef text = incomplete;
  size_t whole = text.size();
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto byte = static_cast<llvm::UTF8>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80)
      continue;
    if (llvm::getNumBytesForUTF8(byte) > back)
      whole = text.size() - back;
    break;
  }
  os << printable(text.take_front(whole), "\n\t");
  incomplete.erase(0, whole);
}
