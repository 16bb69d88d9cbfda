//===- WavesmithWorkgroupOps.td - What one workgroup does --*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workgroup level of zones, in two mappings.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_WORKGROUP_OPS_TD
#define WAVESMITH_WORKGROUP_OPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.td"

def Wavesmith_WorkgroupGroup : OpDocGroup {
  let summary = "Workgroups of zones";
  let description = [{
    The workgroup level, in two mappings.

    One zone a thread: a block is a tensor whose last dimension has the size of
    the workgroup: `tensor<64xf64>` is one value a zone, `tensor<53x64xf64>` an
    array of 53 values a zone. Computing is done by upstream's elementwise arith
    and math operations on blocks, by tensor.splat, tensor.extract (of a table),
    tensor.extract_slice and tensor.insert_slice (one row of an array), and by
    scf's control flow on values that are the same in the whole workgroup.

    Several threads a zone (`threads_per_zone`): the body is what is done for
    one zone. A scalar is one number of the zone, a tensor `tensor<150xf64>` an
    array of it whose elements the threads share out: element e belongs to
    thread e mod threads_per_zone. A tensor with the encoding
    #wavesmith.per_wavefront is shared out within every wavefront instead, each of
    which has all of it. Computing is done by elementwise arith and
    math operations on tensors and scalars, by tensor.splat, tensor.extract (an
    element of a staged tensor or table, at an index that is the same for the
    zone), tensor.concat (of what is staged at once), `gather`,
    `segmented_reduce` and `stage`, and by scf's control flow on scalars.

    In both, math.rsqrt of f64 is 1.0 / sqrt(x), with two roundings.
  }];
}

class Wavesmith_ZoneOp<string mnemonic, list<Trait> traits = []>
    : Wavesmith_Op<mnemonic, traits> {
  let opDocGroup = Wavesmith_WorkgroupGroup;
}

def Wavesmith_WorkgroupOp : Wavesmith_ZoneOp<"workgroup",
    [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "what each workgroup does";
  let description = [{
    One workgroup takes `size` neighbouring zones, workgroup 0 the first ones.
    Zones past the number of zones are computed by nobody: loads give them no
    defined value and stores leave memory alone.

    With `threads_per_zone`, `size` is the number of threads, and the workgroup
    takes size / threads_per_zone neighbouring zones: the body describes one of
    them. It is a power of two up to the wavefront size that divides `size`,
    or `size` itself.

    Examples:

    ```mlir
    wavesmith.workgroup zones %num_zones size 64 {
      %c0 = arith.constant 0 : index
      %y = wavesmith.load_zones %in[%c0] : memref<1x?xf64> -> tensor<64xf64>
      %z = arith.mulf %y, %y : tensor<64xf64>
      wavesmith.store_zones %z, %out[%c0] : tensor<64xf64>, memref<1x?xf64>
    }

    wavesmith.workgroup zones %num_zones size 256 threads_per_zone 256 {
      %y = wavesmith.load_zone %in : memref<150x?xf64> -> tensor<150xf64>
      %z = arith.mulf %y, %y : tensor<150xf64>
      wavesmith.store_zone %z, %out : tensor<150xf64>, memref<150x?xf64>
    }
    ```
  }];
  let arguments = (ins Index:$num_zones, I64Attr:$size,
                       OptionalAttr<I64Attr>:$threads_per_zone);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `zones` $num_zones `size` $size (`threads_per_zone` $threads_per_zone^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Wavesmith_LoadZonesOp : Wavesmith_ZoneOp<"load_zones"> {
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

def Wavesmith_StoreZonesOp : Wavesmith_ZoneOp<"store_zones"> {
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

def Wavesmith_TableOp : Wavesmith_ZoneOp<"table",
    [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a table of constants";
  let description = [{
    Read with `tensor.extract` at an index that is the same in the whole
    workgroup, or zone; where several threads share a zone, also element by
    element like any tensor, and as the source of a `gather`. The table stands
    in constant memory unless a `stage` places it elsewhere. Integers of 8 and
    16 bits are tables that narrowing made; arith.extui and arith.uitofp widen
    them.

    Example: `%A = wavesmith.table dense<[1.0, 2.0]> : tensor<2xf64>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs 1DTensorOf<[F64, F32, I32, I16, I8]>:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Several threads a zone
//===----------------------------------------------------------------------===//

/// What a zone's arrays and numbers are made of.
def Wavesmith_ZoneElement : AnyTypeOf<[F64, F32, I32]>;
def Wavesmith_ZoneValue
    : AnyTypeOf<[1DTensorOf<[F64, F32, I32]>, F64, F32, I32]>;

def Wavesmith_LoadZoneOp : Wavesmith_ZoneOp<"load_zone"> {
  let summary = "the values of this zone in a batch";
  let description = [{
    From a batch of rank 2 a tensor, from one of rank 1 a number. The zones
    stand in the dynamic dimension of the memref, the only one. For workgroups
    with `threads_per_zone`.

    Examples: `%y = wavesmith.load_zone %in : memref<150x?xf64> -> tensor<150xf64>`,
    `%t = wavesmith.load_zone %time : memref<?xf64> -> f64`
  }];
  let arguments = (ins Arg<MemRefRankOf<[Wavesmith_ZoneElement], [1, 2]>, "",
                           [MemRead]>:$source);
  let results = (outs Wavesmith_ZoneValue:$result);
  let assemblyFormat =
      "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Wavesmith_StoreZoneOp : Wavesmith_ZoneOp<"store_zone"> {
  let summary = "write the values of this zone in a batch";
  let description = [{
    The counterpart of `load_zone`.

    Example: `wavesmith.store_zone %y, %out : tensor<150xf64>, memref<150x?xf64>`
  }];
  let arguments = (ins Wavesmith_ZoneValue:$value,
                       Arg<MemRefRankOf<[Wavesmith_ZoneElement], [1, 2]>, "",
                           [MemWrite]>:$target);
  let assemblyFormat =
      "$value `,` $target attr-dict `:` type($value) `,` type($target)";
  let hasVerifier = 1;
}

def Wavesmith_StageOp : Wavesmith_ZoneOp<"stage",
    [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "place a tensor where all threads of the zone can read it";
  let description = [{
    The value stays what it is; the operation says where it is kept from here
    on. Staged in `global` (a workspace of the caller) or `lds`, any thread
    reads any element: a `gather` needs that of its source. Staged in
    `registers`, each thread keeps its own elements: what stands before a loop
    is not read again in it.

    Examples: `%s = wavesmith.stage %y in lds : tensor<150xf64>`,
    `%r = wavesmith.stage %table in registers : tensor<2704xi32>`
  }];
  let arguments = (ins 1DTensorOf<[F64, F32, I32, I16, I8]>:$source,
                       Wavesmith_MemorySpaceAttr:$space);
  let results = (outs 1DTensorOf<[F64, F32, I32, I16, I8]>:$result);
  let assemblyFormat = "$source `in` $space attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Wavesmith_ReplicateOp : Wavesmith_ZoneOp<"replicate", [Pure]> {
  let summary = "give every wavefront the whole tensor";
  let description = [{
    The value stays what it is; from here on each wavefront of the zone has all
    elements. The source is staged in `lds` or `global`, a table, the result of
    a reduction, or one number for all elements.

    Example: `%r = wavesmith.replicate %p : tensor<150xf64> -> tensor<150xf64, #wavesmith.per_wavefront>`
  }];
  let arguments = (ins 1DTensorOf<[F64, F32, I32, I16, I8]>:$source);
  let results = (outs 1DTensorOf<[F64, F32, I32, I16, I8]>:$result);
  let assemblyFormat =
      "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Wavesmith_GatherOp : Wavesmith_ZoneOp<"gather", [Pure]> {
  let summary = "elements of a tensor, in any order";
  let description = [{
    result[e] = source[indices[e]]. The source is staged in `global` or `lds`,
    or a table. Indices are not negative and below the number of elements of
    the source; for those of a table this is verified. The result is laid out
    as the indices are.

    Example: `%g = wavesmith.gather %y[%at] : tensor<150xf64>, tensor<1604xi32> -> tensor<1604xf64>`
  }];
  let arguments = (ins 1DTensorOf<[F64, F32, I32]>:$source,
                       1DTensorOf<[I32]>:$indices);
  let results = (outs 1DTensorOf<[F64, F32, I32]>:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `,` type($indices)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Wavesmith_SegmentedReduceOp : Wavesmith_ZoneOp<"segmented_reduce",
    [Pure, IsolatedFromAbove, AttrSizedOperandSegments,
     SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "reduce each of many neighbouring ranges of elements";
  let description = [{
    Segment s holds the elements `segments[s]` to `segments[s + 1]` (that one
    left out) of the tensors `elements`, which have the same number E of
    elements; `segments` ascends from 0 to E. Each result is a tensor of one
    value a segment; a dense reduction has one segment.

    The order is part of the meaning. A segment with L = 1 `lanes` folds from
    `init`, acc = accumulate(acc, element), over its elements in ascending
    order. With L lanes, a power of two, lane j folds from `init` over the
    elements j, j + L, j + 2L, ... of the segment, and then, for d = 1, 2, 4,
    ... up to L / 2, every lane j with j mod 2d = 0 takes
    acc_j = combine(acc_j, acc_(j + d)); the result is acc_0. `combine` must be
    commutative, so that lane j + d may compute the same bits. `lanes` has one
    number for all segments or one for each; without it all are 1.

    Elements with the encoding #wavesmith.per_wavefront are one segment with as
    many lanes as a wavefront shares them out over; every wavefront reduces them.

    With `resident`, the fold is unrolled, and what of the elements does not
    change in the loops around the reduction (tables, what is staged before the
    loop, what is computed from them) is read before those loops and kept in
    the registers of the thread that folds it.

    `accumulate` takes the accumulators and one element of each tensor,
    `combine` two sets of accumulators; both yield accumulators.

    Example:

    ```mlir
    %sum = wavesmith.segmented_reduce(%v, %w) init(%zero) segments [0, 3, 7] lanes [1, 4] : (tensor<7xf64>, tensor<7xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%acc: f64, %value: f64, %weight: f64):
      %next = math.fma %weight, %value, %acc : f64
      wavesmith.yield %next : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %both = arith.addf %a, %b : f64
      wavesmith.yield %both : f64
    }
    ```
  }];
  let arguments = (ins Variadic<1DTensorOf<[F64, F32, I32]>>:$elements,
                       Variadic<Wavesmith_ZoneElement>:$init,
                       DenseI32ArrayAttr:$segments,
                       OptionalAttr<DenseI32ArrayAttr>:$lanes,
                       UnitAttr:$resident);
  let results = (outs Variadic<1DTensorOf<[F64, F32, I32]>>:$results);
  let regions = (region SizedRegion<1>:$accumulate, SizedRegion<1>:$combine);
  let assemblyFormat = [{
    `(` $elements `)` `init` `(` $init `)` `segments` $segments
    (`lanes` $lanes^)? (`resident` $resident^)? attr-dict `:` `(` type($elements) `)` `,` type($init)
    `->` type($results) `accumulate` $accumulate `combine` $combine
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumSegments() { return getSegments().size() - 1; }
    /// The number of lanes of a segment.
    int64_t getLanesOf(unsigned segment);
  }];
}

def Wavesmith_YieldOp : Wavesmith_ZoneOp<"yield",
    [Pure, Terminator, ReturnLike,
     ParentOneOf<["AttentionOp", "ReduceTileOp", "SegmentedReduceOp"]>]> {
  let summary = "what a region of an operation gives";
  let description = [{
    Example: `wavesmith.yield %next : f64`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ static_cast<void>($_state); }]>];
}

#endif // WAVESMITH_WORKGROUP_OPS_TD
