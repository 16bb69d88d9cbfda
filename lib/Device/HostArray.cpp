//===- HostArray.cpp - Arrays in host memory ------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/HostArray.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

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
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F8E4M3FNUZ:
    return "f8E4M3FNUZ";
  }
  return "unknown";
}

std::optional<ElementType> wavesmith::parseElementType(llvm::StringRef text) {
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::I64, ElementType::I32,
        ElementType::F16, ElementType::BF16, ElementType::F8E4M3FNUZ})
    if (text == stringify(type))
      return type;
  return std::nullopt;
}

unsigned wavesmith::getElementBytes(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F8E4M3FNUZ:
    return 1;
  }
  llvm_unreachable("all types are handled");
}

const llvm::fltSemantics *wavesmith::getFloatFormat(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return &llvm::APFloat::IEEEdouble();
  case ElementType::F32:
    return &llvm::APFloat::IEEEsingle();
  case ElementType::F16:
    return &llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return &llvm::APFloat::BFloat();
  case ElementType::F8E4M3FNUZ:
    return &llvm::APFloat::Float8E4M3FNUZ();
  case ElementType::I64:
  case ElementType::I32:
    return nullptr;
  }
  llvm_unreachable("all types are handled");
}

double wavesmith::decodeFloat(ElementType type, uint64_t bits) {
  // The two large formats are those of the host.
  if (type == ElementType::F64) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (type == ElementType::F32) {
    auto low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof(value));
    return value;
  }
  const llvm::fltSemantics &format = *getFloatFormat(type);
  unsigned width = llvm::APFloat::semanticsSizeInBits(format);
  llvm::APFloat value(format, llvm::APInt(64, bits).trunc(width));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

uint64_t wavesmith::encodeFloat(ElementType type, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(*getFloatFormat(type), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
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
