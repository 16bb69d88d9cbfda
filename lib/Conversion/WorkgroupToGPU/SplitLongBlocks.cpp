//===- SplitLongBlocks.cpp - Bound the length of basic blocks -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"

namespace wavesmith {
#define GEN_PASS_DEF_SPLITLONGBLOCKSPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

namespace {
class SplitLongBlocksPass
    : public wavesmith::impl::SplitLongBlocksPassBase<SplitLongBlocksPass> {
public:
  using SplitLongBlocksPassBase::SplitLongBlocksPassBase;

  void runOnOperation() override {
    if (limit <= 0) {
      getOperation().emitError("expected a positive limit, got ") << limit;
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel())
        split(kernel);
  }

private:
  void split(gpu::GPUFuncOp kernel);
};
} // namespace

void SplitLongBlocksPass::split(gpu::GPUFuncOp kernel) {
  SmallVector<Block *> blocks;
  for (Block &block : kernel.getBody())
    blocks.push_back(&block);
  OpBuilder builder(&getContext());
  Block *exit = nullptr;
  for (Block *block : blocks) {
    Block::iterator position = block->begin();
    while (true) {
      // Allocas stay in the entry block, where their size is static.
      int64_t count = 0;
      while (position != block->end() && count < limit) {
        ++position;
        ++count;
      }
      if (position == block->end() || std::next(position) == block->end())
        break;
      Location loc = position->getLoc();
      if (!exit) {
        exit = builder.createBlock(&kernel.getBody());
        gpu::ReturnOp::create(builder, loc);
      }
      Block *rest = block->splitBlock(position);
      builder.setInsertionPointToEnd(block);
      // An assignment that LLVM does not look into, and does not merge with
      // the others.
      Value one =
          LLVM::InlineAsmOp::create(
              builder, loc, builder.getI32Type(), /*operands=*/ValueRange{},
              "s_mov_b32 $0, 1", "=s", /*has_side_effects=*/true,
              /*is_align_stack=*/false, LLVM::TailCallKind::None,
              /*asm_dialect=*/LLVM::AsmDialectAttr(),
              /*operand_attrs=*/ArrayAttr())
              .getResult(0);
      Value zero = arith::ConstantOp::create(builder, loc,
                                             builder.getI32IntegerAttr(0));
      Value isAny = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ne, one, zero);
      cf::CondBranchOp::create(builder, loc, isAny, rest, exit);
      block = rest;
      position = block->begin();
    }
  }
}
