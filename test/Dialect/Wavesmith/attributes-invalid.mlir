// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{expected workgroup_size to be positive, got 0}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = table, workgroup_size = 0>}

// -----

// expected-error @+1 {{expected workgroup_size to be positive, got -64}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = table, workgroup_size = -64>}

// -----

// expected-error @+2 {{expected ::wavesmith::CodeForm to be one of: straight_line, table, cooperative}}
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

// -----

// expected-error @+1 {{expected threads_per_zone = 1 in the form straight_line, got 2}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64, threads_per_zone = 2>}

// -----

// expected-error @+1 {{expected threads_per_zone = 1 in the form table, got 64}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = table, workgroup_size = 64, threads_per_zone = 64>}

// -----

// expected-error @+1 {{expected threads_per_zone = 1 in the form table, got 0}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = table, workgroup_size = 64, threads_per_zone = 0>}

// -----

// expected-error @+1 {{expected threads_per_zone to divide workgroup_size 256, got 0}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 256, threads_per_zone = 0>}

// -----

// expected-error @+1 {{expected threads_per_zone to divide workgroup_size 256, got -1}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 256, threads_per_zone = -1>}

// -----

// expected-error @+1 {{expected threads_per_zone to divide workgroup_size 256, got 48}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 256, threads_per_zone = 48>}

// -----

// expected-error @+1 {{expected threads_per_zone to divide workgroup_size 64, got 128}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 64, threads_per_zone = 128>}

// -----

// expected-error @+1 {{expected workgroup_size to be positive, got 0}}
func.func private @f() attributes {a = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 0, threads_per_zone = 1>}

// -----

// expected-error @+1 {{expected flux_fraction to be positive and finite, got 0.000000e+00}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.0, time_fraction = 0.1, tolerance = 1.0e-07>}

// -----

// expected-error @+1 {{expected flux_fraction to be positive and finite, got -5.000000e-01}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = -0.5, time_fraction = 0.1, tolerance = 1.0e-07>}

// -----

// expected-error @+1 {{expected flux_fraction to be positive and finite, got INF}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 1.0e+999, time_fraction = 0.1, tolerance = 1.0e-07>}

// -----

// expected-error @+1 {{expected time_fraction to be positive and finite, got 0.000000e+00}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.0, tolerance = 1.0e-07>}

// -----

// expected-error @+1 {{expected time_fraction to be positive and finite, got -5.000000e-01}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = -0.5, tolerance = 1.0e-07>}

// -----

// expected-error @+1 {{expected time_fraction to be positive and finite, got INF}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 1.0e+999, tolerance = 1.0e-07>}

// -----

// expected-error @+1 {{expected tolerance to be positive and finite, got 0.000000e+00}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 0.0>}

// -----

// expected-error @+1 {{expected tolerance to be positive and finite, got -5.000000e-01}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = -0.5>}

// -----

// expected-error @+1 {{expected tolerance to be positive and finite, got INF}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e+999>}

// -----

// expected-error @+1 {{expected 'time_fraction'}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01, tolerance = 1.0e-07, time_fraction = 0.1>}

// -----

// expected-error @+1 {{expected ','}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = 0.01>}

// -----

// expected-error @+1 {{expected floating point literal}}
func.func private @f() attributes {a = #wavesmith.asymptotic<flux_fraction = "a", time_fraction = 0.1, tolerance = 1.0>}

// -----

// expected-error @+1 {{expected absolute_tolerance to be positive and finite, got 0.000000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 0.0, relative_tolerance = 1.0e-06>}

// -----

// expected-error @+1 {{expected absolute_tolerance to be positive and finite, got -1.000000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = [1.0, -1.0], relative_tolerance = 1.0e-06>}

// -----

// expected-error @+1 {{expected absolute_tolerance to be positive and finite, got INF}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e+999, relative_tolerance = 1.0e-06>}

// -----

// expected-error @+1 {{expected relative_tolerance to be finite and not negative, got -5.000000e-01}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = -0.5>}

// -----

// expected-error @+1 {{expected relative_tolerance to be finite and not negative, got INF}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = [0.0, 1.0e+999]>}

// -----

// expected-error @+1 {{expected safety to be above 0 and below 1, got 1.000000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, safety = 1.0>}

// -----

// expected-error @+1 {{expected safety to be above 0 and below 1, got 0.000000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, safety = 0.0>}

// -----

// expected-error @+1 {{expected smallest_factor to be above 0 and below 1, got 1.500000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, smallest_factor = 1.5>}

// -----

// expected-error @+1 {{expected largest_factor to be finite and at least 1, got 5.000000e-01}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, largest_factor = 0.5>}

// -----

// expected-error @+1 {{expected largest_factor to be finite and at least 1, got INF}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, largest_factor = 1.0e+999>}

// -----

// expected-error @+1 {{expected smallest_step to be finite and not negative, got -1.000000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, smallest_step = -1.0>}

// -----

// expected-error @+1 {{expected largest_step to be positive and not below smallest_step, got 0.000000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, largest_step = 0.0>}

// -----

// expected-error @+1 {{expected largest_step to be positive and not below smallest_step, got 1.000000e+00}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, smallest_step = 2.0, largest_step = 1.0>}

// -----

// expected-error @+1 {{expected safety, smallest_factor, largest_factor, smallest_step or largest_step, got 'tolerance'}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, tolerance = 1.0>}

// -----

// expected-error @+1 {{safety stands twice}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06, safety = 0.5, safety = 0.5>}

// -----

// expected-error @+1 {{expected 'absolute_tolerance'}}
func.func private @f() attributes {a = #wavesmith.tsit5<relative_tolerance = 1.0e-06, absolute_tolerance = 1.0e-09>}

// -----

// expected-error @+1 {{expected ','}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = 1.0e-09>}

// -----

// expected-error @+1 {{expected floating point literal}}
func.func private @f() attributes {a = #wavesmith.tsit5<absolute_tolerance = [], relative_tolerance = 1.0e-06>}
