// RUN: wavesmith-opt %s --wavesmith-distribute-tiles | FileCheck %s -enable-var-scope

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#a = #wavesmith.layout<registers = [[0, 1], [0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#row = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [0]], waves = []>
#lds = #wavesmith.lds_layout<contiguous = 1, padding = 4>

// CHECK-LABEL: gpu.func @tiles
// CHECK-SAME: workgroup(%[[LDS:.+]] : memref<640xf16, #gpu.address_space<workgroup>>
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME: wavesmith.grid = ["n ceildiv 32"]
func.func @tiles(%x: memref<?xf16, #gpu.address_space<global>> {wavesmith.name = "x"}, %y: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "y"}, %n: index {wavesmith.name = "n"}) {
  wavesmith.grid_workgroup affine_map<(n) -> (n ceildiv 32)>(%n) waves 1 {
  ^bb0(%i: index):
    %c0 = arith.constant 0 : index
    %view = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<?xf16, #gpu.address_space<global>> to memref<?x16xf16, strided<[16, 1]>, #gpu.address_space<global>>
    // The tile of 32 x 16 is two fragments of four elements.
    // CHECK: rocdl.make.buffer.rsrc
    // CHECK-COUNT-2: rocdl.raw.ptr.buffer.load {{.+}} : vector<2xi32>
    // CHECK-NOT: raw.ptr.buffer.load
    %loaded = wavesmith.load_tile %view[%i, %c0] vector 4 : memref<?x16xf16, strided<[16, 1]>, #gpu.address_space<global>> -> tensor<32x16xf16, #a>
    // CHECK-NOT: lds_barrier
    // CHECK-COUNT-2: vector.store %{{.+}}, %[[LDS]][%{{.+}}] {alignment = 8 : i64}
    %staged = wavesmith.stage_tile %loaded : tensor<32x16xf16, #a> -> tensor<32x16xf16, #lds>
    // CHECK: amdgpu.lds_barrier
    // CHECK-COUNT-2: vector.load %[[LDS]][%{{.+}}] {alignment = 8 : i64}
    %lhs = wavesmith.read_tile %staged : tensor<32x16xf16, #lds> -> tensor<32x16xf16, #a>
    %rhs = arith.constant dense<1.0> : tensor<16x32xf16, #b>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #d>
    // CHECK: %[[FIRST:.+]] = amdgpu.mfma 32x32x8 %{{.+}} * %{{.+}} + %{{.+}} blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    // CHECK: amdgpu.mfma 32x32x8 %{{.+}} * %{{.+}} + %[[FIRST]] blgp = none
    %sum = wavesmith.dot %lhs, %rhs, %zero : tensor<32x16xf16, #a>, tensor<16x32xf16, #b>, tensor<32x32xf32, #d>
    // Fifteen in the lane, one with the lane 32 away.
    // CHECK-COUNT-15: arith.addf
    // CHECK: gpu.shuffle xor
    // CHECK: arith.addf
    %total = wavesmith.reduce_tile %sum dimension 0 : tensor<32x32xf32, #d> -> tensor<32xf32, #row> {
    ^bb0(%one: f32, %other: f32):
      %both = arith.addf %one, %other : f32
      wavesmith.yield %both : f32
    }
    %out = memref.reinterpret_cast %y to offset: [0], sizes: [%n], strides: [1] : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, strided<[1]>, #gpu.address_space<global>>
    // Of two lanes with the same value one stores.
    // CHECK: arith.andi %{{.+}}, %c32_i32
    // CHECK: arith.select
    // CHECK: rocdl.raw.ptr.buffer.store
    wavesmith.store_tile %total, %out[%i] : tensor<32xf32, #row>, memref<?xf32, strided<[1]>, #gpu.address_space<global>>
  }
  return
}

// Four partial sums of two instructions each; the first begins with the
// accumulator. Neighbours are added, then their sums.

// CHECK-LABEL: gpu.func @partial_sums
// CHECK: %[[ACCUMULATOR:.+]] = arith.constant dense<2.000000e+00> : vector<16xf32>
// CHECK: %[[A0:.+]] = amdgpu.mfma 32x32x8 {{.+}} + %[[ACCUMULATOR]] blgp
// CHECK: %[[A:.+]] = amdgpu.mfma 32x32x8 {{.+}} + %[[A0]] blgp
// CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[B0:.+]] = amdgpu.mfma 32x32x8 {{.+}} + %[[ZERO]] blgp
// CHECK: %[[B:.+]] = amdgpu.mfma 32x32x8 {{.+}} + %[[B0]] blgp
// CHECK: %[[AB:.+]] = arith.addf %[[A]], %[[B]] : vector<16xf32>
// CHECK: amdgpu.mfma 32x32x8
// CHECK: %[[C:.+]] = amdgpu.mfma 32x32x8
// CHECK: amdgpu.mfma 32x32x8
// CHECK: %[[D:.+]] = amdgpu.mfma 32x32x8
// CHECK: %[[CD:.+]] = arith.addf %[[C]], %[[D]] : vector<16xf32>
// CHECK: %[[ALL:.+]] = arith.addf %[[AB]], %[[CD]] : vector<16xf32>
// CHECK-NOT: mfma
// CHECK: vector.extract %[[ALL]]
func.func @partial_sums(%y: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "y"}, %n: index {wavesmith.name = "n"}) {
  wavesmith.grid_workgroup affine_map<(n) -> (n ceildiv 32)>(%n) waves 1 {
  ^bb0(%i: index):
    %lhs = arith.constant dense<1.0> : tensor<32x64xf16, #a>
    %rhs = arith.constant dense<1.0> : tensor<64x32xf16, #b>
    %first = arith.constant dense<2.0> : tensor<32x32xf32, #d>
    %sum = wavesmith.dot %lhs, %rhs, %first partial_sums 4 : tensor<32x64xf16, #a>, tensor<64x32xf16, #b>, tensor<32x32xf32, #d>
    %total = wavesmith.reduce_tile %sum dimension 0 : tensor<32x32xf32, #d> -> tensor<32xf32, #row> {
    ^bb0(%one: f32, %other: f32):
      %both = arith.addf %one, %other : f32
      wavesmith.yield %both : f32
    }
    %out = memref.reinterpret_cast %y to offset: [0], sizes: [%n], strides: [1] : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, strided<[1]>, #gpu.address_space<global>>
    wavesmith.store_tile %total, %out[%i] : tensor<32xf32, #row>, memref<?xf32, strided<[1]>, #gpu.address_space<global>>
  }
  return
}

#rows = #wavesmith.layout<registers = [[0, 1], [0, 2], [0, 4]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], waves = []>
#swizzled = #wavesmith.lds_layout<contiguous = 1, padding = 0, swizzle = [1]>
#part = #wavesmith.layout<registers = [], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], waves = []>

// A tile that a loop carries: one memory, a barrier before it is read, and one
// before it is written again.

// CHECK-LABEL: gpu.func @carried
// CHECK-SAME: workgroup(%[[LDS:[^ ]+]] : memref<512xf16, #gpu.address_space<workgroup>>{{[^,]*}})
func.func @carried(%x: memref<?xf16, #gpu.address_space<global>> {wavesmith.name = "x"}, %y: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "y"}, %n: index {wavesmith.name = "n"}) {
  wavesmith.grid_workgroup affine_map<(n) -> (n ceildiv 32)>(%n) waves 1 {
  ^bb0(%i: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %view = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<?xf16, #gpu.address_space<global>> to memref<?x16xf16, strided<[16, 1]>, #gpu.address_space<global>>
    %loaded = wavesmith.load_tile %view[%i, %c0] vector 8 : memref<?x16xf16, strided<[16, 1]>, #gpu.address_space<global>> -> tensor<32x16xf16, #rows>
    // CHECK-NOT: lds_barrier
    // CHECK: vector.store %{{.+}}, %[[LDS]]
    %first = wavesmith.stage_tile %loaded : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #swizzled>
    %none = arith.constant dense<0.0> : tensor<32x2xf32, #part>
    // CHECK: scf.for
    %last, %sums = scf.for %j = %c0 to %n step %c1 iter_args(%staged = %first, %sum = %none) -> (tensor<32x16xf16, #swizzled>, tensor<32x2xf32, #part>) {
      // Of the number of a group, bit 0 is flipped in odd rows: 8 elements.
      // CHECK: arith.xori
      // CHECK: amdgpu.lds_barrier
      // CHECK: vector.load %[[LDS]]
      %read = wavesmith.read_tile %staged : tensor<32x16xf16, #swizzled> -> tensor<32x16xf16, #rows>
      %wide = arith.extf %read : tensor<32x16xf16, #rows> to tensor<32x16xf32, #rows>
      // What a lane has, and no more.
      // CHECK-COUNT-7: arith.addf
      // CHECK-NOT: gpu.shuffle
      %part = wavesmith.reduce_tile %wide dimension 1 : tensor<32x16xf32, #rows> -> tensor<32x2xf32, #part> {
      ^bb0(%one: f32, %other: f32):
        %both = arith.addf %one, %other : f32
        wavesmith.yield %both : f32
      }
      // CHECK: arith.cmpf ogt
      // CHECK: rocdl.ballot
      // CHECK: scf.if
      %grows = arith.cmpf ogt, %part, %sum : tensor<32x2xf32, #part>
      %any = wavesmith.any_tile %grows : tensor<32x2xi1, #part>
      %larger = scf.if %any -> tensor<32x2xf32, #part> {
        scf.yield %part : tensor<32x2xf32, #part>
      } else {
        scf.yield %sum : tensor<32x2xf32, #part>
      }
      // CHECK: amdgpu.lds_barrier
      // CHECK: vector.store %{{.+}}, %[[LDS]]
      %next = wavesmith.stage_tile %loaded into %staged : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #swizzled>
      scf.yield %next, %larger : tensor<32x16xf16, #swizzled>, tensor<32x2xf32, #part>
    }
    %out = memref.reinterpret_cast %y to offset: [0], sizes: [%n, 2], strides: [2, 1] : memref<?xf32, #gpu.address_space<global>> to memref<?x2xf32, strided<[2, 1]>, #gpu.address_space<global>>
    wavesmith.store_tile %sums, %out[%i, %c0] : tensor<32x2xf32, #part>, memref<?x2xf32, strided<[2, 1]>, #gpu.address_space<global>>
  }
  return
}

// Elements of an array at indices of their own: an address of 64 bits for each. A
// value for each column is there in every row of it.

// CHECK-LABEL: gpu.func @gathered
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: memref<?xf16,
func.func @gathered(%table: memref<?xf16, #gpu.address_space<global>> {wavesmith.name = "table"}, %y: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "y"}, %n: index {wavesmith.name = "n"}) {
  wavesmith.grid_workgroup affine_map<(n) -> (n ceildiv 32)>(%n) waves 1 {
  ^bb0(%i: index):
    %c0 = arith.constant 0 : index
    // CHECK: %[[LANE:.+]] = arith.extsi %{{.+}} : vector<1xi32> to vector<1xi64>
    %column = wavesmith.tile_position dimension 0 : tensor<32xi32, #row>
    %at = arith.extsi %column : tensor<32xi32, #row> to tensor<32xi64, #row>
    // CHECK: %[[AT:.+]] = vector.extract %[[LANE]][0]
    // CHECK: %[[BASE:.+]] = memref.extract_aligned_pointer_as_index %[[TABLE]]
    // CHECK: %[[ADDRESS:.+]] = arith.index_cast %[[BASE]] : index to i64
    // CHECK: %[[BYTES:.+]] = arith.muli %[[AT]], %c2_i64
    // CHECK: %[[PLACE:.+]] = arith.addi %[[ADDRESS]], %[[BYTES]] : i64
    // CHECK: %[[POINTER:.+]] = llvm.inttoptr %[[PLACE]] : i64 to !llvm.ptr<1>
    // CHECK: %[[BITS:.+]] = llvm.load %[[POINTER]] {{.*}}: !llvm.ptr<1> -> i16
    // CHECK: %[[ELEMENT:.+]] = arith.bitcast %[[BITS]] : i16 to f16
    // CHECK: %[[FRAGMENT:.+]] = vector.from_elements %[[ELEMENT]] : vector<1xf16>
    %gathered = wavesmith.gather_tile %table[%at] : memref<?xf16, #gpu.address_space<global>>, tensor<32xi64, #row> -> tensor<32xf16, #row>
    // CHECK: %[[WIDE:.+]] = arith.extf %[[FRAGMENT]]
    %wide = arith.extf %gathered : tensor<32xf16, #row> to tensor<32xf32, #row>
    // CHECK: %[[VALUE:.+]] = vector.extract %[[WIDE]][0]
    // CHECK: vector.broadcast %[[VALUE]] : f32 to vector<16xf32>
    %spread = wavesmith.broadcast_tile %wide dimension 0 : tensor<32xf32, #row> -> tensor<32x32xf32, #d>
    %out = memref.reinterpret_cast %y to offset: [0], sizes: [%n, 32], strides: [32, 1] : memref<?xf32, #gpu.address_space<global>> to memref<?x32xf32, strided<[32, 1]>, #gpu.address_space<global>>
    wavesmith.store_tile %spread, %out[%i, %c0] : tensor<32x32xf32, #d>, memref<?x32xf32, strided<[32, 1]>, #gpu.address_space<global>>
  }
  return
}

// What was stored before a loop is read in it: only the first iteration needs
// the barrier, which stands before the loop.

// CHECK-LABEL: gpu.func @before_loop
func.func @before_loop(%x: memref<?xf16, #gpu.address_space<global>> {wavesmith.name = "x"}, %y: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "y"}, %n: index {wavesmith.name = "n"}) {
  wavesmith.grid_workgroup affine_map<(n) -> (n ceildiv 32)>(%n) waves 1 {
  ^bb0(%i: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %view = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<?xf16, #gpu.address_space<global>> to memref<?x16xf16, strided<[16, 1]>, #gpu.address_space<global>>
    %loaded = wavesmith.load_tile %view[%i, %c0] vector 8 : memref<?x16xf16, strided<[16, 1]>, #gpu.address_space<global>> -> tensor<32x16xf16, #rows>
    // CHECK: vector.store
    %staged = wavesmith.stage_tile %loaded : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #swizzled>
    %none = arith.constant dense<0.0> : tensor<32x2xf32, #part>
    // CHECK: amdgpu.lds_barrier
    // CHECK: scf.for
    // CHECK-NOT: amdgpu.lds_barrier
    // CHECK: vector.load
    // CHECK-NOT: amdgpu.lds_barrier
    // CHECK: scf.yield
    %sums = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<32x2xf32, #part>) {
      %read = wavesmith.read_tile %staged : tensor<32x16xf16, #swizzled> -> tensor<32x16xf16, #rows>
      %wide = arith.extf %read : tensor<32x16xf16, #rows> to tensor<32x16xf32, #rows>
      %part = wavesmith.reduce_tile %wide dimension 1 : tensor<32x16xf32, #rows> -> tensor<32x2xf32, #part> {
      ^bb0(%one: f32, %other: f32):
        %both = arith.addf %one, %other : f32
        wavesmith.yield %both : f32
      }
      %next = arith.addf %sum, %part : tensor<32x2xf32, #part>
      scf.yield %next : tensor<32x2xf32, #part>
    }
    %out = memref.reinterpret_cast %y to offset: [0], sizes: [%n, 2], strides: [2, 1] : memref<?xf32, #gpu.address_space<global>> to memref<?x2xf32, strided<[2, 1]>, #gpu.address_space<global>>
    wavesmith.store_tile %sums, %out[%i, %c0] : tensor<32x2xf32, #part>, memref<?x2xf32, strided<[2, 1]>, #gpu.address_space<global>>
  }
  return
}
