//===- KernelDescription.h - What the arguments of a kernel mean -*- C++
//-*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler writes beside a code object `k.hsaco` a description `k.json`: a
// code object knows the offsets and sizes of a kernel's arguments, the
// description knows what they mean. docs/devices.md shows the format.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DEVICE_KERNELDESCRIPTION_H
#define WAVESMITH_DEVICE_KERNELDESCRIPTION_H

#include "wavesmith/Device/HostArray.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith {

enum class ArgumentKind {
  Scalar,    ///< A number, passed by value.
  Input,     ///< An array the kernel reads.
  Output,    ///< An array the kernel writes, every element of it.
  Workspace, ///< Scratch memory; its zones are padded to whole workgroups.
  Zones,     ///< The number of zones, passed by value.
};

/// "scalar", "input", "output", "workspace", "zones".
llvm::StringRef stringify(ArgumentKind kind);

/// A dimension of an array: a fixed size or the number of zones.
struct ArgumentDimension {
  bool isZones = false;
  int64_t size = 0; ///< Of a fixed dimension.
};

struct ArgumentDescription {
  std::string name;
  ArgumentKind kind = ArgumentKind::Scalar;
  ElementType type = ElementType::F64;
  /// Arrays only; at most one dimension is the zones.
  llvm::SmallVector<ArgumentDimension, 4> shape;

  bool isArray() const {
    return kind == ArgumentKind::Input || kind == ArgumentKind::Output ||
           kind == ArgumentKind::Workspace;
  }
  /// Index of the zones dimension, -1 if there is none.
  int getZonesDimension() const;
  /// The shape for \p zones zones.
  llvm::SmallVector<int64_t, 4> getShape(int64_t zones) const;
  /// "[53, zones]".
  std::string formatShape() const;
};

struct KernelDescription {
  std::string name;
  std::array<uint32_t, 3> workgroupSize = {1, 1, 1};
  uint32_t zonesPerWorkgroup = 1;
  /// In the order of the kernel's explicit arguments.
  std::vector<ArgumentDescription> arguments;
  /// The schedule it was compiled with, for reports; null if not given.
  llvm::json::Value schedule = nullptr;

  const ArgumentDescription *findArgument(llvm::StringRef name) const;
};

/// The description of all kernels of a code object.
struct CodeObjectDescription {
  std::string target; ///< Architecture, e.g. "gfx942".
  std::vector<KernelDescription> kernels;

  /// Finds a kernel; an empty name takes the only one. The error lists the
  /// kernels there are.
  llvm::Expected<const KernelDescription &>
  findKernel(llvm::StringRef name) const;

  /// Reads and validates a description. Errors say where in the JSON something
  /// is wrong, what was got and what was wanted. Members that are not known are
  /// passed over, save in an argument, where they could change its meaning.
  static llvm::Expected<CodeObjectDescription> parse(llvm::StringRef json);
};

} // namespace wavesmith

#endif // WAVESMITH_DEVICE_KERNELDESCRIPTION_H
