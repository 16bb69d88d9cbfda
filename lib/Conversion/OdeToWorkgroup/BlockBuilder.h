//===- BlockBuilder.h - Arithmetic on blocks --------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_BLOCKBUILDER_H
#define WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_BLOCKBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace wavesmith {

/// Builds operations on blocks of one f64 a zone.
class BlockBuilder {
public:
  using Value = mlir::Value;

  BlockBuilder(mlir::OpBuilder &builder, mlir::Location loc, int64_t size)
      : builder(builder), loc(loc),
        type(mlir::RankedTensorType::get({size}, builder.getF64Type())) {}

  mlir::RankedTensorType getType() const { return type; }
  int64_t getSize() const { return type.getDimSize(0); }

  /// The same number in all zones.
  Value constant(double value) {
    return mlir::arith::ConstantOp::create(
        builder, loc, mlir::DenseElementsAttr::get(type, value));
  }
  Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) {
    return mlir::arith::AddFOp::create(builder, loc, a, b);
  }
  Value subtract(Value a, Value b) {
    return mlir::arith::SubFOp::create(builder, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return mlir::arith::MulFOp::create(builder, loc, a, b);
  }
  Value divide(Value a, Value b) {
    return mlir::arith::DivFOp::create(builder, loc, a, b);
  }
  Value negate(Value a) { return mlir::arith::NegFOp::create(builder, loc, a); }
  /// a * b + c with one rounding.
  Value fma(Value a, Value b, Value c) {
    return mlir::math::FmaOp::create(builder, loc, a, b, c);
  }
  Value exp(Value a) { return mlir::math::ExpOp::create(builder, loc, a); }
  Value log(Value a) { return mlir::math::LogOp::create(builder, loc, a); }
  Value log10(Value a) { return mlir::math::Log10Op::create(builder, loc, a); }
  Value cbrt(Value a) { return mlir::math::CbrtOp::create(builder, loc, a); }
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  /// condition ? a : b, zone by zone. A scalar condition holds for all.
  Value select(Value condition, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }

  /// One number of a table, in all zones.
  Value lookUp(Value table, Value position) {
    Value element = mlir::tensor::ExtractOp::create(builder, loc, table,
                                                    mlir::ValueRange{position});
    return mlir::tensor::SplatOp::create(builder, loc, type, element);
  }
  /// One index of a table of i32.
  Value lookUpIndex(Value table, Value position) {
    Value element = mlir::tensor::ExtractOp::create(builder, loc, table,
                                                    mlir::ValueRange{position});
    return mlir::arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), element);
  }

  /// An array of `rows` values a zone, all +0.0.
  Value zeroArray(int64_t rows) {
    auto arrayType =
        mlir::RankedTensorType::get({rows, getSize()}, builder.getF64Type());
    return mlir::arith::ConstantOp::create(
        builder, loc, mlir::DenseElementsAttr::get(arrayType, 0.0));
  }
  Value readRow(Value array, Value row) {
    return mlir::tensor::ExtractSliceOp::create(
        builder, loc, type, array, rowOffsets(row), rowSizes(), unitStrides());
  }
  /// The array with one row replaced.
  Value writeRow(Value value, Value array, Value row) {
    return mlir::tensor::InsertSliceOp::create(
        builder, loc, value, array, rowOffsets(row), rowSizes(), unitStrides());
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  llvm::SmallVector<mlir::OpFoldResult> rowOffsets(Value row) {
    return {row, builder.getIndexAttr(0)};
  }
  llvm::SmallVector<mlir::OpFoldResult> rowSizes() {
    return {builder.getIndexAttr(1), builder.getIndexAttr(getSize())};
  }
  llvm::SmallVector<mlir::OpFoldResult> unitStrides() {
    return {builder.getIndexAttr(1), builder.getIndexAttr(1)};
  }

  mlir::RankedTensorType type;
};

} // namespace wavesmith

#endif // WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_BLOCKBUILDER_H
