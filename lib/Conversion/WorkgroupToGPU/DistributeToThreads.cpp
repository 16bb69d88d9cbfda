//===- DistributeToThreads.cpp - One zone a thread ------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZoneOnThreads.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/ModuleTarget.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

namespace wavesmith {
#define GEN_PASS_DEF_DISTRIBUTETOTHREADSPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

/// The address space of constant memory, which convert-gpu-to-rocdl has no
/// name for (LLVM's AMDGPU back end: 4).
static constexpr unsigned kConstantAddressSpace = 4;

namespace {

/// Rewrites the body of one workgroup for one thread.
class ThreadBody {
public:
  ThreadBody(gpu::GPUModuleOp module, gpu::GPUFuncOp kernel, int64_t size)
      : module(module), kernel(kernel), builder(kernel.getContext()),
        size(size) {}

  LogicalResult distribute(WorkgroupOp workgroup, IRMapping known);

private:
  LogicalResult rewrite(Block &block);
  /// Checks that a thread has a place for all tensors of `op`, and that tables
  /// and arrays are used by operations that know what they are.
  LogicalResult checkTensors(Operation *op);
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteLoop(scf::ForOp op);
  /// Rewrites an operation whose regions are alternatives.
  LogicalResult rewriteBranches(Operation *op);
  LogicalResult rewriteElementwise(Operation *op);
  LogicalResult rewriteTable(TableOp op);

  bool isBlock(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 1 && tensor.getDimSize(0) == size;
  }
  bool isArray(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 2 && tensor.getDimSize(1) == size &&
           tensor.getDimSize(0) > 0;
  }
  /// The type of a value other than an array in one thread; null if it has no
  /// place there.
  Type threadType(Type type) const {
    if (isBlock(type))
      return cast<RankedTensorType>(type).getElementType();
    return isa<TensorType>(type) ? Type() : type;
  }
  /// The private memory of an array that is about to be changed or read.
  Value arrayMemory(Value array, Location loc);
  LogicalResult checkUsedInPlace(Value array);
  /// The workgroup's part of one row of a batch. The thread's element is read
  /// at a constant distance from an address that all lanes share, which scalar
  /// instructions compute.
  Value rowOfZones(Value batch, Value row, Location loc);
  std::optional<Value> rowOf(Operation *op, ArrayRef<OpFoldResult> offsets,
                             ArrayRef<OpFoldResult> sizes,
                             ArrayRef<OpFoldResult> strides);

  gpu::GPUModuleOp module;
  gpu::GPUFuncOp kernel;
  OpBuilder builder;
  int64_t size;
  Value numZones, firstZone, thread;
  IRMapping mapping;
};

class DistributeToThreadsPass
    : public wavesmith::impl::DistributeToThreadsPassBase<
          DistributeToThreadsPass> {
public:
  void runOnOperation() override;

private:
  LogicalResult distribute(func::FuncOp function, gpu::GPUModuleOp module);
};

} // namespace

LogicalResult ThreadBody::distribute(WorkgroupOp workgroup, IRMapping known) {
  mapping = std::move(known);
  Location loc = workgroup.getLoc();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Value workgroupId = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value sizeValue = arith::ConstantIndexOp::create(builder, loc, size);
  firstZone = arith::MulIOp::create(builder, loc, workgroupId, sizeValue);
  Value zone = arith::AddIOp::create(builder, loc, firstZone, thread);
  numZones = mapping.lookup(workgroup.getNumZones());
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, zone, numZones);
  auto guard = scf::IfOp::create(builder, loc, isInside,
                                 /*withElseRegion=*/false);
  gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(guard.thenBlock());
  return rewrite(workgroup.getBody().front());
}

LogicalResult ThreadBody::checkTensors(Operation *op) {
  if (isa<TableOp>(op))
    return success();
  bool takesArrays = isa<tensor::ExtractSliceOp, tensor::InsertSliceOp,
                         scf::ForOp, scf::YieldOp>(op);
  bool givesArrays =
      isa<arith::ConstantOp, tensor::EmptyOp, tensor::InsertSliceOp, scf::ForOp,
          scf::IfOp, scf::IndexSwitchOp>(op);
  for (Value operand : op->getOperands()) {
    if (operand.getDefiningOp<TableOp>()) {
      if (!isa<tensor::ExtractOp>(op))
        return op->emitError("expected a wavesmith.table to be read with "
                             "tensor.extract only");
    } else if (isArray(operand.getType()) ? !takesArrays
                                          : !threadType(operand.getType())) {
      return op->emitError("operand of type ")
             << operand.getType() << " is not a block of size " << size;
    }
  }
  for (Type type : op->getResultTypes())
    if (isArray(type) ? !givesArrays : !threadType(type))
      return op->emitError("result of type ")
             << type << " is not a block of size " << size;
  return success();
}

LogicalResult ThreadBody::rewrite(Block &block) {
  for (Operation &op : block) {
    if (failed(checkTensors(&op)))
      return failure();
    for (Value result : op.getResults())
      if (isArray(result.getType()) && failed(checkUsedInPlace(result)))
        return failure();
    if (failed(rewrite(&op)))
      return failure();
  }
  return success();
}

/// Whether `use` may be reached after `change`, both in the scope of `array`.
static bool mayFollow(Value array, Operation *change, Operation *use) {
  Region *scope = array.getParentRegion();
  // What stands in a loop inside of the scope comes round again.
  for (Operation *parent = change->getParentOp();
       parent && scope->isAncestor(parent->getParentRegion());
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      return true;
  for (Region *region = change->getParentRegion(); region;
       region = region->getParentRegion()) {
    Operation *later = region->findAncestorOpInRegion(*use);
    if (!later)
      continue;
    Operation *earlier = region->findAncestorOpInRegion(*change);
    // The same operation: the two stand in alternatives of it, or it is a
    // change itself that takes the array twice.
    return earlier == later ? earlier == change || later == use
                            : earlier->isBeforeInBlock(later);
  }
  return true;
}

LogicalResult ThreadBody::checkUsedInPlace(Value array) {
  // A constant is written to fresh memory wherever it is taken.
  if (array.getDefiningOp<arith::ConstantOp>())
    return success();
  for (OpOperand &change : array.getUses()) {
    if (!isa<tensor::InsertSliceOp, scf::ForOp>(change.getOwner()))
      continue;
    for (OpOperand &use : array.getUses())
      if (&use != &change &&
          mayFollow(array, change.getOwner(), use.getOwner())) {
        InFlightDiagnostic diagnostic = use.getOwner()->emitError(
            "reads an array after a row of it has been replaced; arrays of a "
            "workgroup are changed in place");
        diagnostic.attachNote(change.getOwner()->getLoc())
            << "the array is changed here";
        return diagnostic;
      }
  }
  return success();
}

Value ThreadBody::arrayMemory(Value array, Location loc) {
  if (Value known = mapping.lookupOrNull(array))
    return known;
  auto type = cast<RankedTensorType>(array.getType());
  auto memoryType = MemRefType::get(
      {type.getDimSize(0)}, type.getElementType(), MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(builder.getContext(),
                                 gpu::AddressSpace::Private));
  Value memory;
  {
    // Private memory of a size known at the start of the kernel.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    memory = memref::AllocaOp::create(builder, loc, memoryType);
  }
  auto constant = array.getDefiningOp<arith::ConstantOp>();
  if (!constant) {
    mapping.map(array, memory);
    return memory;
  }
  auto splat = cast<DenseElementsAttr>(constant.getValue());
  Value number = arith::ConstantOp::create(
      builder, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  scf::ForOp::create(
      builder, loc, index(0), index(type.getDimSize(0)), index(1), ValueRange{},
      [&](OpBuilder &, Location, Value row, ValueRange) {
        memref::StoreOp::create(builder, loc, number, memory, row);
        scf::YieldOp::create(builder, loc);
      });
  return memory;
}

Value ThreadBody::rowOfZones(Value batch, Value row, Location loc) {
  auto type = cast<MemRefType>(batch.getType());
  bool zonesFirst = type.isDynamicDim(0);
  int64_t stride = zonesFirst ? type.getDimSize(1) : 1;
  auto multiply = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(builder, loc, a, b);
  };
  Value rowIndex = mapping.lookup(row);
  Value offset =
      zonesFirst
          ? arith::AddIOp::create(
                builder, loc,
                multiply(firstZone,
                         arith::ConstantIndexOp::create(builder, loc, stride)),
                rowIndex)
          : arith::AddIOp::create(builder, loc, multiply(rowIndex, numZones),
                                  firstZone);
  auto rowType =
      MemRefType::get({size}, type.getElementType(),
                      StridedLayoutAttr::get(builder.getContext(),
                                             ShapedType::kDynamic, {stride}),
                      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, loc, rowType, mapping.lookup(batch), OpFoldResult(offset),
      ArrayRef<OpFoldResult>{builder.getIndexAttr(size)},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(stride)});
}

std::optional<Value> ThreadBody::rowOf(Operation *op,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes,
                                       ArrayRef<OpFoldResult> strides) {
  auto isConstant = [](OpFoldResult value, int64_t wanted) {
    return getConstantIntValue(value) == wanted;
  };
  if (offsets.size() != 2 || !isConstant(offsets[1], 0) ||
      !isConstant(sizes[0], 1) || !isConstant(sizes[1], size) ||
      !isConstant(strides[1], 1)) {
    op->emitError("expected one whole row of an array");
    return std::nullopt;
  }
  if (auto value = dyn_cast<Value>(offsets[0]))
    return mapping.lookup(value);
  return arith::ConstantIndexOp::create(builder, op->getLoc(),
                                        *getConstantIntValue(offsets[0]))
      .getResult();
}

Value wavesmith::createConstantMemory(gpu::GPUModuleOp module,
                                      gpu::GPUFuncOp kernel, Location loc,
                                      DenseElementsAttr value) {
  OpBuilder builder(module.getContext());
  auto type = cast<RankedTensorType>(value.getType());
  auto memoryType = MemRefType::get(
      type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
      builder.getI64IntegerAttr(kConstantAddressSpace));
  auto global = memref::GlobalOp::create(
      builder, loc, "table", builder.getStringAttr("private"), memoryType,
      value, /*constant=*/true, /*alignment=*/nullptr);
  SymbolTable(module).insert(global, module.getBody()->begin());
  builder.setInsertionPointToStart(&kernel.getBody().front());
  return memref::GetGlobalOp::create(builder, loc, memoryType,
                                     global.getSymName());
}

LogicalResult ThreadBody::rewriteTable(TableOp op) {
  mapping.map(op.getResult(),
              createConstantMemory(module, kernel, op.getLoc(),
                                   cast<DenseElementsAttr>(op.getValue())));
  return success();
}

LogicalResult ThreadBody::rewriteLoop(scf::ForOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> initial;
  for (auto [init, argument] :
       llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs())) {
    if (isArray(argument.getType())) {
      mapping.map(argument, arrayMemory(init, loc));
      if (failed(checkUsedInPlace(argument)))
        return failure();
    } else {
      initial.push_back(mapping.lookup(init));
    }
  }
  auto loop =
      scf::ForOp::create(builder, loc, mapping.lookup(op.getLowerBound()),
                         mapping.lookup(op.getUpperBound()),
                         mapping.lookup(op.getStep()), initial);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  mapping.map(op.getInductionVar(), loop.getInductionVar());
  auto next = loop.getRegionIterArgs().begin();
  for (Value argument : op.getRegionIterArgs())
    if (!isArray(argument.getType()))
      mapping.map(argument, *next++);
  {
    OpBuilder::InsertionGuard guard(builder);
    // The builder of a loop without carried values adds a terminator.
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    builder.setInsertionPointToEnd(loop.getBody());
    if (failed(rewrite(*op.getBody())))
      return failure();
  }
  auto yielded = op.getBody()->getTerminator()->getOperands();
  auto result = loop.getResults().begin();
  for (auto [index, value] : llvm::enumerate(op.getResults())) {
    if (!isArray(value.getType())) {
      mapping.map(value, *result++);
      continue;
    }
    Value memory = mapping.lookup(op.getRegionIterArg(index));
    if (mapping.lookupOrNull(yielded[index]) != memory)
      return op.emitError("carries an array that is not changed in place");
    mapping.map(value, memory);
  }
  return success();
}

LogicalResult ThreadBody::rewriteBranches(Operation *op) {
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isArray(type))
      types.push_back(threadType(type));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(mapping.lookup(operand));
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *branches = builder.create(state);
  SmallVector<Value> memory(op->getNumResults());
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), branches->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&to);
    if (failed(rewrite(from.front())))
      return failure();
    for (auto [index, value] :
         llvm::enumerate(from.front().getTerminator()->getOperands())) {
      if (!isArray(value.getType()))
        continue;
      Value yielded = mapping.lookupOrNull(value);
      if (!yielded || (memory[index] && memory[index] != yielded))
        return op->emitError("yields different arrays from its branches");
      memory[index] = yielded;
    }
  }
  auto result = branches->getResults().begin();
  for (auto [index, value] : llvm::enumerate(op->getResults()))
    mapping.map(value, isArray(value.getType()) ? memory[index] : *result++);
  return success();
}

LogicalResult ThreadBody::rewriteElementwise(Operation *op) {
  SmallVector<Type> types;
  SmallVector<Value> operands;
  for (Type type : op->getResultTypes())
    types.push_back(threadType(type));
  for (Value operand : op->getOperands())
    operands.push_back(mapping.lookup(operand));
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  Operation *scalar = builder.create(state);
  mapping.map(op->getResults(), scalar->getResults());
  return success();
}

LogicalResult ThreadBody::rewrite(Operation *op) {
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](TableOp op) { return rewriteTable(op); })
      .Case([&](LoadZonesOp op) {
        Value memory = rowOfZones(op.getSource(), op.getRow(), loc);
        mapping.map(
            op.getResult(),
            memref::LoadOp::create(builder, loc, memory, thread).getResult());
        return success();
      })
      .Case([&](StoreZonesOp op) {
        Value memory = rowOfZones(op.getTarget(), op.getRow(), loc);
        memref::StoreOp::create(builder, loc, mapping.lookup(op.getValue()),
                                memory, thread);
        return success();
      })
      .Case([&](arith::ConstantOp op) -> LogicalResult {
        auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
        if (!dense && isa<ShapedType>(op.getType()))
          return op.emitError("expected the numbers of a constant "
                              "themselves, as dense<...>");
        if (!dense) {
          mapping.map(op.getResult(), builder.clone(*op)->getResult(0));
          return success();
        }
        if (!dense.isSplat())
          return op.emitError("expected the same number in all zones; "
                              "constants that differ are a wavesmith.table");
        if (isArray(op.getType()))
          return success(); // made where it is taken
        if (!isBlock(op.getType()))
          return op.emitError("constant of type ")
                 << op.getType() << " is not a block of size " << size;
        mapping.map(
            op.getResult(),
            arith::ConstantOp::create(
                builder, loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()))
                .getResult());
        return success();
      })
      .Case([&](tensor::EmptyOp op) -> LogicalResult {
        if (!isArray(op.getType()))
          return op.emitError("expected an array of rows of size ") << size;
        arrayMemory(op.getResult(), loc);
        return success();
      })
      .Case([&](tensor::SplatOp op) -> LogicalResult {
        mapping.map(op.getResult(), mapping.lookup(op.getInput()));
        return success();
      })
      .Case([&](tensor::ExtractOp op) -> LogicalResult {
        if (!op.getTensor().getDefiningOp<TableOp>())
          return op.emitError("expected to read a wavesmith.table; one zone's "
                              "value of a block has no meaning in a thread");
        mapping.map(op.getResult(),
                    memref::LoadOp::create(
                        builder, loc, mapping.lookup(op.getTensor()),
                        ValueRange{mapping.lookup(op.getIndices()[0])})
                        .getResult());
        return success();
      })
      .Case([&](tensor::ExtractSliceOp op) -> LogicalResult {
        if (!isArray(op.getSource().getType()) || !isBlock(op.getType()))
          return op.emitError("expected to take a row of an array");
        auto row = rowOf(op, op.getMixedOffsets(), op.getMixedSizes(),
                         op.getMixedStrides());
        if (!row)
          return failure();
        mapping.map(op.getResult(),
                    memref::LoadOp::create(
                        builder, loc, arrayMemory(op.getSource(), loc), *row)
                        .getResult());
        return success();
      })
      .Case([&](tensor::InsertSliceOp op) -> LogicalResult {
        if (!isArray(op.getType()) || !isBlock(op.getSource().getType()))
          return op.emitError("expected to replace a row of an array");
        auto row = rowOf(op, op.getMixedOffsets(), op.getMixedSizes(),
                         op.getMixedStrides());
        if (!row)
          return failure();
        Value memory = arrayMemory(op.getDest(), loc);
        memref::StoreOp::create(builder, loc, mapping.lookup(op.getSource()),
                                memory, *row);
        mapping.map(op.getResult(), memory);
        return success();
      })
      .Case([&](scf::ForOp op) { return rewriteLoop(op); })
      .Case<scf::IfOp, scf::IndexSwitchOp>(
          [&](Operation *op) { return rewriteBranches(op); })
      .Case([&](math::RsqrtOp op) -> LogicalResult {
        if (!getElementTypeOrSelf(op.getType()).isF64())
          return rewriteElementwise(op);
        // Not ocml's, whose last place depends on the chip's approximation.
        Value root =
            math::SqrtOp::create(builder, loc, mapping.lookup(op.getOperand()));
        Value one = arith::ConstantOp::create(builder, loc,
                                              builder.getF64FloatAttr(1.0));
        mapping.map(op.getResult(),
                    arith::DivFOp::create(builder, loc, one, root).getResult());
        return success();
      })
      .Case([&](scf::YieldOp op) {
        SmallVector<Value> operands;
        for (Value operand : op.getOperands())
          if (!isArray(operand.getType()))
            operands.push_back(mapping.lookup(operand));
        scf::YieldOp::create(builder, loc, operands);
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        StringRef dialect =
            op->getDialect() ? op->getDialect()->getNamespace() : StringRef();
        if (op->getNumRegions() == 0 &&
            (dialect == "arith" || dialect == "math" || dialect == "amdgpu"))
          return rewriteElementwise(op);
        return op->emitError("not supported in a workgroup that gives each "
                             "zone to a thread");
      });
}

/// A device runs workgroups up to a limit, in whole wavefronts.
static LogicalResult checkSize(WorkgroupOp workgroup, int64_t size,
                               const TargetInfo *target) {
  if (!target) {
    if (size > std::numeric_limits<int32_t>::max())
      return workgroup.emitError("expected a size that fits in 32 bits, got ")
             << size;
    return success();
  }
  if (size % target->wavefrontSize != 0 ||
      size > int64_t(target->maxWorkgroupSize))
    return workgroup.emitError("expected a size that is a multiple of ")
           << target->wavefrontSize << " and at most "
           << target->maxWorkgroupSize << " on " << target->architecture
           << ", got " << size;
  return success();
}

LogicalResult DistributeToThreadsPass::distribute(func::FuncOp function,
                                                  gpu::GPUModuleOp module) {
  auto workgroups =
      llvm::to_vector(function.getBody().front().getOps<WorkgroupOp>());
  Block &entry = function.getBody().front();
  if (!function.getBody().hasOneBlock() || workgroups.size() != 1 ||
      entry.getOperations().size() != 2)
    return function.emitError("expected one wavesmith.workgroup and a return, "
                              "nothing else");
  WorkgroupOp workgroup = workgroups.front();
  if (function.getNumResults() != 0)
    return function.emitError("expected a kernel without results, got ")
           << function.getNumResults();
  for (Type type : function.getArgumentTypes())
    if (isa<TensorType>(type))
      return function.emitError("expected batches in memory and scalars as "
                                "arguments, got ")
             << type;
  int64_t size = workgroup.getSize();
  FailureOr<const TargetInfo *> target = findTarget(workgroup);
  if (failed(target) || failed(checkSize(workgroup, size, *target)))
    return failure();
  int64_t threadsPerZone = workgroup.getThreadsPerZone().value_or(1);

  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(module.getBody());
  // Workspaces stand before the number of zones.
  SmallVector<Type> types(function.getArgumentTypes());
  // Code by hand need not say that batches stand in global memory.
  for (Type &type : types)
    if (auto batch = dyn_cast<MemRefType>(type);
        batch && !batch.getMemorySpace())
      type = MemRefType::get(
          batch.getShape(), batch.getElementType(), batch.getLayout(),
          gpu::AddressSpaceAttr::get(&getContext(), gpu::AddressSpace::Global));
  unsigned firstWorkspace = types.empty() ? 0 : types.size() - 1;
  SmallVector<MemRefType> workspaces;
  if (workgroup.getThreadsPerZone())
    workspaces = getWorkspaces(workgroup);
  types.insert(types.begin() + firstWorkspace, workspaces.begin(),
               workspaces.end());
  auto kernel =
      gpu::GPUFuncOp::create(builder, function.getLoc(), function.getName(),
                             builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({int32_t(size), 1, 1}));
  IRMapping mapping;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    unsigned position = i < firstWorkspace ? i : i + workspaces.size();
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      kernel.setArgAttrs(position, attributes);
    mapping.map(function.getArgument(i), kernel.getArgument(position));
  }
  if (workgroup.getThreadsPerZone()) {
    for (unsigned i = 0; i < workspaces.size(); ++i) {
      kernel.setArgAttr(firstWorkspace + i, kNameAttrName,
                        builder.getStringAttr("workspace" + Twine(i)));
      kernel.setArgAttr(firstWorkspace + i, kWorkspaceAttrName,
                        builder.getUnitAttr());
    }
    kernel->setAttr(kZonesPerWorkgroupAttrName,
                    builder.getI64IntegerAttr(size / threadsPerZone));
    // A copy: LDS adds arguments to the block, which may move its list of them.
    SmallVector<Value> memory(
        kernel.getArguments().slice(firstWorkspace, workspaces.size()));
    return distributeZone(workgroup, module, kernel, mapping, memory, *target);
  }
  return ThreadBody(module, kernel, size).distribute(workgroup, mapping);
}

void DistributeToThreadsPass::runOnOperation() {
  SmallVector<func::FuncOp> functions;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() &&
        !function.getBody().front().getOps<WorkgroupOp>().empty())
      functions.push_back(function);
  if (functions.empty())
    return;
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(getOperation().getBody());
  auto module =
      gpu::GPUModuleOp::create(builder, getOperation().getLoc(), "kernels");
  for (func::FuncOp function : functions) {
    if (failed(distribute(function, module)))
      return signalPassFailure();
    function.erase();
  }
  getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                          builder.getUnitAttr());
}
