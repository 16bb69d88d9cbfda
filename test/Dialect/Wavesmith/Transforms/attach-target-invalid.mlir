// RUN: wavesmith-opt %s --wavesmith-attach-target=architecture=gfx90a -verify-diagnostics -split-input-file
// RUN: not wavesmith-opt %S/attach-target.mlir --wavesmith-attach-target=architecture=gfx1100 2>&1 | FileCheck %s --check-prefix=ARCHITECTURE
// ARCHITECTURE: error: unknown target architecture 'gfx1100'; known are gfx90a, gfx942
// RUN: not wavesmith-opt %S/attach-target.mlir --wavesmith-attach-target="architecture=gfx90a chip=mi300x" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'mi300x' for target architecture gfx90a; known are mi250x, mi210

// expected-error @+1 {{the module has the target #wavesmith.target<"gfx942", chip = "mi300x">, cannot compile it for #wavesmith.target<"gfx90a",}}
module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {}
