//===- WavesmithTileOps.td - Tiles of a workgroup ----------*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workgroup level of dense computing.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TILE_OPS_TD
#define WAVESMITH_TILE_OPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.td"

def Wavesmith_TileGroup : OpDocGroup {
  let summary = "Workgroups on tiles";
  let description = [{
    The workgroup level of dense computing: a workgroup of a grid computes on
    tiles, tensors of a fixed shape whose type says how they lie over the
    workgroup's wavefronts, lanes and registers:
    `tensor<64x32xf32, #wavesmith.layout<...>>`.

    Computing is done by upstream's elementwise arith and math operations on
    tiles of the same type, by tensor.splat, by scf.for and scf.if with tiles as
    carried values and results, by memref.reinterpret_cast of kernel arguments,
    and by the operations here. Offsets and conditions are scalars, the same in
    the whole workgroup.

    math.exp2 of f32 is the hardware's v_exp_f32 and math.log2 its v_log_f32:
    within 1 unit in the last place, denormal arguments and results are zero.
  }];
}

class Wavesmith_TileOp<string mnemonic, list<Trait> traits = []>
    : Wavesmith_Op<mnemonic, traits> {
  let opDocGroup = Wavesmith_TileGroup;
}

//===----------------------------------------------------------------------===//
// Where the elements of a tile are
//===----------------------------------------------------------------------===//

def Wavesmith_LayoutAttr : Wavesmith_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how a tile lies over wavefronts, lanes and registers";
  let description = [{
    The encoding of a tile's type. Each bit of the number of a register, of a
    lane and of a wavefront moves the position in the tile by its entry:
    register r of lane l of wavefront w holds the element whose position is
    the sum of the entries of the bits set in r, l and w. An entry names a
    power of two in one dimension; within a dimension the entries are 1, 2, 4,
    ... up to half of the layout's extent in it, each once. An entry of zeros,
    for lanes and wavefronts only, says that the lanes, or wavefronts, that
    differ in that bit hold the same elements.

    A tile whose shape is a multiple of the extents repeats the layout in
    every dimension; each repetition is a fragment, a vector of
    2^(number of register entries) elements of every lane. Fragments are
    numbered with the last dimension fastest.

    There are six lane entries, 64 lanes a wavefront on all targets, and as
    many wavefront entries as the workgroup's number of wavefronts is a power
    of two.

    The result of the 32x32x8 matrix instruction, four wavefronts side by side:

    `#wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = [[0, 32], [0, 64]]>`
  }];
  let parameters = (ins "int64_t":$rank,
                        ArrayRefParameter<"int64_t">:$registers,
                        ArrayRefParameter<"int64_t">:$lanes,
                        ArrayRefParameter<"int64_t">:$waves);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Where a bit of a register's, lane's or wavefront's number leads: `step`
    /// positions in `dimension`; nowhere if the step is zero.
    struct Entry {
      int64_t dimension;
      int64_t step;
      bool operator==(const Entry &other) const {
        return step == other.step && (step == 0 || dimension == other.dimension);
      }
    };
    ::llvm::SmallVector<Entry> getRegisterEntries() const;
    ::llvm::SmallVector<Entry> getLaneEntries() const;
    ::llvm::SmallVector<Entry> getWaveEntries() const;
    /// Elements of a fragment in one lane.
    int64_t getFragmentSize() const;
    int64_t getNumWaves() const;
    /// The extents in which the layout has each element once.
    ::llvm::SmallVector<int64_t> getExtents() const;
    /// The layout of a tile without a dimension: what leads along it leads
    /// nowhere, and registers along it fall away.
    LayoutAttr withoutDimension(int64_t dimension) const;
    /// The layout of a tile that has one element left along a dimension for
    /// each of the lanes that lead along it, in the order of their bits.
    LayoutAttr withLanesOf(int64_t dimension) const;
  }];
}

def Wavesmith_LdsLayoutAttr : Wavesmith_Attr<"LdsLayout", "lds_layout"> {
  let summary = "how a staged tile lies in LDS";
  let description = [{
    The encoding of a tile's type that `stage_tile` has placed in LDS: the
    elements along dimension `contiguous` are neighbours, and `padding`
    elements stay free after each such row, against bank conflicts.

    Without padding, `swizzle` does the same in no more space: of the number
    of a group of 16 bytes in its row, bit i is flipped in the rows r for which
    r and swizzle[i] have an odd number of bits in common.

    Examples: `#wavesmith.lds_layout<contiguous = 1, padding = 8>`,
    `#wavesmith.lds_layout<contiguous = 1, padding = 0, swizzle = [1, 2, 4]>`
  }];
  let parameters = (ins "int64_t":$contiguous, "int64_t":$padding,
                        OptionalArrayRefParameter<"int64_t">:$swizzle);
  let assemblyFormat = [{
    `<` `contiguous` `=` $contiguous `,` `padding` `=` $padding
    (`,` `swizzle` `=` `[` $swizzle^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Wavesmith_Tile
    : RankedTensorOf<[F32, F16, BF16, F8E4M3FNUZ, I32, I64, I1],
                     [HasAnyRankOfPred<[1, 2]>], "tile of rank 1 or 2">;
def Wavesmith_FloatTile
    : RankedTensorOf<[F32, F16, BF16, F8E4M3FNUZ], [HasAnyRankOfPred<[1, 2]>],
                     "tile of floating-point numbers of rank 1 or 2">;
def Wavesmith_TileMemory
    : MemRefRankOf<[F32, F16, BF16, F8E4M3FNUZ, I32], [1, 2]>;

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

def Wavesmith_GridWorkgroupOp : Wavesmith_TileOp<"grid_workgroup",
    [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "what each workgroup of a grid does";
  let description = [{
    The grid has one to three dimensions, whose sizes `grid` computes from the
    operands, arguments of the function; the caller computes them too, with
    the same map, which the kernel's description repeats. The region's
    arguments are the workgroup's place in the grid. A workgroup has `waves`
    wavefronts, a power of two.

    Example:

    ```mlir
    wavesmith.grid_workgroup affine_map<(m, n) -> (m ceildiv 128, n ceildiv 64)>(%m, %n) waves 4 {
    ^bb0(%i: index, %j: index):
      ...
    }
    ```
  }];
  let arguments = (ins AffineMapAttr:$grid, Variadic<Index>:$sizes,
                       I64Attr:$waves);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $grid `(` $sizes `)` `waves` $waves attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Wavesmith_LoadTileOp : Wavesmith_TileOp<"load_tile"> {
  let summary = "a tile of an array in memory, zero outside of it";
  let description = [{
    Element p of the result is source[offsets + p], and zero where that lies
    outside of the source's sizes, whatever memory holds there: tiles may
    stick out at the end. Offsets are not negative. They and the source's own
    offset and strides are 64-bit numbers; a tile spans less than 2^31 bytes
    of memory. Rows of the source do not overlap.

    The source is a `memref.reinterpret_cast` of a kernel argument, or an
    argument of fixed shape.

    `vector` promises that neighbours along the dimension of stride 1 can be
    loaded that many at a time: size, every other stride, the base's offset
    and the tile's offset along it are multiples of `vector`, and the base's
    address of as many elements. A wrong promise is an error of the caller.

    Example: `%a = wavesmith.load_tile %A[%i, %k] vector 8 : memref<?x?xf16, strided<[?, 1], offset: ?>> -> tensor<128x32xf16, #layout>`
  }];
  let arguments = (ins
      Arg<Wavesmith_TileMemory, "", [MemRead]>:$source,
      Variadic<Index>:$offsets,
      DefaultValuedAttr<I64Attr, "1">:$vector);
  let results = (outs Wavesmith_Tile:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` (`vector` $vector^)? attr-dict `:` type($source)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Wavesmith_StoreTileOp : Wavesmith_TileOp<"store_tile"> {
  let summary = "write a tile to an array in memory";
  let description = [{
    The counterpart of `load_tile`: elements outside of the target's sizes
    are not written.

    Example: `wavesmith.store_tile %c, %C[%i, %j] : tensor<128x64xf32, #layout>, memref<?x?xf32, strided<[?, 1], offset: ?>>`
  }];
  let arguments = (ins
      Wavesmith_Tile:$value,
      Arg<Wavesmith_TileMemory, "", [MemWrite]>:$target,
      Variadic<Index>:$offsets,
      DefaultValuedAttr<I64Attr, "1">:$vector);
  let assemblyFormat = [{
    $value `,` $target `[` $offsets `]` (`vector` $vector^)? attr-dict `:`
    type($value) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Wavesmith_GatherTileOp : Wavesmith_TileOp<"gather_tile"> {
  let summary = "elements of an array, each at an index of its own";
  let description = [{
    result[p] = source[indices[p]]. The source is an argument of the kernel, of
    rank 1. Every index must lie in it. Scalars are read by `memref.load` of
    such an argument.

    Example: `%v = wavesmith.gather_tile %table[%at] : memref<?xf32>, tensor<64x128xi64, #d> -> tensor<64x128xf32, #d>`
  }];
  let arguments = (ins
      Arg<MemRefRankOf<[F32, F16, BF16, F8E4M3FNUZ, I32, I64], [1]>, "",
          [MemRead]>:$source,
      Wavesmith_Tile:$indices);
  let results = (outs Wavesmith_Tile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `,` type($indices)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Wavesmith_StageTileOp : Wavesmith_TileOp<"stage_tile", [Pure,
    OptionalTypesMatchWith<"memory of the result's type", "result", "into",
                           "::llvm::cast<::mlir::Type>($_self)">]> {
  let summary = "place a tile in LDS";
  let description = [{
    The value stays what it is. All wavefronts see it, and `read_tile` reads
    it in any layout. Each operation has memory of its own: in a loop, what
    was staged by an earlier iteration is gone. With `into` it takes the memory
    of another staged tile, which is gone then; so a loop carries a tile on
    while it reads the one of before. A staged tile that a loop carries keeps
    its memory: what the loop begins with and what it yields stand in the same.

    Barriers are placed where one is needed: between writing and reading, and
    before memory that was read is written again.

    Examples: `%s = wavesmith.stage_tile %k : tensor<64x128xf16, #load> -> tensor<64x128xf16, #wavesmith.lds_layout<contiguous = 1, padding = 8>>`,
    `%next = wavesmith.stage_tile %k1 into %s : tensor<64x128xf16, #load> -> tensor<64x128xf16, #wavesmith.lds_layout<contiguous = 1, padding = 8>>`
  }];
  let arguments = (ins Wavesmith_Tile:$source, Optional<Wavesmith_Tile>:$into);
  let results = (outs Wavesmith_Tile:$result);
  let assemblyFormat = [{
    $source (`into` $into^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Wavesmith_ReadTileOp : Wavesmith_TileOp<"read_tile", [Pure]> {
  let summary = "a tile that stands in LDS, in registers";
  let description = [{
    Example: `%a = wavesmith.read_tile %s : tensor<64x128xf16, #wavesmith.lds_layout<contiguous = 1, padding = 8>> -> tensor<64x128xf16, #operand>`
  }];
  let arguments = (ins Wavesmith_Tile:$source);
  let results = (outs Wavesmith_Tile:$result);
  let assemblyFormat =
      "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

def Wavesmith_DotOp : Wavesmith_TileOp<"dot",
    [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + lhs rhs, by matrix instructions";
  let description = [{
    `lhs` is M x K, `rhs` K x N, both of the same type f16, bf16, f32 or
    f8E4M3FNUZ (gfx942); the accumulator is M x N of f32.

    The layouts are those of a matrix instruction, 32x32 or 16x16 with K = 8
    and 16 for f16 and bf16, 2 and 4 for f32, 16 and 32 for f8E4M3FNUZ: with
    D_r, D_l, D_w the accumulator's entries of registers, lanes and
    wavefronts, A and B those of lhs and rhs,

    - 32x32: D_l[0..4] lead along N, D_l[5] and the four D_r along M; A_l[0..4]
      = D_r[0], D_r[1], D_l[5], D_r[2], D_r[3];
    - 16x16: D_l[0..3] lead along N, D_l[4..5] and the two D_r along M;
      A_l[0..3] = D_r[0], D_r[1], D_l[4], D_l[5];
    - B_l[0..4] or B_l[0..3] = D_l; the other lane entries of A and of B lead
      along K, to the same places in both, and so do the first register
      entries of both, as many as a lane feeds to one instruction: four
      numbers of f16 or bf16, one of f32, eight of f8E4M3FNUZ;
    - a wavefront entry of D along M is also A's and leads nowhere in B, one
      along N is B's and leads nowhere in A, one that leads nowhere leads
      nowhere in all.

    The order of K is free otherwise: what a matrix instruction's result holds
    in its registers is the rhs of a next one, without moving anything.

    The instructions of one accumulator run over K in the order of the
    remaining bits of K's positions, ascending. With `partial_sums`, a power of
    two that divides their number, they are cut into as many runs of equal
    length. The first run begins with the accumulator, each other one with zero;
    then neighbours are added, and neighbours of these sums, until one is left.
    A long sum in f32 is more accurate in this way: its error grows with the
    length of a run. Within an instruction the order of the sum and its
    roundings are those of the chip: on gfx90a and gfx942 they differ in bits,
    and gfx90a takes denormal f16 and bf16 as zero.

    Example: `%d = wavesmith.dot %a, %b, %c : tensor<64x32xf16, #a>, tensor<32x32xf16, #b>, tensor<64x32xf32, #d>`
  }];
  let arguments = (ins Wavesmith_FloatTile:$lhs, Wavesmith_FloatTile:$rhs,
                       Wavesmith_FloatTile:$accumulator,
                       DefaultValuedAttr<I64Attr, "1">:$partial_sums);
  let results = (outs Wavesmith_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator (`partial_sums` $partial_sums^)? attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($accumulator)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Rows and columns of the matrix instruction: 32 or 16; 0 if the layouts
    /// are those of none.
    int64_t getInstructionSize();
    /// Numbers of K that a lane feeds to one instruction.
    int64_t getNumbersPerLane();
    /// Instructions that one accumulator goes through, all of K.
    int64_t getNumInstructions();
  }];
}

def Wavesmith_ReduceTileOp : Wavesmith_TileOp<"reduce_tile",
    [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "combine the elements of a tile along one dimension";
  let description = [{
    The result's layout is the tile's without the dimension. The region
    combines two elements; it must be commutative. Each lane folds its own
    elements in ascending order of fragments and registers; then, for lane
    bits that lead along the dimension from the lowest to the highest, lanes
    that differ in the bit combine. Wavefronts must not lead along the
    dimension.

    A result of rank 2 keeps the dimension, with one element for each of the
    lanes that lead along it: each lane folds its own and no more. A further
    `reduce_tile` does the rest.

    Example:

    ```mlir
    %m = wavesmith.reduce_tile %s dimension 0 : tensor<64x32xf32, #d> -> tensor<32xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.maxnumf %a, %b : f32
      wavesmith.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Wavesmith_Tile:$source, I64Attr:$dimension);
  let results = (outs Wavesmith_Tile:$result);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $source `dimension` $dimension attr-dict `:` type($source) `->`
    type($result) $combine
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Wavesmith_AnyTileOp : Wavesmith_TileOp<"any_tile", [Pure]> {
  let summary = "whether any element that the wavefront holds is true";
  let description = [{
    Wavefronts may differ in their answers, the lanes of one do not. What
    happens under such a condition must not change the values of other
    wavefronts: no tile is staged there.

    Example: `%any = wavesmith.any_tile %grows : tensor<2x128xi1, #part>`
  }];
  let arguments = (ins Wavesmith_Tile:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Wavesmith_BroadcastTileOp : Wavesmith_TileOp<"broadcast_tile", [Pure]> {
  let summary = "repeat a tile of rank 1 along a new dimension";
  let description = [{
    result[i, j] = source[j] for dimension 0, source[i] for dimension 1. The
    source's layout is the result's without the dimension.

    Example: `%m2 = wavesmith.broadcast_tile %m dimension 0 : tensor<32xf32, #row> -> tensor<64x32xf32, #d>`
  }];
  let arguments = (ins Wavesmith_Tile:$source, I64Attr:$dimension);
  let results = (outs Wavesmith_Tile:$result);
  let assemblyFormat = [{
    $source `dimension` $dimension attr-dict `:` type($source) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def Wavesmith_TilePositionOp : Wavesmith_TileOp<"tile_position", [Pure]> {
  let summary = "each element's own position in the tile";
  let description = [{
    result[i, j] = i for dimension 0, j for dimension 1.

    Example: `%i = wavesmith.tile_position dimension 0 : tensor<64x32xi32, #d>`
  }];
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Wavesmith_Tile:$result);
  let assemblyFormat = "`dimension` $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // WAVESMITH_TILE_OPS_TD
