// RUN: wavesmith-opt %s --pass-pipeline='builtin.module(gpu.module(wavesmith-split-long-blocks{limit=0}))' -verify-diagnostics

// expected-error @+1 {{expected a positive limit, got}}
gpu.module @kernels {
}
