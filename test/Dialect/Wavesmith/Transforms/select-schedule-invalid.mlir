// RUN: wavesmith-opt %s --wavesmith-select-schedule -verify-diagnostics -split-input-file
// RUN: not wavesmith-opt %S/select-schedule.mlir --wavesmith-attach-target --wavesmith-select-schedule=form=zigzag 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: select-schedule.mlir:[[#]]:8: error: unknown form 'zigzag', expected auto, straight_line or table
// RUN: not wavesmith-opt %S/select-schedule.mlir --wavesmith-attach-target --wavesmith-select-schedule=workgroup-size=-64 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: expected {{workgroup_size to be positive, got -64|a workgroup size that is a multiple}}
// RUN: not wavesmith-opt %S/select-schedule.mlir --wavesmith-attach-target --wavesmith-select-schedule=workgroup-size=96 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// MULTIPLE: error: expected a workgroup size that is a multiple of 64 and at most 1024 on gfx942, got 96
// RUN: not wavesmith-opt %S/select-schedule.mlir --wavesmith-attach-target --wavesmith-select-schedule=workgroup-size=1088 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: expected a workgroup size that is a multiple of 64 and at most 1024 on gfx942, got 1088

// expected-error @+1 {{expected a module with a target; run --wavesmith-attach-target first}}
module {}

// -----

// expected-error @+1 {{unknown target architecture 'gfx1'; known are gfx90a, gfx942}}
module attributes {wavesmith.target = #wavesmith.target<"gfx1", chip = "">} {}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
  wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
  func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
    // expected-error @+1 {{expected a workgroup size that is a multiple of 64 and at most 1024 on gfx942, got 32}}
    %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 32>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
    return %0 : tensor<1x?xf64>
  }
}
