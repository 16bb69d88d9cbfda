//===- HostArray.cpp - Arrays in host memory ------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/HostArray.h"
#include "llvm/Support/MathExtras.h"

using namespace wavesmith;

llvm::StringRef wavesmith::stringify(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "f64";
  case ElementType::F32:
    return "f32";
  case ElementType::I64:
    return "i64";
  case ElementType::I32:
    return "i32";
  }
  return "unknown";
}

std::optional<ElementType> wavesmith::parseElementType(llvm::StringRef text) {
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::I64, ElementType::I32})
    if (text == stringify(type))
      return type;
  return std::nullopt;
}

unsigned wavesmith::getElementBytes(ElementType type) {
  return type == ElementType::F64 || type == ElementType::I64 ? 8 : 4;
}

std::optional<uint64_t>
wavesmith::getArrayBytes(ElementType type, llvm::ArrayRef<int64_t> shape) {
  int64_t bytes = getElementBytes(type);
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

std::string wavesmith::formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}
