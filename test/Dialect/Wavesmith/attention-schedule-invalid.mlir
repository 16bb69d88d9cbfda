// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{expected version 1 of the schedule, got 2}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 2>} {}

// -----

// expected-error @+1 {{expected version 1 of the schedule, got 0}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 0>} {}

// -----

// expected-error @+1 {{expected waves to be a power of two from 1 to 8, got 3}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, waves = 3>} {}

// -----

// expected-error @+1 {{expected waves to be a power of two from 1 to 8, got 16}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, waves = 16>} {}

// -----

// expected-error @+1 {{expected keys to be a power of two from 32 to 128, got 48}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, keys = 48>} {}

// -----

// expected-error @+1 {{expected keys to be a power of two from 32 to 128, got 16}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, keys = 16>} {}

// -----

// expected-error @+1 {{expected waves_per_simd to be a number from 0 to 8, got 9}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, waves_per_simd = 9>} {}

// -----

// expected-error @+1 {{expected prefetch to be a number from 0 to 1, got 2}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, prefetch = 2>} {}

// -----

// expected-error @+1 {{expected rescale_above to be a number from 0 to 8, got -1}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, rescale_above = -1>} {}

// -----

// expected-error @+1 {{expected priority to be a number from 0 to 3, got 4}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, priority = 4>} {}

// -----

// expected-error @+1 {{expected dies to be a number from 1 to 64, got 0}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, dies = 0>} {}

// -----

// expected-error @+1 {{struct is missing required parameter: version}}
module attributes {test.schedule = #wavesmith.attention_schedule<waves = 4>} {}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: tile}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, tile = 64>} {}

// -----

// expected-error @+2 {{expected one of [nearest_even, truncate]}}
// expected-error @+1 {{failed to parse Wavesmith_AttentionScheduleAttr parameter 'rounding'}}
module attributes {test.schedule = #wavesmith.attention_schedule<version = 1, rounding = up>} {}
