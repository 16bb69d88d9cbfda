//===- SplitLongBlocks.cpp - Bound the length of basic blocks -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/MapVector.h"

namespace wavesmith {
#define GEN_PASS_DEF_SPLITLONGBLOCKSPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

/// A value is hidden from LLVM in the pieces of a block if at least this many
/// of them use it: fewer share little.
static constexpr unsigned kMinimumPieces = 3;

/// An assembly instruction (or none, if the text is empty) that LLVM does not
/// look into, does not merge with others, and, if it clobbers memory, does not
/// move loads across.
static Value buildOpaque(OpBuilder &builder, Location loc, Type type,
                         ValueRange operands, StringRef text,
                         StringRef constraints) {
  return LLVM::InlineAsmOp::create(
             builder, loc, type, operands, text, constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, /*asm_dialect=*/LLVM::AsmDialectAttr(),
             /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

namespace {
class SplitLongBlocksPass
    : public wavesmith::impl::SplitLongBlocksPassBase<SplitLongBlocksPass> {
public:
  using SplitLongBlocksPassBase::SplitLongBlocksPassBase;

  void runOnOperation() override {
    if (limit <= 0) {
      getOperation().emitError("expected a positive limit, got ")
          << limit.getValue();
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!kernel.isExternal() &&
          kernel->hasAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName()) &&
          !kernel->hasAttr(kGridAttrName))
        split(kernel);
  }

private:
  void split(LLVM::LLVMFuncOp kernel);
  /// Keeps LLVM from moving the computation of a result to where it is used.
  void pinResults(ArrayRef<Block *> pieces);
  /// Keeps LLVM from sharing what pieces compute from the same value.
  void hideSharedValues(ArrayRef<Block *> pieces);
};
} // namespace

/// The register class of a value that pieces of a block share, as a
/// constraint; empty if the value is left alone. Kernel arguments are the same
/// in all lanes.
static StringRef registerClass(Value value) {
  Type type = value.getType();
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && !argument.getOwner()->isEntryBlock())
    return "";
  if (argument &&
      (type.isInteger(64) || type.isF64() || isa<LLVM::LLVMPointerType>(type)))
    return "s";
  return type.isF64() ? "v" : "";
}

void SplitLongBlocksPass::split(LLVM::LLVMFuncOp kernel) {
  SmallVector<Block *> blocks;
  for (Block &block : kernel.getBody())
    blocks.push_back(&block);
  OpBuilder builder(&getContext());
  Block *exit = nullptr;
  // Where threads share a zone, blocks wait for each other's data, and the
  // scheduler needs room to hide that; they are bounded by what a thread holds.
  auto zones = kernel->getAttrOfType<IntegerAttr>(kZonesPerWorkgroupAttrName);
  auto size = kernel->getAttrOfType<DenseI32ArrayAttr>("gpu.known_block_size");
  bool isShared = zones && size && zones.getInt() < size[0];
  int64_t most = isShared ? 20 * limit : limit;
  SmallVector<Block *> pieces;
  for (Block *block : blocks) {
    Block::iterator position = block->begin();
    while (true) {
      int64_t count = 0;
      while (position != block->end() && count < most) {
        // Constants are free: LLVM keeps them as operands.
        count += !position->hasTrait<OpTrait::ConstantLike>();
        ++position;
      }
      if (position == block->end() || std::next(position) == block->end())
        break;
      Location loc = position->getLoc();
      if (!exit) {
        exit = builder.createBlock(&kernel.getBody());
        LLVM::ReturnOp::create(builder, loc, ValueRange());
      }
      if (pieces.empty() || pieces.back() != block)
        pieces.push_back(block);
      Block *rest = block->splitBlock(position);
      pieces.push_back(rest);
      builder.setInsertionPointToEnd(block);
      Value one = buildOpaque(builder, loc, builder.getI32Type(), {},
                              "s_mov_b32 $0, 1", "=s,~{memory}");
      Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                            builder.getI32IntegerAttr(0));
      Value always = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                          one, zero);
      LLVM::CondBrOp::create(builder, loc, always, rest, exit);
      block = rest;
      position = block->begin();
    }
  }
  pinResults(pieces);
  hideSharedValues(pieces);
}

void SplitLongBlocksPass::pinResults(ArrayRef<Block *> pieces) {
  OpBuilder builder(&getContext());
  for (Block *piece : pieces) {
    SmallVector<Value> results;
    for (Operation &op : piece->without_terminator())
      for (Value result : op.getResults())
        if (registerClass(result) == "v" && !isa<LLVM::ConstantOp>(op) &&
            result.isUsedOutsideOfBlock(piece))
          results.push_back(result);
    builder.setInsertionPoint(piece->getTerminator());
    for (Value result : results) {
      Value pinned = buildOpaque(builder, result.getLoc(), result.getType(),
                                 result, "", "=v,0");
      result.replaceUsesWithIf(pinned, [&](OpOperand &use) {
        return use.getOwner()->getBlock() != piece;
      });
    }
  }
}

void SplitLongBlocksPass::hideSharedValues(ArrayRef<Block *> pieces) {
  // The uses of a value by the piece that they stand in.
  using Uses = llvm::MapVector<Block *, SmallVector<OpOperand *>>;
  llvm::MapVector<Value, Uses> shared;
  for (Block *piece : pieces)
    for (Operation &op : *piece)
      for (OpOperand &operand : op.getOpOperands())
        if (!registerClass(operand.get()).empty() &&
            operand.get().getParentBlock() != piece &&
            !operand.get().getDefiningOp<LLVM::ConstantOp>())
          shared[operand.get()][piece].push_back(&operand);
  OpBuilder builder(&getContext());
  for (auto &[value, uses] : shared) {
    if (uses.size() < kMinimumPieces)
      continue;
    StringRef constraint = registerClass(value) == "s" ? "=s,0" : "=v,0";
    for (auto &[piece, operands] : uses) {
      builder.setInsertionPointToStart(piece);
      Value hidden = buildOpaque(builder, value.getLoc(), value.getType(),
                                 value, "", constraint);
      for (OpOperand *operand : operands)
        operand->set(hidden);
    }
  }
}
