//===- PrintableTextTest.cpp ----------------------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Support/PrintableText.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"
#include <random>

using namespace wavesmith;

TEST(PrintableText, KeepsText) {
  for (llvm::StringRef text : {"", "kernel", "_Z3fooPd", "µs, 温度, 😀"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(isPrintable(text)) << text.str();
  }
}

TEST(PrintableText, EscapesControlCharactersAndBrokenBytes) {
  using namespace std::string_literals;
  for (auto [text, wanted] :
       {std::pair("a\x1b[31mb"s, "a\\x1B[31mb"), std::pair("\0"s, "\\x00"),
        std::pair("a\nb\t"s, "a\\x0Ab\\x09"), std::pair("\x7f"s, "\\x7F"),
        // A control character of two bytes; one byte of a character of two; a
        // character spelt with too many bytes; half a surrogate pair.
        std::pair("\xc2\x9b"s, "\\xC2\\x9B"), std::pair("\xc3"s, "\\xC3"),
        std::pair("\xc0\x80"s, "\\xC0\\x80"),
        std::pair("\xed\xa0\x80"s, "\\xED\\xA0\\x80"),
        std::pair("\xc3x\xff"s, "\\xC3x\\xFF")}) {
    EXPECT_EQ(printable(text), wanted);
    EXPECT_FALSE(isPrintable(text)) << wanted;
  }
  EXPECT_EQ(printable("a\n\tb\r", "\n\t"), "a\n\tb\\x0D");
}

TEST(PrintableText, IsUTF8WhateverComes) {
  std::mt19937 random(9);
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 12, 0);
    for (char &c : text)
      c = char(random() % 3 ? 0x80 + random() % 128 : random());
    std::string result = printable(text);
    EXPECT_TRUE(llvm::json::isUTF8(result));
    EXPECT_TRUE(isPrintable(result));
    EXPECT_EQ(isPrintable(text), result == text);
    // The same through the stream, however it is cut, but for the line ends.
    std::string streamed;
    {
      llvm::raw_string_ostream os(streamed);
      PrintableStream stream(os);
      for (size_t i = 0; i < text.size();) {
        size_t piece = std::min<size_t>(1 + random() % 3, text.size() - i);
        stream.write(text.data() + i, piece);
        i += piece;
      }
    }
    EXPECT_EQ(streamed, printable(text, "\n\t"));
  }
}
