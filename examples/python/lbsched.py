# SPDX-License-Identifier: BSD-3-Clause
"""lbsched from Python, through ctypes and the standard library alone: what a verdict and a prediction
need. Not a complete binding, but a pattern for one: objects are opaque pointers that their owner frees,
options are structs that begin with their size, and every error is an exception with the library's
message.

LBSCHED_LIBRARY in the environment names another library than the one that the system finds.
"""
import ctypes
import json
import os
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_size_t, \
    c_uint32, c_uint64, c_void_p

NONE, LAZY, ACTIVE, IMMEDIATE = range(1, 5)
POLICIES = ("unknown", "none", "lazy", "active", "immediate")


class Error(Exception):
    """An lb_status other than LB_OK, with lb_error's message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class _Error(Structure):
    _fields_ = [("status", c_int32), ("os_errno", c_int32), ("message", c_char * 248)]


class Duration(Structure):
    """lb_duration: a duration in seconds, as a distribution over the model's random choices."""
    _fields_ = [("mean", c_double), ("stddev", c_double), ("min", c_double), ("max", c_double),
                ("standard_error", c_double), ("completion", c_double), ("samples", c_uint64),
                ("exact", c_int32), ("reserved", c_int32)]


# Called with the caller's pointer and the part that is done; nonzero cancels.
Progress = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_double)


class ModelOptions(Structure):
    """lb_model_options: ModelOptions() has the library's defaults."""
    _fields_ = [("size", c_size_t), ("cores", c_uint32), ("policy", c_int32),
                ("balance_delay", c_double), ("rotation_time", c_double),
                ("core_speeds", POINTER(c_double)), ("list_choice", c_int32),
                ("process_choice", c_int32), ("group_cores", c_uint32)]

    def __init__(self):
        super().__init__()
        _library.lb_model_options_init(byref(self), ctypes.sizeof(self))


class ExperimentOptions(Structure):
    """lb_experiment_options: ExperimentOptions() has the library's defaults."""
    _fields_ = [("size", c_size_t), ("tasks_per_core", c_uint32), ("reserved", c_uint32),
                ("unit_work", c_double), ("budget", c_double), ("progress", Progress),
                ("progress_user", c_void_p), ("confidence", c_double), ("design", c_int32),
                ("workers", c_int32), ("scheduling", c_int32), ("nice", c_int32),
                ("priority", c_int32), ("reserved2", c_uint32), ("partial", c_void_p)]

    def __init__(self):
        super().__init__()
        _library.lb_experiment_options_init(byref(self), ctypes.sizeof(self))


def _open():
    library = ctypes.CDLL(os.environ.get("LBSCHED_LIBRARY", "liblbsched.so.0"))
    status, out, err = c_int32, POINTER(c_void_p), POINTER(_Error)
    for name, result, *arguments in (
            ("lb_version", c_char_p),
            ("lb_free", None, c_void_p),
            ("lb_model_options_init", None, c_void_p, c_size_t),
            ("lb_experiment_options_init", None, c_void_p, c_size_t),
            ("lb_model_new", status, POINTER(ModelOptions), out, err),
            ("lb_model_free", None, c_void_p),
            ("lb_model_cores", c_uint32, c_void_p),
            ("lb_model_policy", c_int32, c_void_p),
            ("lb_workload_new", status, out, err),
            ("lb_workload_free", None, c_void_p),
            ("lb_workload_add_many", status, c_void_p, POINTER(c_double), c_size_t, c_void_p, err),
            ("lb_model_durations", status, c_void_p, c_void_p, c_void_p, POINTER(Duration), err),
            ("lb_trace_load", status, c_char_p, out, err),
            ("lb_trace_free", None, c_void_p),
            ("lb_classify", status, c_void_p, c_void_p, out, err),
            ("lb_verdict_format", status, c_void_p, c_int32, out, err),
            ("lb_verdict_model", status, c_void_p, out, err),
            ("lb_verdict_free", None, c_void_p),
            ("lb_detect", status, c_void_p, POINTER(ExperimentOptions), out, out, err)):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _open()


def _call(name, *arguments):
    err = _Error()
    status = getattr(_library, name)(*arguments, byref(err))
    if status != 0:
        raise Error(status, err.message.decode())


class _Object:
    """An opaque object of the library, freed with its owner."""

    def __init__(self, free):
        self.pointer, self._free = c_void_p(), free

    def __del__(self):
        self._free(self.pointer)


def version():
    return _library.lb_version().decode()


class Model(_Object):
    """A machine: Model(4, LAZY), Model(options=...), or Verdict.model()."""

    def __init__(self, cores=None, policy=IMMEDIATE, options=None):
        super().__init__(_library.lb_model_free)
        if cores is not None:
            options = options or ModelOptions()
            options.cores, options.policy = cores, policy
        if options is not None:
            _call("lb_model_new", byref(options), byref(self.pointer))

    @property
    def cores(self):
        return _library.lb_model_cores(self.pointer)

    @property
    def policy(self):
        return POLICIES[_library.lb_model_policy(self.pointer)]

    def durations(self, works):
        """How long processes take that need so many CPU seconds and run together: a Duration each."""
        workload = _Object(_library.lb_workload_free)
        _call("lb_workload_new", byref(workload.pointer))
        _call("lb_workload_add_many", workload.pointer, (c_double * len(works))(*works), len(works),
              None)
        durations = (Duration * len(works))()
        _call("lb_model_durations", self.pointer, workload.pointer, None, durations)
        return list(durations)


class Verdict(_Object):
    """How cores are shared: `data` is the JSON form of docs/verdict.md as a dictionary."""

    def __init__(self, make):
        super().__init__(_library.lb_verdict_free)
        make(byref(self.pointer))
        text = c_void_p()
        _call("lb_verdict_format", self.pointer, 1, byref(text))  # LB_FORMAT_JSON
        self.data = json.loads(ctypes.string_at(text))
        _library.lb_free(text)

    @property
    def policy(self):
        return self.data["policy"]

    def model(self):
        model = Model()
        _call("lb_verdict_model", self.pointer, byref(model.pointer))
        return model


def detect(budget=None, progress=None):
    """Measures this machine. `progress` is called with the part that is done and cancels by returning
    True."""
    options = ExperimentOptions()
    if budget is not None:
        options.budget = budget
    if progress is not None:
        options.progress = Progress(lambda _, fraction: 1 if progress(fraction) else 0)
    return Verdict(lambda out: _call("lb_detect", None, byref(options), out, None))


def classify(path):
    """The verdict from a trace file."""
    trace = _Object(_library.lb_trace_free)
    _call("lb_trace_load", os.fsencode(path), byref(trace.pointer))
    return Verdict(lambda out: _call("lb_classify", trace.pointer, None, out))
