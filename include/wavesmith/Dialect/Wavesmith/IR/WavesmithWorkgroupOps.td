//===- WavesmithWorkgroupOps.td - What one workgroup does --*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workgroup level. A block is a tensor whose last dimension has the size
// of the workgroup: `tensor<64xf64>` is one value a zone,
// `tensor<53x64xf64>` an array of 53 values a zone. Computing is done by
// upstream's elementwise arith and math operations on blocks, by
// tensor.splat, tensor.extract (of a table), tensor.extract_slice and
// tensor.insert_slice (one row of an array), and by scf's control flow on
// values that are the same in the whole workgroup. math.rsqrt of f64 is
// 1.0 / sqrt(x), with two roundings.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_WORKGROUP_OPS_TD
#define WAVESMITH_WORKGROUP_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.td"

def Wavesmith_WorkgroupOp : Wavesmith_Op<"workgroup",
    [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "what each workgroup does";
  let description = [{
    One workgroup takes `size` neighbouring zones, workgroup 0 the first ones.
    Zones past the number of zones are computed by nobody: loads give them no
    defined value and stores leave memory alone.

    Example:

    ```mlir
    wavesmith.workgroup zones %num_zones size 64 {
      %c0 = arith.constant 0 : index
      %y = wavesmith.load_zones %in[%c0] : memref<1x?xf64> -> tensor<64xf64>
      %z = arith.mulf %y, %y : tensor<64xf64>
      wavesmith.store_zones %z, %out[%c0] : tensor<64xf64>, memref<1x?xf64>
    }
    ```
  }];
  let arguments = (ins Index:$num_zones, I64Attr:$size);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `zones` $num_zones `size` $size attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Wavesmith_LoadZonesOp : Wavesmith_Op<"load_zones"> {
  let summary = "one row of a batch, for the zones of the workgroup";
  let description = [{
    `row` is the same in the whole workgroup. The zones stand in the dynamic
    dimension of the memref: the second one (`soa`) or the first one (`aos`).

    Example: `%y3 = wavesmith.load_zones %y[%c3] : memref<53x?xf64> -> tensor<64xf64>`
  }];
  let arguments = (ins Arg<MemRefRankOf<[F64], [2]>, "", [MemRead]>:$source,
                       Index:$row);
  let results = (outs 1DTensorOf<[F64]>:$result);
  let assemblyFormat =
      "$source `[` $row `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Wavesmith_StoreZonesOp : Wavesmith_Op<"store_zones"> {
  let summary = "write one row of a batch, for the zones of the workgroup";
  let description = [{
    The counterpart of `load_zones`.

    Example: `wavesmith.store_zones %v, %out[%c3] : tensor<64xf64>, memref<53x?xf64>`
  }];
  let arguments = (ins 1DTensorOf<[F64]>:$value,
                       Arg<MemRefRankOf<[F64], [2]>, "", [MemWrite]>:$target,
                       Index:$row);
  let assemblyFormat =
      "$value `,` $target `[` $row `]` attr-dict `:` type($value) `,` type($target)";
  let hasVerifier = 1;
}

def Wavesmith_TableOp : Wavesmith_Op<"table",
    [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a table of constants";
  let description = [{
    Read with `tensor.extract` at an index that is the same in the whole
    workgroup. The table stands in constant memory unless a pass places it
    elsewhere.

    Example: `%A = wavesmith.table dense<[1.0, 2.0]> : tensor<2xf64>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs 1DTensorOf<[F64, I32]>:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // WAVESMITH_WORKGROUP_OPS_TD
