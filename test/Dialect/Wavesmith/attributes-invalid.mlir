// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{expected workgroup_size to be positive, got 0}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = table, workgroup_size = 0>}

// -----

// expected-error @+1 {{expected workgroup_size to be positive, got -64}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = table, workgroup_size = -64>}

// -----

// expected-error @+2 {{expected ::wavesmith::CodeForm to be one of: straight_line, table}}
// expected-error @+1 {{failed to parse Wavesmith_OdeScheduleAttr parameter 'form'}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = recursive, workgroup_size = 64>}

// -----

// expected-error @+2 {{expected ::wavesmith::ZoneLayout to be one of: soa, aos}}
// expected-error @+1 {{failed to parse Wavesmith_ZoneLayoutAttr parameter 'value'}}
func.func private @f() attributes {a = #wavesmith.zone_layout<aosoa>}

// -----

// expected-error @+1 {{expected the name of an architecture, got none}}
module attributes {wavesmith.target = #wavesmith.target<"", chip = "mi300x">} {}

// -----

// expected-error @+1 {{expected 'wavesmith.target' to be a #wavesmith.target, got "gfx942"}}
module attributes {wavesmith.target = "gfx942"} {}

// -----

// expected-error @+1 {{expected 'wavesmith.target' on a module, got it on 'func.func'}}
func.func private @f() attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">}

// -----

// expected-error @+1 {{unknown attribute 'wavesmith.tarket'}}
module attributes {wavesmith.tarket} {}
