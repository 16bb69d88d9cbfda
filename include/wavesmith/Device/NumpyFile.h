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
/// elements f64, f32, f16, i64 or i32 in little endian and C order. NumPy has
/// no bf16 and no 8-bit float: elements of 2 and of 1 bytes without a type
/// ('V2', 'V1'), as the package ml_dtypes writes its own, are bf16 and
/// f8E4M3FNUZ. The file cannot say which 8-bit float it holds, so that is up to
/// who wrote it. Everything else, and a file that is shorter or longer than its
/// header says, is an error.
llvm::Expected<HostArray> parseNumpy(llvm::ArrayRef<uint8_t> contents);

/// The same from a file; errors start with its path.
llvm::Expected<HostArray> readNumpyFile(llvm::StringRef path);

/// The contents of a .npy file (version 1.0) for an array. With ml_dtypes,
/// numpy.load(path).view(ml_dtypes.bfloat16) gives the numbers of bf16.
std::vector<uint8_t> formatNumpy(const HostArrayView &array);

} // namespace wavesmith

#endif // WAVESMITH_DEVICE_NUMPYFILE_H
