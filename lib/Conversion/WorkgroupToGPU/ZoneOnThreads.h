//===- ZoneOnThreads.h - Several threads a zone -----------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_CONVERSION_WORKGROUPTOGPU_ZONEONTHREADS_H
#define WAVESMITH_LIB_CONVERSION_WORKGROUPTOGPU_ZONEONTHREADS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Target/Target.h"

namespace wavesmith {

/// Makes a constant of a kernel's module and returns its memory, defined at the
/// start of the kernel.
mlir::Value createConstantMemory(mlir::gpu::GPUModuleOp module,
                                 mlir::gpu::GPUFuncOp kernel,
                                 mlir::Location loc,
                                 mlir::DenseElementsAttr value);

/// Types of the workspaces that a workgroup needs, in the order of its stages
/// in global memory: `memref<?x...>`, one row a zone.
llvm::SmallVector<mlir::MemRefType> getWorkspaces(WorkgroupOp workgroup);

/// Writes the body of a workgroup with `threads_per_zone` for one thread.
/// \param kernel without a body but its arguments
/// \param known from the arguments of the function to those of the kernel
/// \param workspaces the kernel's arguments for getWorkspaces(workgroup)
/// \param target limits, or null where the module has none: then a wavefront
/// has 64 threads
llvm::LogicalResult
distributeZone(WorkgroupOp workgroup, mlir::gpu::GPUModuleOp module,
               mlir::gpu::GPUFuncOp kernel, mlir::IRMapping known,
               mlir::ValueRange workspaces, const TargetInfo *target);

} // namespace wavesmith

#endif // WAVESMITH_LIB_CONVERSION_WORKGROUPTOGPU_ZONEONTHREADS_H
