// RUN: wavesmith-opt %s | FileCheck %s -enable-var-scope
// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s -enable-var-scope
// RUN: wavesmith-opt %s --mlir-print-op-generic | wavesmith-opt | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @least
func.func @least(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16> {
  // CHECK: wavesmith.attention %{{.*}}, %{{.*}}, %{{.*}} layout bshd scale 0.125 : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// Static sizes, a head dim of v that is not that of q, and every mask.
// CHECK-LABEL: func.func @masks
func.func @masks(%q: tensor<2x12x100x96xf16>, %k: tensor<2x4x77x96xf16>, %v: tensor<2x4x77x40xf16>) -> (tensor<2x12x100x40xf32>, tensor<2x12x100xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = wavesmith.attention
  // CHECK-SAME: layout bhsd scale 0.10206207261596575 causal top_left window [64, -1] window_alignment bottom_right softcap 30.0 :
  %o, %lse = wavesmith.attention %q, %k, %v layout bhsd scale 0.10206207261596575
      causal top_left window [64, -1] window_alignment bottom_right softcap 30.0
      : (tensor<2x12x100x96xf16>, tensor<2x4x77x96xf16>, tensor<2x4x77x40xf16>) -> (tensor<2x12x100x40xf32>, tensor<2x12x100xf32>)
  return %o, %lse : tensor<2x12x100x40xf32>, tensor<2x12x100xf32>
}

// CHECK-LABEL: func.func @biases
func.func @biases(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x8x64xf32>, %v: tensor<?x?x8x64xf32>, %bias: tensor<?x8x?x?xf16>, %all: tensor<1x1x1x?xf32>, %slopes: tensor<?x8xf32>)
    -> (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) {
  // CHECK: causal bottom_right bias %{{[a-z0-9]+}} alibi %{{[a-z0-9]+}} :
  %0 = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal bottom_right bias %bias alibi %slopes
      : (tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x8x?x?xf16>, tensor<?x8xf32>) -> tensor<?x?x8x64xbf16>
  // CHECK: scale 0.125 bias %{{[a-z0-9]+}} :
  %1 = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %all
      : (tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<1x1x1x?xf32>) -> tensor<?x?x8x64xbf16>
  return %0, %1 : tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>
}

// CHECK-LABEL: func.func @fp8
func.func @fp8(%q: tensor<1x5x6x32xf8E4M3FNUZ>, %k: tensor<1x5x2x32xf8E4M3FNUZ>, %v: tensor<1x5x2x16xf8E4M3FNUZ>, %one: tensor<1xf32>, %each: tensor<2xf32>) -> tensor<1x5x6x16xf16> {
  // CHECK: descale_q %{{[a-z0-9]+}} descale_v %{{[a-z0-9]+}} :
  %0 = wavesmith.attention %q, %k, %v layout bshd scale -1.0 descale_q %one descale_v %each
      : (tensor<1x5x6x32xf8E4M3FNUZ>, tensor<1x5x2x32xf8E4M3FNUZ>, tensor<1x5x2x16xf8E4M3FNUZ>, tensor<1xf32>, tensor<2xf32>) -> tensor<1x5x6x16xf16>
  return %0 : tensor<1x5x6x16xf16>
}

// Everything that packed sequences can have at once.
// CHECK-LABEL: func.func @everything
func.func @everything(%q: tensor<?x8x64xf16>, %k: tensor<?x8x64xf16>, %v: tensor<?x8x128xf16>, %bias: tensor<1x1x?x512xf32>, %slopes: tensor<8xf32>,
                      %of_q: tensor<?xi32>, %of_kv: tensor<?xi32>, %document: tensor<?x4096xi32>, %gain: tensor<f32>) -> (tensor<?x8x128xf32>, tensor<8x?xf32>) {
  // CHECK: wavesmith.attention
  // CHECK-SAME: layout thd scale 0.125 causal bottom_right window [1024, -1] softcap 30.0
  // CHECK-SAME: bias %{{[a-z0-9_]+}} alibi %{{[a-z0-9_]+}} cumulative_lengths %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} captures(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) :
  // CHECK-SAME: -> (tensor<?x8x128xf32>, tensor<8x?xf32>) score {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: tensor<?x4096xi32>, %[[GAIN:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[G:.*]] = tensor.extract %[[GAIN]][] : tensor<f32>
  // CHECK-NEXT: %[[NEXT:.*]] = arith.mulf %[[S]], %[[G]] : f32
  // CHECK-NEXT: wavesmith.yield %[[NEXT]] : f32
  // CHECK-NEXT: } mask {
  // CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[IDS:.*]]: tensor<?x4096xi32>, %{{.*}}: tensor<f32>):
  // CHECK-NEXT: tensor.extract %[[IDS]][%[[B]], %[[I]]]
  // CHECK-NEXT: tensor.extract %[[IDS]][%[[B]], %[[J]]]
  // CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq
  // CHECK-NEXT: wavesmith.yield %[[SAME]] : i1
  %o, %lse = wavesmith.attention %q, %k, %v layout thd scale 0.125
      causal bottom_right window [1024, -1] softcap 30.0 bias %bias alibi %slopes
      cumulative_lengths %of_q, %of_kv captures(%document, %gain)
      : (tensor<?x8x64xf16>, tensor<?x8x64xf16>, tensor<?x8x128xf16>, tensor<1x1x?x512xf32>, tensor<8xf32>,
         tensor<?xi32>, tensor<?xi32>, tensor<?x4096xi32>, tensor<f32>) -> (tensor<?x8x128xf32>, tensor<8x?xf32>)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %ids: tensor<?x4096xi32>, %g: tensor<f32>):
        %factor = tensor.extract %g[] : tensor<f32>
        %next = arith.mulf %s, %factor : f32
        wavesmith.yield %next : f32
      } mask {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %ids: tensor<?x4096xi32>, %g: tensor<f32>):
        %at_i = tensor.extract %ids[%b, %i] : tensor<?x4096xi32>
        %at_j = tensor.extract %ids[%b, %j] : tensor<?x4096xi32>
        %same = arith.cmpi eq, %at_i, %at_j : i32
        wavesmith.yield %same : i1
      }
  return %o, %lse : tensor<?x8x128xf32>, tensor<8x?xf32>
}

// CHECK-LABEL: func.func @mask_alone
func.func @mask_alone(%q: tensor<?x?x1x256xf16>, %k: tensor<?x?x1x256xf16>, %v: tensor<?x?x1x16xf16>) -> tensor<?x?x1x16xf16> {
  // CHECK: -> tensor<?x?x1x16xf16> mask {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.0625
      : (tensor<?x?x1x256xf16>, tensor<?x?x1x256xf16>, tensor<?x?x1x16xf16>) -> tensor<?x?x1x16xf16>
      mask {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %below = arith.cmpi ule, %j, %i : index
        wavesmith.yield %below : i1
      }
  return %o : tensor<?x?x1x16xf16>
}
