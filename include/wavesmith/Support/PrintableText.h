//===- PrintableText.h - Text of unknown origin in messages -----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages quote names and lines of files that may be damaged. What a terminal
// would obey, and what a caller that expects UTF-8 would trip over, has to be
// escaped.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SUPPORT_PRINTABLETEXT_H
#define WAVESMITH_SUPPORT_PRINTABLETEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace wavesmith {

/// The text with each byte of a control character (U+0000 to U+001F, U+007F to
/// U+009F), and each byte that belongs to no valid UTF-8 character, written as
/// \xHH. Control characters among \p keep stay as they are.
std::string printable(llvm::StringRef text, llvm::StringRef keep = "");

/// True if `printable` would change nothing.
bool isPrintable(llvm::StringRef text);

/// An error for a file that holds neither MLIR text nor MLIR bytecode: the
/// parser would quote it.
llvm::Error checkIsModule(llvm::StringRef contents);

/// Passes on what is written to it, `printable` but for line ends and tabs.
/// Colours pass through, if the other stream has them.
class PrintableStream : public llvm::raw_ostream {
public:
  explicit PrintableStream(llvm::raw_ostream &os)
      : raw_ostream(/*unbuffered=*/true), os(os) {}
  ~PrintableStream() override;

  raw_ostream &changeColor(enum Colors color, bool bold,
                           bool background) override;
  raw_ostream &resetColor() override;
  raw_ostream &reverseColor() override;
  bool is_displayed() const override { return os.is_displayed(); }
  bool has_colors() const override { return os.has_colors(); }

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return position; }

  llvm::raw_ostream &os;
  /// The beginning of a character whose other bytes have not been written yet.
  std::string incomplete;
  uint64_t position = 0;
};

} // namespace wavesmith

#endif // WAVESMITH_SUPPORT_PRINTABLETEXT_H
