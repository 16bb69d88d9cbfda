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

namespace llvm {
struct fltSemantics;
} // namespace llvm

namespace wavesmith {

/// F8E4M3FNUZ is gfx942's 8-bit float: 4 bits of exponent with bias 8, 3 of
/// mantissa, no infinity and no negative zero, NaN is 0x80.
enum class ElementType { F64, F32, I64, I32, F16, BF16, F8E4M3FNUZ };

/// "f64", "f32", "i64", "i32", "f16", "bf16", "f8E4M3FNUZ": MLIR's names.
llvm::StringRef stringify(ElementType type);

/// The inverse of stringify; empty if the text is none of them.
std::optional<ElementType> parseElementType(llvm::StringRef text);

/// The names, for messages.
inline constexpr llvm::StringLiteral elementTypeNames =
    "f64, f32, i64, i32, f16, bf16, f8E4M3FNUZ";
/// The size of an element in bytes.
unsigned getElementBytes(ElementType type);

/// The format of a floating-point type; nullptr for an integer.
const llvm::fltSemantics *getFloatFormat(ElementType type);

/// The value of a number of a floating-point type, exact; its bits stand in the
/// low bits of `bits`.
double decodeFloat(ElementType type, uint64_t bits);

/// The bits of the nearest number of a floating-point type, of two the even
/// one, in the low bits. What is too large becomes an infinity, or a NaN where
/// the type has none.
uint64_t encodeFloat(ElementType type, double value);

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
  /// Lives as long as the array is not changed.
  HostArrayView view() const { return {type, shape, bytes}; }
};

} // namespace wavesmith

#endif // WAVESMITH_DEVICE_HOSTARRAY_H
