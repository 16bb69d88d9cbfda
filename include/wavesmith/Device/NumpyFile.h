//===- NumpyFile.h - NumPy's .npy files -------------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DEVICE_NUMPYFILE_H
#define WAVESMITH_DEVICE_NUMPYFILE_H

#include "wavesmith/Device/HostArray.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <string>
#include <vector>

namespace wavesmith {

/// Reads the contents of a .npy file, format versions 1.0, 2.0 and 3.0, with
/// elements f64, f32, i64 or i32 in little endian and C order. Everything else,
/// and a file that is shorter or longer than its header says, is an error.
llvm::Expected<HostArray> parseNumpy(llvm::ArrayRef<uint8_t> contents);

/// The same from a file; errors start with its path.
llvm::Expected<HostArray> readNumpyFile(llvm::StringRef path);

/// The contents of a .npy file (version 1.0) for an array.
std::vector<uint8_t> formatNumpy(const HostArrayView &array);

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

#endif // WAVESMITH_DEVICE_NUMPYFILE_H
