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
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith {
/// What an argument of a kernel is for.
enum class ArgumentKind {
  Scalar,    ///< A number, passed by value.
  Input,     ///< An array the kernel reads.
  Output,    ///< An array the kernel writes, every element of it.
  Workspace, ///< Scratch memory; its zones are padded to whole workgroups.
  Zones,     ///< The number of zones, passed by value.
  Dimension, ///< A size that shapes name, passed by value; of grids only.
};

/// "scalar", "input", "output", "workspace", "zones", "dimension".
llvm::StringRef stringify(ArgumentKind kind);

/// A dimension of an array: a fixed size, the number of zones or, in a kernel
/// of a grid, a size that has a name.
struct ArgumentDimension {
  std::string name; ///< Empty if fixed; "zones" for the number of zones.
  int64_t size = 0; ///< Of a fixed dimension.
  /// Whether it is a fixed size, or the number of zones.
  bool isFixed() const { return name.empty(); }
  bool isZones() const { return name == "zones"; }
};

/// The number of workgroups in one dimension of a grid: a fixed size, or that
/// of a dimension by its name, divided and rounded up, or with a number added.
struct GridSize {
  std::string text; ///< As the description has it.
  std::string dimension;
  int64_t size = 0; ///< Of a fixed one.
  int64_t divisor = 1;
  int64_t addend = 0;
  /// Whether it is of a form that has a value here.
  bool isKnown() const { return size > 0 || !dimension.empty(); }
};
/// One explicit argument of a kernel.
struct ArgumentDescription {
  std::string name;
  ArgumentKind kind = ArgumentKind::Scalar;
  ElementType type = ElementType::F64;
  /// Arrays only; at most one dimension is the zones. An array of a grid may
  /// have none, and such a kernel is for callers who know what it takes.
  llvm::SmallVector<ArgumentDimension, 4> shape;
  /// Whether it is passed as a pointer.
  bool isArray() const {
    return kind == ArgumentKind::Input || kind == ArgumentKind::Output ||
           kind == ArgumentKind::Workspace;
  }
  /// Index of the zones dimension, -1 if there is none.
  int getZonesDimension() const;
  /// The shape for \p zones zones.
  llvm::SmallVector<int64_t, 4> getShape(int64_t zones) const;
  /// The shape for sizes by their names; all names have to be there.
  llvm::SmallVector<int64_t, 4>
  getShape(const llvm::StringMap<int64_t> &sizes) const;
  /// "[53, zones]".
  std::string formatShape() const;
};
/// What a caller must know to launch a kernel.
struct KernelDescription {
  std::string name;
  std::array<uint32_t, 3> workgroupSize = {1, 1, 1};
  uint32_t zonesPerWorkgroup = 1;
  /// Three sizes for a kernel of a grid, which has no zones; else empty.
  llvm::SmallVector<GridSize, 3> grid;
  /// In the order of the kernel's explicit arguments.
  std::vector<ArgumentDescription> arguments;
  /// The schedule it was compiled with, for reports; null if not given.
  llvm::json::Value schedule = nullptr;
  /// Whether it has a grid and no zones; an argument by its name, or null.
  bool isGrid() const { return !grid.empty(); }
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
