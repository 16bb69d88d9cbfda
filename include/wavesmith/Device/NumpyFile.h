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

} // namespace wavesmith

#endif // WAVESMITH_DEVICE_NUMPYFILE_H
