//===- SerializeKernels.h - From rocdl to a code object ---------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_PIPELINES_SERIALIZEKERNELS_H
#define WAVESMITH_LIB_PIPELINES_SERIALIZEKERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "wavesmith/Pipelines/Pipelines.h"

namespace wavesmith {

/// Translates a gpu.module of rocdl kernels to LLVM IR, links the device's
/// math library, optimises, emits and links, all in this process. Fills the
/// code object and the stages that were asked for.
llvm::LogicalResult serializeKernels(mlir::gpu::GPUModuleOp module,
                                     const CompileOptions &options,
                                     const CompileStages &stages,
                                     CompileResult &result);

} // namespace wavesmith

#endif // WAVESMITH_LIB_PIPELINES_SERIALIZEKERNELS_H
