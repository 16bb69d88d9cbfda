//===- HostArray.h - Arrays in host memory ----------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DEVICE_HOSTARRAY_H
#define WAVESMITH_DEVICE_HOSTARRAY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavesmith {

enum class ElementType { F64, F32, I64, I32 };

/// "f64", "f32", "i64", "i32".
llvm::StringRef stringify(ElementType type);

/// The inverse of stringify; empty if the text is none of them.
std::optional<ElementType> parseElementType(llvm::StringRef text);

/// The four names, for messages.
inline constexpr llvm::StringLiteral elementTypeNames = "f64, f32, i64, i32";

unsigned getElementBytes(ElementType type);

/// Bytes of an array in C order. Empty if a size is negative or the product
/// does not fit in 63 bits.
std::optional<uint64_t> getArrayBytes(ElementType type,
                                      llvm::ArrayRef<int64_t> shape);

/// "[53, 100]"; "[]" for a scalar.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// An array of somebody else, contiguous and in C order; a scalar has no
/// dimension. The bytes may have any alignment.
struct HostArrayView {
  ElementType type = ElementType::F64;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<uint8_t> bytes;
};

/// An array with its memory, contiguous and in C order.
struct HostArray {
  ElementType type = ElementType::F64;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<uint8_t> bytes;

  HostArrayView view() const { return {type, shape, bytes}; }
};

} // namespace wavesmith

#endif // WAVESMITH_DEVICE_HOSTARRAY_H
