//===- LowerKernelArguments.cpp - Batches as plain pointers ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include <limits>

namespace wavesmith {
#define GEN_PASS_DEF_LOWERKERNELARGUMENTSPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

/// The address space of global memory in LLVM's AMDGPU back end.
static constexpr unsigned kGlobalAddressSpace = 1;

/// The memref that starts at `pointer`, dense and row-major, as the descriptor
/// that upstream's conversion uses.
static Value buildMemRef(OpBuilder &builder, Location loc, MemRefType type,
                         Value pointer, Value numZones) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type();
  auto extents = LLVM::LLVMArrayType::get(i64, type.getRank());
  auto descriptorType = LLVM::LLVMStructType::getLiteral(
      context, {pointer.getType(), pointer.getType(), i64, extents, extents});
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  };
  Value descriptor = LLVM::PoisonOp::create(builder, loc, descriptorType);
  auto set = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  set(pointer, 0);
  set(pointer, 1);
  set(number(0), 2);
  Value stride = number(1);
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    Value extent = type.isDynamicDim(i) ? numZones : number(type.getDimSize(i));
    set(extent, {3, i});
    set(stride, {4, i});
    if (i > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, extent);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

namespace {
class LowerKernelArgumentsPass
    : public wavesmith::impl::LowerKernelArgumentsPassBase<
          LowerKernelArgumentsPass> {
public:
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(lower(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult lower(gpu::GPUFuncOp kernel);
};
} // namespace

LogicalResult LowerKernelArgumentsPass::lower(gpu::GPUFuncOp kernel) {
  bool hasBatch = llvm::any_of(kernel.getArgumentTypes(),
                               [](Type type) { return isa<MemRefType>(type); });
  if (!hasBatch)
    return success();
  // The entry block has workgroup and private memory after the arguments.
  auto arguments = kernel.getBody().getArguments().take_front(
      kernel.getFunctionType().getNumInputs());
  bool isGrid = kernel->hasAttr(kGridAttrName);
  if (!isGrid && !arguments.back().getType().isIndex())
    return kernel.emitError("expected the number of zones, an index, as the "
                            "last argument, got ")
           << arguments.back().getType();
  for (BlockArgument argument : arguments)
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      if (type.getNumDynamicDims() > 1 || !type.getLayout().isIdentity() ||
          type.getRank() == 0)
        return kernel.emitError("expected dense batches with one dynamic "
                                "dimension at most, got ")
               << type;

  OpBuilder builder(&getContext());
  Block &entry = kernel.getBody().front();
  builder.setInsertionPointToStart(&entry);
  Location loc = kernel.getLoc();
  auto pointerType =
      LLVM::LLVMPointerType::get(&getContext(), kGlobalAddressSpace);
  // Indices first: the batches need the number of zones.
  for (BlockArgument argument :
       isGrid ? arguments : arguments.take_back()) {
    if (!argument.getType().isIndex())
      continue;
    argument.setType(builder.getI64Type());
    auto asIndex = arith::IndexCastOp::create(builder, loc,
                                              builder.getIndexType(), argument);
    argument.replaceAllUsesExcept(asIndex, asIndex);
  }
  // Nobody asks for the extents of a grid kernel's arrays.
  Value numZones = isGrid ? LLVM::ConstantOp::create(
                                builder, loc, builder.getI64Type(),
                                builder.getI64IntegerAttr(
                                    std::numeric_limits<int64_t>::max()))
                                .getResult()
                          : arguments.back();
  for (BlockArgument argument : arguments) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    argument.setType(pointerType);
    Value placeholder =
        UnrealizedConversionCastOp::create(builder, loc, type, argument)
            .getResult(0);
    argument.replaceAllUsesExcept(placeholder, placeholder.getDefiningOp());
    Value memory = buildMemRef(builder, loc, type, argument, numZones);
    placeholder.replaceAllUsesWith(memory);
    placeholder.getDefiningOp()->erase();
  }
  kernel.setFunctionType(
      builder.getFunctionType(TypeRange(ValueRange(arguments)), {}));
  return success();
}
