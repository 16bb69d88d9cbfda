// RUN: wavesmith-opt %s --convert-wavesmith-ode-to-workgroup | FileCheck %s

// The stages are a loop, which the first step enters one round earlier: the
// system's terms stand in the code once.

// CHECK-LABEL: func.func @f(
// CHECK: wavesmith.workgroup zones %{{.*}} size 64 threads_per_zone 8
// CHECK: scf.while (%{{.*}}) : (f64, f64, i32, i32, tensor<2xf64>, tensor<2xf64>)
// CHECK: ^bb0(%[[T:.*]]: f64, %[[H:.*]]: f64, %[[N:.*]]: i32, %{{.*}}: i32, %[[Y:.*]]: tensor<2xf64>, %[[K1:.*]]: tensor<2xf64>):
// CHECK: %[[CUT:.*]] = arith.cmpf oge,
// CHECK: %[[NEXT:.*]] = arith.select %[[CUT]],
// CHECK: %[[D:.*]] = arith.select %[[CUT]],
// CHECK: %[[A:.*]] = wavesmith.table {{.*}} : tensor<42xf64>
// CHECK: %[[C:.*]] = wavesmith.table {{.*}} : tensor<7xf64>
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : i32
// CHECK: %[[BEGIN:.*]] = arith.select %[[IS_FIRST]], %{{.*}}, %{{.*}} : index
// CHECK: %[[K:.*]]:8 = scf.for %[[S:.*]] = %[[BEGIN]] to %{{.*}} iter_args(%{{.*}} = %[[Y]], %{{.*}} = %[[K1]],
// CHECK-COUNT-6: tensor.extract %[[A]]
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<2xf64>
// CHECK: math.fma %{{.*}}, %[[SUM]], %[[Y]] : tensor<2xf64>
// CHECK: %[[CS:.*]] = tensor.extract %[[C]][%[[S]]]
// CHECK: math.fma %[[CS]], %[[D]], %[[T]] : f64
// CHECK: wavesmith.stage %{{.*}} in global : tensor<2xf64>
// CHECK: %[[RATE:.*]] = arith.constant 3.000000e+00 : f64
// CHECK: wavesmith.segmented_reduce
// CHECK-COUNT-7: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2xf64>
// CHECK: scf.yield
// CHECK-NOT: arith.constant 3.000000e+00
// CHECK: arith.constant dense<-0.0017800110522257771>
// CHECK: math.fma %{{.*}}, %[[K]]#1, %{{.*}}
// CHECK: arith.constant dense<0.015151515151515152>
// CHECK: %[[E:.*]] = math.fma %{{.*}}, %[[K]]#7, %{{.*}}
// One number for all states, and one each.
// CHECK: %[[RELATIVE:.*]] = arith.constant dense<9.9999999999999995E-7> : tensor<2xf64>
// CHECK: %[[ABSOLUTE:.*]] = wavesmith.table dense<[1.000000e-09, 1.000000e-08]> : tensor<2xf64>
// CHECK: math.fma %[[RELATIVE]], %{{.*}}, %[[ABSOLUTE]]
// CHECK: wavesmith.segmented_reduce({{.*}}) init(%{{.*}}) segments [0, 2]
// CHECK: math.sqrt
// CHECK: math.powf
// Only where the error is not finite, k_1 is looked at.
// CHECK: scf.if
// CHECK: scf.yield
// CHECK: else
// CHECK: wavesmith.segmented_reduce
wavesmith.ode_system @decay states ["A" : "1", "B" : "1"] parameters [] time "s" {
  %k = arith.constant 3.0 : f64
  wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 2.0]
}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>) {
  %0:5 = wavesmith.ode_integrate @decay(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = [1.0e-09, 1.0e-08], relative_tolerance = 1.0e-06> max_steps 10
      {schedule = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 64, threads_per_zone = 8>}
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>
}
