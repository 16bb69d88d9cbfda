//===- Scores.h - From products to scores -----------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_ATTENTIONTOWORKGROUP_SCORES_H
#define WAVESMITH_ATTENTIONTOWORKGROUP_SCORES_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

namespace wavesmith {

/// An operand of attention in memory: the kernel's argument of rank 1, and the
/// sizes (index) of the tensor that it is.
struct OperandMemory {
  mlir::Value memory;
  llvm::SmallVector<mlir::Value> sizes;
  explicit operator bool() const { return bool(memory); }
};

/// All that attention does to a tile of products, keys x queries, before the
/// softmax, but for the masks that depend on the positions alone.
class ScoreBuilder {
public:
  ScoreBuilder(mlir::ImplicitLocOpBuilder &builder, AttentionOp op)
      : b(builder), op(op) {}

  OperandMemory bias, alibi, descaleQ, descaleK;
  llvm::SmallVector<OperandMemory> captures;
  /// f32, keys x queries.
  mlir::RankedTensorType type;
  /// The workgroup's place: sequence, heads of queries and of keys, first query
  /// in the sequence, and the sequence's lengths (index).
  mlir::Value batch, head, group, firstQuery, numQueries, numKeys;

  /// Whether scores are more than products times a number that is known.
  bool isNeeded();
  /// The scores of the keys from `firstKey` on, -inf where the mask region
  /// takes a pair out. Where a tile has no pair they are any numbers.
  mlir::Value apply(mlir::Value products, mlir::Value firstKey);
  /// The number of a descale of one number or one a head; 1 if there is none.
  mlir::Value loadDescale(const OperandMemory &descale, mlir::Value ofHead);

private:
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value multiply(mlir::Value x, mlir::Value y);
  mlir::Value index(int64_t value);
  mlir::Value fill(double value);
  /// A scalar in a whole tile; an index as i64.
  mlir::Value splat(mlir::Value scalar);
  mlir::Value softcap(mlir::Value scores);
  mlir::Value addBias(mlir::Value scores, mlir::Value firstKey);
  mlir::Value addAlibi(mlir::Value scores, mlir::Value firstKey);
  /// Each element's position in the sequence (i64), the last one past its end.
  mlir::Value position(int64_t dimension, mlir::Value first,
                       mlir::Value length);
  /// What a region yields, for a tile.
  mlir::Value inlineRegion(mlir::Region &region, mlir::ValueRange arguments);
  mlir::Value inlineExtract(mlir::Operation *extract, mlir::IRMapping &mapping,
                            mlir::Region &region);

  mlir::ImplicitLocOpBuilder &b;
  AttentionOp op;
};

} // namespace wavesmith

#endif // WAVESMITH_ATTENTIONTOWORKGROUP_SCORES_H
