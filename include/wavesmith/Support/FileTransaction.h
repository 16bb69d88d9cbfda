//===- FileTransaction.h - Files that appear together -----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SUPPORT_FILETRANSACTION_H
#define WAVESMITH_SUPPORT_FILETRANSACTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <string>
#include <vector>

namespace wavesmith {

/// Files that appear together or not at all: every one is written in full
/// beside its final place before the first is renamed to it.
class FileTransaction {
public:
  FileTransaction() = default;
  FileTransaction(const FileTransaction &) = delete;
  FileTransaction &operator=(const FileTransaction &) = delete;
  ~FileTransaction();

  /// Writes the contents beside \p path. A path that is not a regular file
  /// (but exists) is an error.
  llvm::Error add(llvm::StringRef path, llvm::ArrayRef<uint8_t> contents);

  /// Renames all files to their paths.
  llvm::Error commit();

private:
  struct Entry {
    std::string path;
    llvm::sys::fs::TempFile file;
  };
  std::vector<Entry> entries;
};

} // namespace wavesmith

#endif // WAVESMITH_SUPPORT_FILETRANSACTION_H
