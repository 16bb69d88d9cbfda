// RUN: wavesmith-opt %s --convert-wavesmith-attention-to-workgroup | FileCheck %s -enable-var-scope

// What is done to the scores of a tile, in the operation's order: scale, softcap,
// bias, alibi, score region, mask region. The kernel takes the operands after the
// results, then sizes: of the bias and of captures those that are dynamic.

// CHECK-LABEL: func.func @scores(
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: memref<?xf16, #gpu.address_space<global>> {wavesmith.name = "bias"}
// CHECK-SAME: %[[ALIBI:[a-z0-9]+]]: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "alibi"}
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: memref<?xi32, #gpu.address_space<global>> {wavesmith.name = "ids"}
// CHECK-SAME: {wavesmith.name = "keys"}
// CHECK-SAME: %[[BIAS_QUERIES:[a-z0-9]+]]: index {wavesmith.name = "bias_size2"}
// CHECK-SAME: %[[BIAS_KEYS:[a-z0-9]+]]: index {wavesmith.name = "bias_size3"}
// CHECK-SAME: {wavesmith.name = "ids_size0"}
// CHECK: ^bb0(%{{.+}}: index, %[[HEAD:.+]]: index, %[[BATCH:.+]]: index):
// CHECK: scf.for
// CHECK: %[[PRODUCTS:.+]] = wavesmith.dot
// CHECK: %[[SCALED:.+]] = arith.mulf %[[PRODUCTS]], %{{.+}} : tensor<{{.+}}xf32
// CHECK: %[[POWER:.+]] = math.exp2
// CHECK: %[[PART:.+]] = arith.divf
// CHECK: %[[CAPPED:.+]] = arith.addf %{{.+}}, %[[PART]]
// A row of the bias for each query; none for each batch.
// CHECK: memref.reinterpret_cast %[[BIAS]] to offset: [%{{.+}}], sizes: [%{{.+}}, %{{.+}}], strides: [1, %[[BIAS_KEYS]]]
// CHECK: %[[LOADED:.+]] = wavesmith.load_tile
// CHECK: %[[WIDE:.+]] = arith.extf %[[LOADED]]
// CHECK: %[[BIASED:.+]] = arith.addf %[[CAPPED]], %[[WIDE]]
// CHECK: %[[SLOPE:.+]] = memref.load %[[ALIBI]][%[[HEAD]]]
// CHECK: %[[DISTANCE:.+]] = math.absf
// CHECK: %[[MINUS:.+]] = arith.negf %[[SLOPE]]
// CHECK: %[[LOSS:.+]] = tensor.splat %[[MINUS]]
// CHECK: %[[WITH_ALIBI:.+]] = math.fma %[[DISTANCE]], %[[LOSS]], %[[BIASED]]
// CHECK: %[[REGION:.+]] = math.tanh %[[WITH_ALIBI]]
// CHECK: %[[AT_QUERY:.+]] = wavesmith.gather_tile %[[IDS]]
// CHECK: %[[AT_KEY:.+]] = wavesmith.gather_tile %[[IDS]]
// CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[AT_QUERY]], %[[AT_KEY]]
// CHECK: arith.select %[[SAME]], %[[REGION]], %{{.+}}
func.func @scores(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %bias: tensor<1x8x?x?xf16>, %slopes: tensor<8xf32>, %ids: tensor<?x4096xi32> {wavesmith.name = "ids"}) -> tensor<?x?x8x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 softcap 30.0 bias %bias alibi %slopes captures(%ids)
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<1x8x?x?xf16>, tensor<8xf32>, tensor<?x4096xi32>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %table: tensor<?x4096xi32>):
        %bent = math.tanh %s : f32
        wavesmith.yield %bent : f32
      } mask {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %table: tensor<?x4096xi32>):
        %at_i = tensor.extract %table[%b, %i] : tensor<?x4096xi32>
        %at_j = tensor.extract %table[%b, %j] : tensor<?x4096xi32>
        %same = arith.cmpi eq, %at_i, %at_j : i32
        wavesmith.yield %same : i1
      }
  return %o : tensor<?x?x8x64xf16>
}

// Packed sequences: the grid has one more for tokens of nobody; a workgroup reads
// where its sequence begins and ends, and past its end does nothing.

// CHECK-LABEL: func.func @packed(
// CHECK-SAME: %[[OF_Q:[a-z0-9]+]]: memref<?xi32, #gpu.address_space<global>> {wavesmith.name = "cumulative_q"}
// CHECK-SAME: %[[OF_KV:[a-z0-9]+]]: memref<?xi32, #gpu.address_space<global>> {wavesmith.name = "cumulative_kv"}
// CHECK-SAME: %[[BATCHES:[a-z0-9]+]]: index {wavesmith.name = "batch"}
// CHECK: ^bb0(%{{.+}}: index, %{{.+}}: index, %[[BATCH:.+]]: index):
// CHECK: arith.cmpi eq, %[[BATCH]], %[[BATCHES]]
// CHECK: memref.load %[[OF_Q]][%[[BATCH]]]
// CHECK: memref.load %[[OF_KV]][%[[BATCH]]]
// CHECK: %[[PAST:.+]] = arith.cmpi sge
// CHECK: arith.select %[[PAST]]
// CHECK: scf.for
func.func @packed(%q: tensor<?x8x64xf16>, %k: tensor<?x8x64xf16>, %v: tensor<?x8x64xf16>, %of_q: tensor<?xi32>, %of_kv: tensor<?xi32>) -> tensor<?x8x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125 cumulative_lengths %of_q, %of_kv
      : (tensor<?x8x64xf16>, tensor<?x8x64xf16>, tensor<?x8x64xf16>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8x64xf16>
  return %o : tensor<?x8x64xf16>
}

// 8 bits: the scores are multiplied by the product of the scales of q and of k and
// v's head, the result by that of v.

// CHECK-LABEL: func.func @scales(
// CHECK-SAME: %[[OF_Q:[a-z0-9]+]]: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "descale_q"}
// CHECK-SAME: %[[OF_K:[a-z0-9]+]]: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "descale_k"}
// CHECK-SAME: %[[OF_V:[a-z0-9]+]]: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "descale_v"}
// CHECK: %[[GROUP:.+]] = arith.divui
// CHECK: %[[PRODUCTS:.+]] = wavesmith.dot
// CHECK: %[[Q:.+]] = memref.load %[[OF_Q]][%{{c0.*}}]
// CHECK: %[[K:.+]] = memref.load %[[OF_K]][%[[GROUP]]]
// CHECK: %[[BOTH:.+]] = arith.mulf %[[Q]], %[[K]]
// CHECK: %[[TILE:.+]] = tensor.splat %[[BOTH]]
// CHECK: arith.mulf %[[PRODUCTS]], %[[TILE]]
// CHECK: memref.load %[[OF_V]][%[[GROUP]]]
func.func @scales(%q: tensor<?x?x8x64xf8E4M3FNUZ>, %k: tensor<?x?x2x64xf8E4M3FNUZ>, %v: tensor<?x?x2x64xf8E4M3FNUZ>, %of_q: tensor<1xf32>, %of_k: tensor<2xf32>, %of_v: tensor<2xf32>) -> tensor<?x?x8x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 descale_q %of_q descale_k %of_k descale_v %of_v
      : (tensor<?x?x8x64xf8E4M3FNUZ>, tensor<?x?x2x64xf8E4M3FNUZ>, tensor<?x?x2x64xf8E4M3FNUZ>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}

// In f32 a long score is summed in parts of at most 64 numbers; the sum over keys
// is not.

// CHECK-LABEL: func.func @partial_sums(
// CHECK: wavesmith.dot {{.+}} partial_sums 4 :
// CHECK: scf.for
// CHECK: wavesmith.dot {{.+}} partial_sums 4 :
// CHECK: wavesmith.dot
// CHECK-NOT: partial_sums
// CHECK-LABEL: func.func @dies(
func.func @partial_sums(%q: tensor<?x?x8x136xf32>, %k: tensor<?x?x8x136xf32>, %v: tensor<?x?x8x136xf32>) -> tensor<?x?x8x136xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x136xf32>, tensor<?x?x8x136xf32>, tensor<?x?x8x136xf32>) -> tensor<?x?x8x136xf32>
  return %o : tensor<?x?x8x136xf32>
}

// A device of several dies: the workgroup of a number goes to the die of its remainder.
// Groups of four heads share keys and values; each goes to one die. Those that are left
// where `dies` does not divide their number take turns.

// CHECK-SAME: %[[BATCHES:[a-z0-9]+]]: index {wavesmith.name = "batch"}
// CHECK-SAME: %[[QUERIES:[a-z0-9]+]]: index {wavesmith.name = "queries"}
// CHECK: ^bb0(%[[X:.+]]: index, %[[Y:.+]]: index, %[[Z:.+]]: index):
// CHECK: %[[TILES:.+]] = arith.ceildivui %[[QUERIES]], %{{.+}} : index
// CHECK-DAG: %[[DIES:.+]] = arith.constant 8 : index
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : index
// CHECK-DAG: %[[GROUPS:.+]] = arith.constant 2 : index
// CHECK-DAG: %[[RATIO:.+]] = arith.constant 4 : index
// CHECK: %[[OF_GROUP:.+]] = arith.muli %[[RATIO]], %[[TILES]]
// CHECK: %[[ALL:.+]] = arith.muli %[[BATCHES]], %[[GROUPS]]
// CHECK: %[[ROUND:.+]] = arith.muli %[[DIES]], %[[ONE]]
// CHECK: %[[LEFT:.+]] = arith.remui %[[ALL]], %[[ROUND]]
// CHECK: %[[WHOLE:.+]] = arith.subi %[[ALL]], %[[LEFT]]
// CHECK: %[[NUMBER:.+]] = arith.addi %[[X]], %{{.+}}
// CHECK: %[[NUM_WHOLE:.+]] = arith.muli %[[WHOLE]], %[[OF_GROUP]]
// CHECK: %[[IS_WHOLE:.+]] = arith.cmpi ult, %[[NUMBER]], %[[NUM_WHOLE]]
// CHECK: arith.divui %[[NUMBER]], %[[DIES]]
// CHECK: %[[LEFT_OR_ONE:.+]] = arith.maxui %[[LEFT]], %{{.+}} : index
// CHECK: %[[OF_LEFT:.+]] = arith.subi %[[NUMBER]], %[[NUM_WHOLE]]
// CHECK: %[[DIE:.+]] = arith.remui %[[NUMBER]], %[[DIES]]
// CHECK: %[[OF_DIE:.+]] = arith.addi %{{.+}}, %[[DIE]]
// CHECK: %[[TURN:.+]] = arith.remui %[[OF_LEFT]], %[[LEFT_OR_ONE]]
// CHECK: %[[OF_ALL:.+]] = arith.addi %[[WHOLE]], %[[TURN]]
// CHECK: %[[GROUP:.+]] = arith.select %[[IS_WHOLE]], %[[OF_DIE]], %[[OF_ALL]]
// CHECK: %[[IN_GROUP:.+]] = arith.select %[[IS_WHOLE]]
// CHECK: arith.divui %[[IN_GROUP]], %[[RATIO]]
// CHECK: %[[PAIR:.+]] = arith.remui %[[GROUP]], %[[GROUPS]]
// CHECK: %[[FIRST:.+]] = arith.muli %[[PAIR]], %[[RATIO]]
// CHECK: %[[HEAD:.+]] = arith.remui %[[IN_GROUP]], %[[RATIO]]
// CHECK: arith.addi %[[FIRST]], %[[HEAD]]
// CHECK: arith.divui %[[GROUP]], %[[GROUPS]]
func.func @dies(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, dies = 8>}
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}

// Under a causal mask the last tiles, which are the longest, come first.

// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[QUERIES:[a-z0-9]+]]: index {wavesmith.name = "queries"}
// CHECK: ^bb0(%[[X:.+]]: index, %[[Y:.+]]: index, %{{.+}}: index):
// CHECK: %[[TILES:.+]] = arith.ceildivui %[[QUERIES]], %{{.+}} : index
// CHECK: %[[LAST:.+]] = arith.subi %[[TILES]], %{{.+}} : index
// CHECK: %[[TILE:.+]] = arith.subi %[[LAST]], %[[X]] : index
// CHECK: arith.muli %[[TILE]]
func.func @causal(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal top_left {schedule = #wavesmith.attention_schedule<version = 1>}
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}

// With a limit to the left they are as long as the others.

// CHECK-LABEL: func.func @causal_window(
// CHECK: ^bb0(%[[X:.+]]: index, %[[Y:.+]]: index, %{{.+}}: index):
// CHECK-NOT: arith.ceildivui
// CHECK: arith.muli %[[X]]
func.func @causal_window(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal top_left window [256, -1] {schedule = #wavesmith.attention_schedule<version = 1>}
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}

// f32 has no registers for the operands of all options at once: one is computed after
// the other.

// CHECK-LABEL: func.func @full_precision(
// CHECK: math.tanh
// CHECK: rocdl.sched.barrier 0
// CHECK: wavesmith.load_tile
// CHECK: arith.addf
// CHECK: rocdl.sched.barrier 0
func.func @full_precision(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x64xf32>, %bias: tensor<1x8x?x?xf32>) -> tensor<?x?x8x64xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 softcap 5.0 bias %bias
      : (tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<1x8x?x?xf32>) -> tensor<?x?x8x64xf32>
  return %o : tensor<?x?x8x64xf32>
}
