// RUN: wavesmith-opt %s --wavesmith-attach-target | FileCheck %s --check-prefix=DEFAULT
// RUN: wavesmith-opt %s --wavesmith-attach-target=architecture=gfx90a | FileCheck %s --check-prefix=GFX90A
// RUN: wavesmith-opt %s --wavesmith-attach-target="architecture=gfx942 chip=mi300a" | FileCheck %s --check-prefix=MI300A
// Saying the same twice is no contradiction.
// RUN: wavesmith-opt %s --wavesmith-attach-target --wavesmith-attach-target | FileCheck %s --check-prefix=DEFAULT

// DEFAULT: module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">}
// GFX90A: module attributes {wavesmith.target = #wavesmith.target<"gfx90a", chip = "mi250x">}
// MI300A: module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300a">}
module {}
