/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file lbsched.h
 * The one public header of lbsched, a library that tells how an operating system shares its cores
 * and predicts how long work will take.
 *
 * The way of the data is host, workers, trace, verdict, model, durations: lb_host_open() reads the
 * machine, lb_experiment_run() lets workers run on it and returns a trace, lb_classify() infers the
 * balancing policy, lb_verdict_model() makes a model of the verdict and lb_model_durations()
 * predicts. lb_detect() is all of it up to the verdict in one call.
 *
 * @section conventions Conventions
 * - All state lives in objects of opaque type: no global state, no output, no exit() or abort(), no
 *   signal handlers, no change of locale. Numbers are read and written with a decimal point in
 *   every locale.
 * - Functions that can fail return an #lb_status and take a trailing #lb_error pointer, which may
 *   be NULL. Results go to parameters named `ret_`, which are not NULL unless said and are written
 *   only on #LB_OK. An object that a failing call was to change stays as it was.
 * - A function named `X_free` takes NULL. A count of 0 is legal wherever a count is taken, and the
 *   array may then be NULL.
 * - Distinct objects may be used from distinct threads at once. Functions that take an object by
 *   pointer to const may run on that object concurrently. An object that was made from another
 *   does not need that other one any longer.
 * - Options structs begin with `size`. `X_init(&x, sizeof x)` fills in the defaults and writes at
 *   most that many bytes, so a program built against an older header stays whole. A `size` below
 *   that of the first release, or a nonzero byte behind what the library knows, is
 *   #LB_ERR_INVALID. NULL options mean the defaults.
 * - A "core" is a logical CPU that may be used, by dense index from 0; "physical core" is said
 *   where that is meant.
 * - Model times are seconds (double). Trace times are nanoseconds (int64_t) since the trace's
 *   start.
 * - Every public symbol is there in every build; what a build leaves out returns
 *   #LB_ERR_UNSUPPORTED.
 */
#ifndef LBSCHED_LBSCHED_H
#define LBSCHED_LBSCHED_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup status Status, errors and versions
 * @{ */

#define LB_VERSION_MAJOR 0 /**< Changes when the interface breaks. @since 0.1 */
#define LB_VERSION_MINOR 1 /**< Changes when the interface grows. @since 0.1 */
#define LB_VERSION_PATCH 0 /**< Changes with every other release. @since 0.1 */

/** What became of a call. Every error is negative. @since 0.1 */
typedef enum lb_status {
    LB_OK = 0,               /**< It did what it says. */
    LB_ERR_INVALID = -1,     /**< An argument lies outside its documented range. */
    LB_ERR_NOMEM = -2,       /**< No memory. */
    LB_ERR_SYSTEM = -3,      /**< A system call other than file access failed; see os_errno. */
    LB_ERR_PERMISSION = -4,  /**< The system does not allow it to this process. */
    LB_ERR_UNSUPPORTED = -5, /**< Not on this system, not in this build, or not for this model. */
    LB_ERR_FORMAT = -6,      /**< Malformed input; the message names the line. */
    LB_ERR_IO = -7,          /**< A file, whatever the reason; see os_errno. */
    LB_ERR_LIMIT = -8,       /**< An exact answer was asked for and is too large to enumerate. */
    LB_ERR_CANCELLED = -9,   /**< A progress callback asked to stop. */
    LB_ERR_TIMEOUT = -10,    /**< It took longer than allowed. */
    LB_ERR_WORKER = -11      /**< A worker died or stopped answering. */
} lb_status;

/** What went wrong, in words. Its layout is frozen; it is untouched on #LB_OK. @since 0.1 */
typedef struct lb_error {
    int32_t status;    /**< The #lb_status that the call returned. */
    int32_t os_errno;  /**< The system's error number, or 0. */
    char message[248]; /**< One line: the field, its value and what was allowed. */
} lb_error;

/** The version of the library that runs, such as "0.1.0".
 * @return a static string
 * @since 0.1 */
const char *lb_version(void);

/** The name of a status, such as "LB_ERR_NOMEM".
 * @return a static string; "unknown status" for any other number
 * @since 0.1 */
const char *lb_status_name(lb_status status);

/** Frees a string that the library returned. @param memory may be NULL @since 0.1 */
void lb_free(void *memory);

/** Called on the calling thread at least every 100 ms while something takes long.
 * @param user the pointer that was given with the callback
 * @param fraction how much is done, 0 to 1, never falling
 * @return nonzero to cancel: the call then returns #LB_ERR_CANCELLED
 * @since 0.1 */
typedef int (*lb_progress_fn)(void *user, double fraction);

/** @} */

/** @defgroup model The duration model
 * How long work takes on cores that share their processes by a policy: the run-list model of
 * "Deriving a Scheduling Model" (Hauck, OS Scheduling Experiments: Steps 1a, 1b and 2).
 * @{ */

/** How processes are balanced among cores. @since 0.1 */
typedef enum lb_policy {
    LB_POLICY_UNKNOWN = 0, /**< Not known; among probabilities: "none of these". */
    LB_POLICY_NONE,        /**< Nobody moves, even beside an idle core. */
    LB_POLICY_LAZY,        /**< A process moves only to a core that went idle. */
    LB_POLICY_ACTIVE,      /**< A process moves when two list lengths differ by more than one. */
    LB_POLICY_IMMEDIATE    /**< All share all cores evenly; a single run queue does so too. */
} lb_policy;

/** Which list gives a process up when a policy moves one. @since 0.1 */
typedef enum lb_list_choice {
    LB_LIST_RANDOM = 0, /**< Any that the policy allows, with equal probability. */
    LB_LIST_LONGEST     /**< One of the longest. */
} lb_list_choice;

/** Which process of a list moves. @since 0.1 */
typedef enum lb_process_choice {
    LB_PROCESS_RANDOM = 0, /**< Any, with equal probability. */
    LB_PROCESS_FIRST,      /**< The one longest in the list. */
    LB_PROCESS_LAST        /**< The one that came last. */
} lb_process_choice;

/** A machine as the model sees it: cores, policy, delays. Immutable once made. @since 0.1 */
typedef struct lb_model lb_model;

/** Processes, and what happens to them, to predict for. @since 0.1 */
typedef struct lb_workload lb_workload;

/** What a model is made of. Fields that the policy does not use are checked and without effect.
 * @since 0.1 */
typedef struct lb_model_options {
    size_t size;               /**< sizeof(lb_model_options), set by lb_model_options_init(). */
    uint32_t cores;            /**< How many cores: 1 or more. Default 1. */
    int32_t policy;            /**< An #lb_policy other than #LB_POLICY_UNKNOWN. Default
                                    #LB_POLICY_IMMEDIATE. */
    double balance_delay;      /**< Seconds from an imbalance to the move, 0 or more and finite.
                                    Lazy and active. Default 0. */
    double rotation_time;      /**< Immediate: mean seconds after which an uneven share moves on, 0
                                    or more and finite. Default 0: fluid processor sharing. */
    const double *core_speeds; /**< `cores` relative speeds, above 0 and finite, copied. Default
                                    NULL: all 1. */
    int32_t list_choice;       /**< An #lb_list_choice. Default #LB_LIST_RANDOM. */
    int32_t process_choice;    /**< An #lb_process_choice. Default #LB_PROCESS_RANDOM. */
    uint32_t group_cores;      /**< Active: balance groups of so many cores (sockets, say: see
                                    lb_host_groups()) by the weight of their processes, and only
                                    within a group by the length of lists: docs/model.md. 0, or a
                                    divisor of `cores`; both choices random. Each instant takes time
                                    in proportion to cores and processes. Default 0: no groups. */
} lb_model_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_model_options_init(lb_model_options *options, size_t size);

/** Makes a model.
 * @param options NULL: the defaults
 * @param ret_model the caller frees it with lb_model_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: a field is out of range, #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_model_new(const lb_model_options *options, lb_model **ret_model, lb_error *err);

/** Frees a model. @param model may be NULL @since 0.1 */
void lb_model_free(lb_model *model);

/** Makes a model of one of the seed's three systems.
 * @param name "windows-7" (lazy), "linux-2.6.22" (active) or "linux-2.6.31" (immediate)
 * @param cores 1 or more
 * @param ret_model the caller frees it with lb_model_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: another name, no core; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_model_preset(const char *name, uint32_t cores, lb_model **ret_model, lb_error *err);

/** How many cores the model has. @since 0.1 */
uint32_t lb_model_cores(const lb_model *model);

/** The policy of the model. @since 0.1 */
lb_policy lb_model_policy(const lb_model *model);

/** What the model was made of.
 * @param ret_options of `size` bytes; `core_speeds` then points into the model (NULL: all 1)
 * @param size sizeof *ret_options
 * @since 0.1 */
void lb_model_get_options(const lb_model *model, lb_model_options *ret_options, size_t size);

/** Writes a model to a file, as text that reads back to the last bit. On failure the file is as
 * lb_trace_save() leaves it.
 * @param err may be NULL
 * @return #LB_ERR_IO; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_model_save(const lb_model *model, const char *path, lb_error *err);

/** Reads a model from a file: "lbsched-model 1", then a line for each field of #lb_model_options
 * with its name, a space and its value (policies and choices by name, speeds separated by spaces).
 * Cores and policy must be there, the others have their defaults.
 * @param ret_model the caller frees it with lb_model_free()
 * @param err may be NULL
 * @return #LB_ERR_IO; #LB_ERR_FORMAT: the message names the line, or the field and its value;
 *         #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_model_load(const char *path, lb_model **ret_model, lb_error *err);

/** The weight that Linux gives a nice level, relative to nice 0 (kernel/sched/core.c,
 * sched_prio_to_weight).
 * @param nice -20 to 19
 * @return 1 for nice 0, about 1.25 times less for each level more; NAN: no such level
 * @since 0.1 */
double lb_nice_weight(int nice);

/** The weight of a SCHED_IDLE task on Linux relative to nice 0. @since 0.1 */
#define LB_WEIGHT_IDLE (3.0 / 1024.0)

/** What happens to a process at a given time. @since 0.1 */
typedef enum lb_event_kind {
    LB_EVENT_STOP,  /**< It ends, its work undone. */
    LB_EVENT_SLEEP, /**< It leaves its list until it is woken. */
    LB_EVENT_WAKE   /**< It returns to the list that it left. */
} lb_event_kind;

/** Makes an empty workload.
 * @param ret_workload the caller frees it with lb_workload_free()
 * @param err may be NULL
 * @return #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_workload_new(lb_workload **ret_workload, lb_error *err);

/** Frees a workload. @param workload may be NULL @since 0.1 */
void lb_workload_free(lb_workload *workload);

/** Makes a workload empty again and keeps its memory for the next one. @since 0.1 */
void lb_workload_clear(lb_workload *workload);

/** How many processes there are. @since 0.1 */
size_t lb_workload_size(const lb_workload *workload);

/** Adds a process of weight 1 that arrives at time 0.
 * @param work CPU seconds on a core of speed 1, 0 to INFINITY
 * @param ret_index its index, counting up from 0; may be NULL
 * @param err may be NULL
 * @return #LB_ERR_INVALID: a negative work or NaN; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_workload_add(lb_workload *workload, double work, size_t *ret_index, lb_error *err);

/** Adds `n` processes, or none if one of them is refused.
 * @param work `n` works, each as for lb_workload_add()
 * @param ret_first the index of the first; may be NULL
 * @param err may be NULL
 * @return as lb_workload_add()
 * @since 0.1 */
lb_status lb_workload_add_many(lb_workload *workload, const double *work, size_t n,
                               size_t *ret_first, lb_error *err);

/** Sets when a process arrives.
 * @param index a process that has no events yet
 * @param time seconds, 0 or more and finite
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_workload_set_arrival(lb_workload *workload, size_t index, double time, lb_error *err);

/** Sets a process's weight. Predictions are exact while all weights lie between 1e-9 and 1e9
 * (Linux's go from 0.003 to 87); farther apart they lose digits. The work over the weight, and the
 * sum of all weights, must not exceed a double: that is checked when predicting. Rarely (a few in a
 * million random problems) a process has next to nothing left when another event comes, and the
 * digits of that rest decide: there no precision of a double is enough.
 * @param weight above 0 and finite; see lb_nice_weight()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_workload_set_weight(lb_workload *workload, size_t index, double weight, lb_error *err);

/** Sets the weights of `n` processes from `first` on, or none if one of them is refused.
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_workload_set_weights(lb_workload *workload, size_t first, const double *weights,
                                  size_t n, lb_error *err);

/** Sets the core where a process starts, which is not where it must stay. Without it a process
 * goes to the shortest list (the fastest core, then the lowest index, on a tie).
 * @param core checked against the model's cores when predicting
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_workload_set_first_core(lb_workload *workload, size_t index, uint32_t core,
                                     lb_error *err);

/** Adds an event of a process. Events that meet a completed or stopped process, a sleep that meets
 * a sleeper and a wake that meets a waking process are ignored.
 * @param time seconds, not before the process's arrival, finite
 * @param kind an #lb_event_kind
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_workload_add_event(lb_workload *workload, size_t index, double time,
                                lb_event_kind kind, lb_error *err);

/** How an estimate is made. @since 0.1 */
typedef enum lb_method {
    LB_METHOD_AUTO = 0, /**< Exact where that is cheap, else sampled. */
    LB_METHOD_EXACT,    /**< Every realisation weighed with its probability. */
    LB_METHOD_SAMPLE    /**< Realisations drawn from the seed. */
} lb_method;

/** How an estimate is made and how good it must be. @since 0.1 */
typedef struct lb_estimate_options {
    size_t size;             /**< sizeof(lb_estimate_options), set by its init function. */
    uint64_t samples;        /**< Sampling: how many; 0, the default: until `relative_error`. */
    uint64_t max_samples;    /**< The bound of that, above 0; reaching it is #LB_OK. Default
                                  1,000,000. */
    uint64_t first_sample;   /**< The number of the first realisation: realisation k depends on
                                  `seed` and k alone. Default 0. */
    double relative_error;   /**< One standard error of every mean asked for, relative to it,
                                  above 0. Default 0.001. */
    uint64_t seed;           /**< The same seed gives the same answer, whatever `threads` is.
                                  Default 0. */
    lb_progress_fn progress; /**< Called while threads of the library's own work. Default NULL. */
    void *progress_user;     /**< Handed to `progress`. Default NULL. */
    int32_t method;          /**< An #lb_method. Default #LB_METHOD_AUTO. */
    uint32_t threads;        /**< How many threads may be used, 1 or more. Default 1. */
} lb_estimate_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_estimate_options_init(lb_estimate_options *options, size_t size);

/** A duration as a distribution over the model's random choices. Frozen layout. The moments are
 * those of the realisations in which the work completes; where it completes in none they are
 * INFINITY, NAN, INFINITY, INFINITY. @since 0.1 */
typedef struct lb_duration {
    double mean;           /**< Seconds. */
    double stddev;         /**< Seconds; the random variable's, not the estimate's; 0 of one
                                sample. */
    double min;            /**< Seconds. */
    double max;            /**< Seconds. */
    double standard_error; /**< Seconds; of the mean: 0 when exact, INFINITY of one sample. */
    double completion;     /**< The probability that the work completes at all. */
    uint64_t samples;      /**< Realisations looked at. */
    int32_t exact;         /**< 1: every possible realisation was weighed. */
    int32_t reserved;      /**< 0. */
} lb_duration;

/** Predicts the time from a process's arrival to the completion of its work, its sleep included.
 * @param index of a process
 * @param options NULL: the defaults
 * @param ret_duration receives the distribution
 * @param err may be NULL
 * @return #LB_ERR_INVALID: also of a first core that the model does not have, or a weight too small
 *         for its work; #LB_ERR_NOMEM;
 *         #LB_ERR_LIMIT: #LB_METHOD_EXACT meets more than 1,000,000 realisations (choices that end
 *         in the same lists are one), or one with more than 40 instants at which chance decides;
 *         #LB_ERR_UNSUPPORTED: #LB_METHOD_EXACT of a model with a rotation_time;
 *         #LB_ERR_CANCELLED; #LB_ERR_SYSTEM: a thread cannot be started
 * @since 0.1 */
lb_status lb_model_duration(const lb_model *model, const lb_workload *workload, size_t index,
                            const lb_estimate_options *options, lb_duration *ret_duration,
                            lb_error *err);

/** The same for all processes at once.
 * @param ret_durations lb_workload_size() entries
 * @param options NULL: the defaults
 * @param err may be NULL
 * @return as lb_model_duration()
 * @since 0.1 */
lb_status lb_model_durations(const lb_model *model, const lb_workload *workload,
                             const lb_estimate_options *options, lb_duration *ret_durations,
                             lb_error *err);

/** Draws one realisation.
 * @param seed decides it
 * @param ret_seconds lb_workload_size() durations; INFINITY: does not complete
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_model_sample(const lb_model *model, const lb_workload *workload, uint64_t seed,
                          double *ret_seconds, lb_error *err);

/** The seed with which lb_model_sample() gives realisation `k` of an estimate that was drawn with
 * `seed`. @since 0.1 */
uint64_t lb_realisation_seed(uint64_t seed, uint64_t k);

/** Draws realisations of one workload again and again without allocating. @since 0.1 */
typedef struct lb_sampler lb_sampler;

/** Makes a sampler of what model and workload now are.
 * @param ret_sampler the caller frees it with lb_sampler_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sampler_new(const lb_model *model, const lb_workload *workload,
                         lb_sampler **ret_sampler, lb_error *err);

/** Draws one realisation, as lb_model_sample() does.
 * @param ret_seconds as many durations as the workload had processes
 * @param err may be NULL
 * @return #LB_OK always; the status is there for what may come
 * @since 0.1 */
lb_status lb_sampler_run(lb_sampler *sampler, uint64_t seed, double *ret_seconds, lb_error *err);

/** Frees a sampler. @param sampler may be NULL @since 0.1 */
void lb_sampler_free(lb_sampler *sampler);

/** All realisations looked at, kept whole: of every process, and of the makespan. @since 0.1 */
typedef struct lb_distribution lb_distribution;

/** As the index of a process: when the last of all that complete does, in seconds from time 0;
 * INFINITY in a realisation in which none does.
 * @since 0.1 */
#define LB_MAKESPAN SIZE_MAX

/** Predicts whole distributions. Keeps lb_workload_size() + 3 numbers a realisation.
 * @param options NULL: the defaults, which sample until the means are good where an exact answer is
 *        not cheap
 * @param ret_distribution the caller frees it with lb_distribution_free()
 * @param err may be NULL
 * @return as lb_model_durations()
 * @since 0.1 */
lb_status lb_model_distribution(const lb_model *model, const lb_workload *workload,
                                const lb_estimate_options *options,
                                lb_distribution **ret_distribution, lb_error *err);

/** Frees a distribution. @param distribution may be NULL @since 0.1 */
void lb_distribution_free(lb_distribution *distribution);

/** How many realisations it holds. @since 0.1 */
uint64_t lb_distribution_samples(const lb_distribution *distribution);

/** Joins samples that were drawn elsewhere: to the last bit what one call for all would have given,
 * in whatever order parts are joined.
 * @param from sampled from the same model, workload and seed, other realisations (first_sample)
 * @param err may be NULL
 * @return #LB_ERR_INVALID: of another problem, a realisation that is in both, an exact one;
 *         #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_distribution_merge(lb_distribution *into, const lb_distribution *from, lb_error *err);

/** The moments of a process's duration, or of the makespan. Sums are in the order of realisations,
 * so that merged parts give what one would have given, to the last bit; lb_model_durations() sums
 * in blocks, and may differ in the last digits.
 * @param index of a process, or #LB_MAKESPAN
 * @param err may be NULL
 * @return #LB_ERR_INVALID
 * @since 0.1 */
lb_status lb_distribution_duration(const lb_distribution *distribution, size_t index,
                                   lb_duration *ret_duration, lb_error *err);

/** The least duration that is not exceeded with probability `p`.
 * @param index of a process, or #LB_MAKESPAN
 * @param p 0 (the least) to 1 (the most)
 * @param ret_seconds INFINITY where the work does not complete in so many realisations
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_distribution_quantile(const lb_distribution *distribution, size_t index, double p,
                                   double *ret_seconds, lb_error *err);

/** Writes a distribution as text, to send or to keep; it reads back to the last bit.
 * @param ret_text terminated; the caller frees it with lb_free()
 * @param err may be NULL
 * @return #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_distribution_format(const lb_distribution *distribution, char **ret_text,
                                 lb_error *err);

/** Reads what lb_distribution_format() wrote.
 * @param text `length` bytes, which need not be terminated
 * @param ret_distribution the caller frees it with lb_distribution_free()
 * @param err may be NULL
 * @return #LB_ERR_FORMAT: the message names the line; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_distribution_parse(const char *text, size_t length, lb_distribution **ret_distribution,
                                lb_error *err);

/** @} */

/** @defgroup sim The model, event by event
 * The same model for a discrete-event simulator that decides as it goes what arrives, sleeps and
 * ends. The simulator asks lb_sim_next() when something next happens by itself, advances to that or
 * an earlier time, polls what happened, and calls again. A prediction of lb_model_sample() is a
 * simulation of the same seed in which processes are added in the order of their indices, and all
 * that happens at one time is called between lb_sim_begin() and lb_sim_commit(): what arrives and
 * wakes at one instant is placed by index there, by the order of lb_sim_add() here.
 *
 * A call that changes a process is an instant of its own, balanced at once; between lb_sim_begin()
 * and lb_sim_commit() calls are one instant, balanced at the commit, and only their net effect
 * counts. Adding, sleeping, waking, removing and completing cost O(log n) each; under
 * #LB_POLICY_IMMEDIATE with weights that differ O((1 + k) log n), k being the processes that the
 * event sets at or below the speed of one core.
 * @{ */

/** A simulation in progress. @since 0.1 */
typedef struct lb_sim lb_sim;

/** A process in a simulation; never reused, and counting up. @since 0.1 */
typedef uint64_t lb_process_id;

/** No core in particular. @since 0.1 */
#define LB_CORE_ANY UINT32_MAX

/** Starts a simulation at time 0, without processes.
 * @param seed decides all random choices, as for lb_model_sample()
 * @param ret_sim the caller frees it with lb_sim_free()
 * @param err may be NULL
 * @return #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_new(const lb_model *model, uint64_t seed, lb_sim **ret_sim, lb_error *err);

/** Copies a simulation with all its processes, ids, events to be polled and random numbers to come,
 * to branch.
 * @param ret_sim the caller frees it with lb_sim_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: an instant is open; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_clone(const lb_sim *sim, lb_sim **ret_sim, lb_error *err);

/** Draws other random numbers from now on. @since 0.1 */
void lb_sim_reseed(lb_sim *sim, uint64_t seed);

/** Frees a simulation. @param sim may be NULL @since 0.1 */
void lb_sim_free(lb_sim *sim);

/** The time in seconds. @since 0.1 */
double lb_sim_now(const lb_sim *sim);

/** How many processes are running or ready: arrived, not asleep, not completed. Those that came
 * since lb_sim_begin() count from lb_sim_commit() on. @since 0.1 */
size_t lb_sim_count(const lb_sim *sim);

/** Takes memory for that many processes at once, asleep ones and those whose completion was not
 * polled included. Until there are more, and as long as events are polled between calls, nothing
 * but #LB_ERR_INVALID can fail (rotation aside, which can move processes without end in one
 * lb_sim_advance()).
 * @param err may be NULL
 * @return #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_reserve(lb_sim *sim, size_t processes, lb_error *err);

/** A process arrives now.
 * @param work CPU seconds on a core of speed 1, 0 to INFINITY; 0 completes at once
 * @param weight above 0, 1e298 at most, and such that `work` over it does not exceed a double;
 * exact between 1e-9 and 1e9, see lb_workload_set_weight(); see lb_nice_weight()
 * @param core where it starts, not where it must stay; #LB_CORE_ANY: the shortest list
 * @param tag the caller's own, handed back in events
 * @param ret_id may be NULL
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_add(lb_sim *sim, double work, double weight, uint32_t core, uint64_t tag,
                     lb_process_id *ret_id, lb_error *err);

/** A process goes to sleep. A call that comes at the very instant at which the process completes
 * is #LB_OK: completion wins, here and in lb_sim_remove(), lb_sim_set_weight() and
 * lb_sim_set_work().
 * @param err may be NULL
 * @return #LB_ERR_INVALID: unknown, completed or asleep; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_sleep(lb_sim *sim, lb_process_id id, lb_error *err);

/** A sleeping process wakes in the list that it left.
 * @param err may be NULL
 * @return #LB_ERR_INVALID: unknown, completed or awake; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_wake(lb_sim *sim, lb_process_id id, lb_error *err);

/** A process ends, its work undone; it is unknown from then on, and there is no event of it.
 * @param err may be NULL
 * @return #LB_ERR_INVALID: unknown or completed; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_remove(lb_sim *sim, lb_process_id id, lb_error *err);

/** Gives a process another weight; its place in its list stays.
 * @param weight as for lb_sim_add()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_set_weight(lb_sim *sim, lb_process_id id, double weight, lb_error *err);

/** Gives a process another amount of remaining work.
 * @param remaining CPU seconds, 0 to INFINITY; 0 completes at once, also a sleeper
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_set_work(lb_sim *sim, lb_process_id id, double remaining, lb_error *err);

/** Advances to `time` and opens one instant: what is due at `time` and what is called until
 * lb_sim_commit() is balanced once, then. Until then lb_sim_begin(), lb_sim_advance() and
 * lb_sim_clone() are refused; completions are out, and what is new has no core and no rate. What
 * was there keeps core, rate and place in its list until the commit, whatever is called of it.
 * @param time seconds, not before lb_sim_now(), finite
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM: as lb_sim_advance()
 * @since 0.1 */
lb_status lb_sim_begin(lb_sim *sim, double time, lb_error *err);

/** Balances and closes the open instant. A failed commit leaves it open.
 * @param err may be NULL
 * @return #LB_ERR_INVALID: none is open; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_sim_commit(lb_sim *sim, lb_error *err);

/** When something next happens by itself (a completion, a delayed check, a rotation), in seconds of
 * absolute time. Asking changes nothing. In an open instant: now.
 * @return INFINITY: never
 * @since 0.1 */
double lb_sim_next(const lb_sim *sim);

/** Advances to a time, what happens at that very time included. Events of one instant are in this
 * order: completions by id, then migrations as they were made.
 * @param until seconds, not before lb_sim_now(); INFINITY: until nothing more happens (where
 *        processes rotate: until none of finite work runs); now is then the last event's time
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM: it stands whole at lb_sim_now(), and no event is lost
 * @since 0.1 */
lb_status lb_sim_advance(lb_sim *sim, double until, lb_error *err);

/** What happened. @since 0.1 */
typedef enum lb_sim_event_kind {
    LB_SIM_COMPLETED, /**< A process's work is done. */
    LB_SIM_MIGRATED   /**< A process moved to another core's list. */
} lb_sim_event_kind;

/** Something that happened. Frozen layout. @since 0.1 */
typedef struct lb_sim_event {
    double time;       /**< Seconds. */
    lb_process_id id;  /**< Of which process. */
    uint64_t tag;      /**< The caller's own, given with lb_sim_add(). */
    int32_t kind;      /**< An #lb_sim_event_kind. */
    uint32_t from;     /**< The core that it left; #LB_CORE_ANY of a completion. */
    uint32_t to;       /**< The core that it moved to; #LB_CORE_ANY of a completion. */
    uint32_t reserved; /**< 0. */
} lb_sim_event;

/** Hands out the oldest event not yet seen.
 * @return 1: *ret_event is one; 0: there is none
 * @since 0.1 */
int lb_sim_poll(lb_sim *sim, lb_sim_event *ret_event);

/** The work that a process has left, in CPU seconds. A completed process is known until its event
 * was polled.
 * @return NAN: not known, or not any longer
 * @since 0.1 */
double lb_sim_remaining(const lb_sim *sim, lb_process_id id);

/** The speed at which a process's work is done now, 1 being a whole core of speed 1; 0 while it
 * sleeps.
 * @return NAN: not known, or not any longer
 * @since 0.1 */
double lb_sim_rate(const lb_sim *sim, lb_process_id id);

/** The core on whose list a process is.
 * @return #LB_CORE_ANY: asleep, sharing all cores, or not known
 * @since 0.1 */
uint32_t lb_sim_core(const lb_sim *sim, lb_process_id id);

/** The length of a core's list; 0 where there are no lists, or no such core. @since 0.1 */
size_t lb_sim_core_load(const lb_sim *sim, uint32_t core);

/** @} */

/** @defgroup tables Tables
 * What the measuring functions return: named columns of numbers.
 * @{ */

/** Named columns (units in the names) of doubles, NAN where there is no value, with optional row
 * labels and metadata. @since 0.1 */
typedef struct lb_table lb_table;

/** Makes a table without rows.
 * @param names one for each column, copied: not empty, all different, no control characters,
 *        "label" only where it is the first
 * @param columns how many
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_table_new(const char *const *names, size_t columns, lb_table **ret_table,
                       lb_error *err);

/** Frees a table. @param table may be NULL @since 0.1 */
void lb_table_free(lb_table *table);

/** Adds a row.
 * @param label NULL or "": none; no control characters
 * @param values one for each column
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_table_add_row(lb_table *table, const char *label, const double *values, lb_error *err);

/** Sets, or replaces, an entry of the metadata.
 * @param key not empty; no control characters, no ':', no space at either end
 * @param value no control characters, no space at either end; NULL removes the entry
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_table_set_meta(lb_table *table, const char *key, const char *value, lb_error *err);

/** How many rows there are. @since 0.1 */
size_t lb_table_rows(const lb_table *table);

/** How many columns there are. @since 0.1 */
size_t lb_table_columns(const lb_table *table);

/** A column's name, valid as long as the table; NULL: no such column. @since 0.1 */
const char *lb_table_name(const lb_table *table, size_t column);

/** A row's label, valid as long as the table; "" where it has none; NULL: no such row.
 * @since 0.1 */
const char *lb_table_label(const lb_table *table, size_t row);

/** The value of an entry of the metadata, valid until it is set again; NULL: not set.
 * @since 0.1 */
const char *lb_table_meta(const lb_table *table, const char *key);

/** A value; NAN: none, or no such row or column. @since 0.1 */
double lb_table_value(const lb_table *table, size_t row, size_t column);

/** A value by the column's name; NAN: none, or no such row or column. @since 0.1 */
double lb_table_get(const lb_table *table, size_t row, const char *name);

/** The form of a text. @since 0.1 */
typedef enum lb_format {
    LB_FORMAT_TEXT, /**< For people: aligned columns, sentences. */
    LB_FORMAT_JSON, /**< For programs: one JSON value. */
    LB_FORMAT_CSV   /**< For spreadsheets, and to be read back. */
} lb_format;

/** Writes a table as text.
 * @param format an #lb_format
 * @param ret_text the caller frees it with lb_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_table_format(const lb_table *table, lb_format format, char **ret_text, lb_error *err);

/** Reads a table as #LB_FORMAT_CSV writes it.
 * @param csv `length` bytes, which need not be terminated
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_FORMAT: the message names the line; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_table_parse(const char *csv, size_t length, lb_table **ret_table, lb_error *err);

/** Predicts all that is mostly wanted, as one table: a row for each process, labelled by its index,
 * and a last one, "makespan". Columns:
 * - work_s: as given; in the last row the sum of them;
 * - mean_s, stddev_s, min_s, max_s, standard_error_s, completion, exact: of the duration, or the
 *   makespan, as in #lb_duration;
 * - alone_s: what the process would take with the fastest core to itself, its sleep included;
 *   INFINITY where it would not complete even so; NAN in the last row;
 * - slowdown: mean_s / alone_s; 1 of a process that takes no time; NAN in the last row;
 * - utilisation: in the last row only: the mean part that is used of what all cores could do from
 *   time 0 to the makespan; NAN where a process may not complete, as what it has used is not known,
 *   and of a workload without processes.
 *
 * The metadata say cores, policy and realisations. Memory is that of lb_model_distribution().
 * @param options NULL: the defaults
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return as lb_model_durations()
 * @since 0.1 */
lb_status lb_model_summary(const lb_model *model, const lb_workload *workload,
                           const lb_estimate_options *options, lb_table **ret_table, lb_error *err);

/** The level of SCHED_IDLE among nice levels. @since 0.1 */
#define LB_LEVEL_IDLE 20

/** What lb_model_weights() and lb_experiment_weights() look at: one soaker (a process that always
 * wants to run) of a nice level on each core, and some of nice 0. @since 0.1 */
typedef struct lb_weights_options {
    size_t size;             /**< sizeof(lb_weights_options), set by its init function. */
    const int32_t *levels;   /**< Nice levels of the soakers, 0 to 19, or #LB_LEVEL_IDLE. Default
                                  NULL: all of them. */
    size_t level_count;      /**< How many `levels`: 1 to 64. Without effect where that is NULL. */
    uint32_t normal_tasks;   /**< How many tasks of nice 0 beside the soakers: 1 to 4,096. Default
                                  1. */
    uint32_t groups;         /**< Of the model: into how many groups (packages) the cores are
                                  parted. Default 0. */
    uint32_t group_cores;    /**< Of the model: cores of each group; 4,096 at most in all. Default
                                  0. */
    uint32_t repeats;        /**< How often each level is looked at, 1,000 times at most. 0, the
                                  default: 3 when measuring, 20 in the model. */
    double seconds;          /**< For each level and repeat: 0.2 to 3,600. The model takes whole
                                  ones, 1 at least. Default 10. */
    uint64_t seed;           /**< Of the model, and of the order of levels. Default 1. */
    lb_progress_fn progress; /**< Default NULL. */
    void *progress_user;     /**< Handed to `progress`. Default NULL. */
} lb_weights_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_weights_options_init(lb_weights_options *options, size_t size);

/** Predicts what large weight differences cost where balancing weighs groups of cores, as Linux
 * 2.6.25 did: Rao, "Large weight differential leads to inefficient load balancing" (2010). A row
 * for each level ("nice 5", "idle"), with the columns
 * - weight_ratio: of a soaker to a normal task;
 * - ideal_idle_percent: of all cores, by the infeasible-weights rule: 0;
 * - static_idle_percent: what a static rule leaves idle: soakers move from the heaviest group to
 *   the lightest while their weights differ by more than a quarter and both come nearer to the
 *   mean;
 * - idle_percent, idle_stddev: mean and deviation, over seconds and repeats, of a dynamic rule:
 *   each core looks for a busiest group in its own time, by decayed loads;
 * - idle_low, idle_median, idle_high: quantiles of the same, 0.05, 0.5 and 0.95;
 * - mean_stddev: the deviation of the repeats' means;
 * - ideal_normal_percent, normal_percent: CPU time of a normal task, 100 being one core, ideal and
 *   by the dynamic rule.
 *
 * docs/weights.md tells how far it explains measurements.
 * @param options with `groups` and `group_cores`
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: an option out of range; #LB_ERR_CANCELLED; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_model_weights(const lb_weights_options *options, lb_table **ret_table, lb_error *err);

/** @} */

/** @defgroup trace Traces
 * What an experiment recorded, and a classification reads. docs/trace-format.md has the file
 * format.
 * @{ */

/** Units, slices and marks of tasks, with metadata. @since 0.1 */
typedef struct lb_trace lb_trace;

/** The highest number that a task may have. @since 0.1 */
#define LB_TASK_MAX 1048575u

/** One timed unit of work of one task. Frozen layout. @since 0.1 */
typedef struct lb_unit {
    int64_t start_ns;   /**< Nanoseconds since the trace's start; may be negative. Any value is
                             taken, so the difference of two times need not fit. */
    int64_t end_ns;     /**< Not before `start_ns`. */
    int64_t cpu_ns;     /**< CPU time used; -1: not known. */
    uint32_t task;      /**< 0 to #LB_TASK_MAX. */
    uint32_t index;     /**< Its number in the task, from 0; a gap means lost units. */
    int32_t core_start; /**< The core it began on, below the trace's cores; -1: not known. */
    int32_t core_end;   /**< The core it ended on, likewise. */
} lb_unit;

/** An interval in which one task ran on one core without a gap. Frozen layout. @since 0.1 */
typedef struct lb_slice {
    int64_t start_ns; /**< Nanoseconds since the trace's start. */
    int64_t end_ns;   /**< Not before `start_ns`. */
    uint32_t task;    /**< 0 to #LB_TASK_MAX. */
    int32_t core;     /**< Below the trace's cores. */
} lb_slice;

/** What was done to a task. @since 0.1 */
typedef enum lb_mark_kind {
    LB_MARK_PIN,   /**< It was bound to one core. */
    LB_MARK_UNPIN, /**< It was let run on all cores again. */
    LB_MARK_SLEEP, /**< It was put to sleep. */
    LB_MARK_WAKE,  /**< It was woken. */
    LB_MARK_FORK,  /**< It was made. */
    LB_MARK_END    /**< It was told to end. */
} lb_mark_kind;

/** What was done to a task when. Frozen layout. @since 0.1 */
typedef struct lb_mark {
    int64_t time_ns; /**< Nanoseconds since the trace's start. */
    uint32_t task;   /**< 0 to #LB_TASK_MAX. */
    int32_t kind;    /**< An #lb_mark_kind. */
} lb_mark;

/** Makes an empty trace, which is sealed.
 * @param cores how many cores there were, 1 or more
 * @param ret_trace the caller frees it with lb_trace_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_new(uint32_t cores, lb_trace **ret_trace, lb_error *err);

/** Frees a trace. @param trace may be NULL @since 0.1 */
void lb_trace_free(lb_trace *trace);

/** Sets the CPU seconds that one unit takes alone on a core.
 * @param seconds above 0 and finite; NAN: not known, to be inferred
 * @param err may be NULL
 * @return #LB_ERR_INVALID
 * @since 0.1 */
lb_status lb_trace_set_unit_work(lb_trace *trace, double seconds, lb_error *err);

/** The CPU seconds that one unit takes alone on a core; NAN: not known. @since 0.1 */
double lb_trace_unit_work(const lb_trace *trace);

/** Sets, or replaces, an entry of the metadata. The keys "lbsched-trace", "cores", "unit_work_s"
 * and "table" belong to the file format and are refused; "cpus" (the system's number of each core,
 * such as "0,8,16") and "groups" (cores that belong together, such as "0-1,2-3") have their form
 * checked.
 * @param key as for lb_table_set_meta()
 * @param value as for lb_table_set_meta(); NULL removes the entry
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_set_meta(lb_trace *trace, const char *key, const char *value, lb_error *err);

/** The value of an entry of the metadata, valid until it is set again; NULL: not set.
 * @since 0.1 */
const char *lb_trace_meta(const lb_trace *trace, const char *key);

/** Adds a unit, which unseals the trace.
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_add_unit(lb_trace *trace, const lb_unit *unit, lb_error *err);

/** Adds `n` units, or none if one of them is refused. None leaves the trace sealed.
 * @param units of no trace, or of another one
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_add_units(lb_trace *trace, const lb_unit *units, size_t n, lb_error *err);

/** Adds a slice, which unseals the trace.
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_add_slice(lb_trace *trace, const lb_slice *slice, lb_error *err);

/** Adds a mark, which unseals the trace.
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_add_mark(lb_trace *trace, const lb_mark *mark, lb_error *err);

/** How many cores there were. @since 0.1 */
uint32_t lb_trace_cores(const lb_trace *trace);

/** The highest number of a task, and 1; 0 of a trace without tasks. @since 0.1 */
uint32_t lb_trace_tasks(const lb_trace *trace);

/** Sorts units by task and start, slices likewise and marks by time, and checks that units, and
 * slices, of one task do not overlap and that unit numbers do not repeat. Traces that the library
 * returns are sealed. An unsealed trace has no units, slices and marks to show, and is
 * #LB_ERR_INVALID to classify or save.
 * @param err may be NULL
 * @return #LB_ERR_INVALID: the message names the task and the time; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_seal(lb_trace *trace, lb_error *err);

/** The units of a sealed trace, by task, then start; valid until the trace changes.
 * @param ret_n how many; 0 of an unsealed trace
 * @return NULL where there are none
 * @since 0.1 */
const lb_unit *lb_trace_units(const lb_trace *trace, size_t *ret_n);

/** The slices of a sealed trace, by task, then start; valid until the trace changes.
 * @param ret_n how many; 0 of an unsealed trace
 * @return NULL where there are none
 * @since 0.1 */
const lb_slice *lb_trace_slices(const lb_trace *trace, size_t *ret_n);

/** The marks of a sealed trace, by time; valid until the trace changes.
 * @param ret_n how many; 0 of an unsealed trace
 * @return NULL where there are none
 * @since 0.1 */
const lb_mark *lb_trace_marks(const lb_trace *trace, size_t *ret_n);

/** Reads a trace file.
 * @param path of a file in CSV form
 * @param ret_trace sealed; the caller frees it with lb_trace_free()
 * @param err may be NULL
 * @return #LB_ERR_IO; #LB_ERR_FORMAT: the message names the line; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_load(const char *path, lb_trace **ret_trace, lb_error *err);

/** Reads a trace from memory.
 * @param text `length` bytes in CSV form, which need not be terminated
 * @param ret_trace sealed; the caller frees it with lb_trace_free()
 * @param err may be NULL
 * @return #LB_ERR_FORMAT: the message names the line; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_parse(const char *text, size_t length, lb_trace **ret_trace, lb_error *err);

/** What kind of recording lb_trace_import() reads. @since 0.1 */
typedef enum lb_import_form {
    LB_IMPORT_AUTO = 0,  /**< By what is in it. */
    LB_IMPORT_TRACE,     /**< `lbsched-trace 1`, as lb_trace_load() reads it. */
    LB_IMPORT_DURATIONS, /**< A table of task and duration, a row for each unit: tasks begin
                              together, and a task's units follow each other. */
    LB_IMPORT_SCHED      /**< The text of sched_switch (and sched_wakeup) events that `perf sched
                              script`, `perf script` or `trace-cmd report` print, or the kernel's
                              own trace file. */
} lb_import_form;

/** How a recording is read. @since 0.1 */
typedef struct lb_import_options {
    size_t size;      /**< sizeof(lb_import_options), set by its init function. */
    int32_t form;     /**< An #lb_import_form. Default #LB_IMPORT_AUTO. */
    uint32_t cores;   /**< How many cores there were. Default 0: as the recording says, by a line
                           "# cores: N" of durations, by the CPUs that are named in events (one on
                           which nothing ever changed is not). */
    double unit_work; /**< CPU seconds of a unit, 1e-9 to 1e6. Of durations: what one takes alone.
                           Of events: the CPU time of a task is cut into units of so much. Default
                           NAN: not known (or as a line "# unit_work_s: S" says); 0.01 of events. */
    const char *comm; /**< Events: only tasks of this name. Default NULL: all that used a unit's CPU
                           time at least; the CPU time of the rest is in the metadata
                           (others_cpu_s). */
} lb_import_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_import_options_init(lb_import_options *options, size_t size);

/** Reads a recording that another program made. docs/trace-format.md describes the forms. Tasks of
 * a table keep their numbers if all have one, and are counted in the order of their appearance
 * else. Tasks of events are counted by pid, with pid and name in the metadata (task_0, ..); times
 * count from the first event; a sleep in a unit loses that unit, and switches that the recording
 * lost are counted in the metadata (lost_switches).
 * @param path of a text file
 * @param options NULL: the defaults
 * @param ret_trace sealed; the caller frees it with lb_trace_free()
 * @param err may be NULL
 * @return #LB_ERR_IO; #LB_ERR_FORMAT: the message names the line; #LB_ERR_INVALID: an option out of
 *         range, or it is not known how many cores there were; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_import(const char *path, const lb_import_options *options, lb_trace **ret_trace,
                          lb_error *err);

/** The same from memory.
 * @param text `length` bytes, which need not be terminated
 * @since 0.1 */
lb_status lb_trace_import_text(const char *text, size_t length, const lb_import_options *options,
                               lb_trace **ret_trace, lb_error *err);

/** The form of a trace file. @since 0.1 */
typedef enum lb_trace_file {
    LB_TRACE_CSV,        /**< `lbsched-trace 1`, which reads back bit for bit. */
    LB_TRACE_CHROME_JSON /**< Chrome trace events, which Perfetto UI opens. */
} lb_trace_file;

/** Writes a sealed trace to a file. It is written beside `path` and renamed once it is whole, so
 * that after a failure no partial file is left, and an older file is as it was. What is reached
 * through a symbolic link, a device or a pipe, a file with several hard links, and one that cannot
 * be replaced by one like it (owner, permissions) is written in place instead.
 * @param file an #lb_trace_file
 * @param err may be NULL
 * @return #LB_ERR_IO; #LB_ERR_INVALID: not sealed; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_save(const lb_trace *trace, const char *path, lb_trace_file file, lb_error *err);

/** Writes a sealed trace to memory.
 * @param file an #lb_trace_file
 * @param ret_text terminated; the caller frees it with lb_free()
 * @param ret_length its length without the terminator; may be NULL
 * @param err may be NULL
 * @return #LB_ERR_INVALID: not sealed; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_format(const lb_trace *trace, lb_trace_file file, char **ret_text,
                          size_t *ret_length, lb_error *err);

/** Predicts what an experiment would have recorded: one realisation, that of lb_model_sample() with
 * the same seed. Task i is process i. Units end when the model says, which lets all on a list run
 * at once; the last unit of a process is what remains of its work, and so may be shorter than the
 * others, as is one in which the process falls asleep or is stopped. One without work has one unit
 * of no length. Between falling asleep and waking there is no unit. Arrivals after time 0,
 * sleeping, waking and stopping are marks (fork, sleep, wake, end). Cores are not known where all
 * are shared
 * (#LB_POLICY_IMMEDIATE without rotation_time); nor is CPU time there, if cores differ in speed.
 * The metadata say experiment: predicted, the policy, and the seed.
 * @param unit_work CPU seconds of one unit, above 0 and finite
 * @param slice 0: no slices; else what a process of weight 1 gets in its turn, in seconds, finite:
 *        those on a list take turns in the order they came, in slices of `slice` times the weight
 * @param seed decides the realisation
 * @param ret_trace sealed; the caller frees it with lb_trace_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_UNSUPPORTED: slices where there are no lists; #LB_ERR_LIMIT:
 *         infinite work, more than 10,000,000 units and slices, or moves between lists, more than
 *         #LB_TASK_MAX + 1 processes, or an end after 9.2e9 s; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_model_trace(const lb_model *model, const lb_workload *workload, double unit_work,
                         double slice, uint64_t seed, lb_trace **ret_trace, lb_error *err);

/** @} */

/** @defgroup classify Classification
 * From a trace to a verdict.
 * @{ */

/** What was inferred: policy and queue structure with probabilities, and reasons. Immutable.
 * @since 0.1 */
typedef struct lb_verdict lb_verdict;

/** Which cores share a run queue. @since 0.1 */
typedef enum lb_queues {
    LB_QUEUES_UNKNOWN = 0, /**< Not known. */
    LB_QUEUES_PER_CORE,    /**< Each core has its own. */
    LB_QUEUES_SINGLE,      /**< All cores share one. */
    LB_QUEUES_GROUPED      /**< One for each group of cores, such as a core's hyperthreads. */
} lb_queues;

/** How sure a verdict must be. @since 0.1 */
typedef struct lb_classify_options {
    size_t size;       /**< sizeof(lb_classify_options), set by its init function. */
    double confidence; /**< Below this probability a verdict is unknown: 0.5 to 1, 1 excluded.
                            Default 0.95. */
} lb_classify_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_classify_options_init(lb_classify_options *options, size_t size);

/** Infers the policy from a trace's units.
 * @param trace sealed
 * @param options NULL: the defaults
 * @param ret_verdict the caller frees it with lb_verdict_free(). A trace that does not decide, even
 *        an empty one, gives a verdict of #LB_POLICY_UNKNOWN whose reasons say what is missing.
 * @param err may be NULL
 * @return #LB_ERR_INVALID: not sealed, an option out of range; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_classify(const lb_trace *trace, const lb_classify_options *options,
                      lb_verdict **ret_verdict, lb_error *err);

/** Frees a verdict. @param verdict may be NULL @since 0.1 */
void lb_verdict_free(lb_verdict *verdict);

/** The policy, or #LB_POLICY_UNKNOWN where none reaches the confidence asked for. @since 0.1 */
lb_policy lb_verdict_policy(const lb_verdict *verdict);

/** How probable a policy is. #LB_POLICY_UNKNOWN stands for "none of these": all five sum to 1.
 * @return 0 to 1; NAN: no such policy
 * @since 0.1 */
double lb_verdict_probability(const lb_verdict *verdict, lb_policy policy);

/** The queue structure, or #LB_QUEUES_UNKNOWN. @since 0.1 */
lb_queues lb_verdict_queues(const lb_verdict *verdict);

/** How probable a queue structure is. #LB_QUEUES_UNKNOWN stands for "none of these": all four sum
 * to 1.
 * @return 0 to 1; NAN: no such structure
 * @since 0.1 */
double lb_verdict_queues_probability(const lb_verdict *verdict, lb_queues queues);

/** How many reasons there are: at least 1. @since 0.1 */
size_t lb_verdict_reason_count(const lb_verdict *verdict);

/** A reason: one plain sentence with its numbers, valid as long as the verdict; NULL: no such
 * reason. @since 0.1 */
const char *lb_verdict_reason(const lb_verdict *verdict, size_t index);

/** Writes a verdict as text.
 * @param format #LB_FORMAT_TEXT or #LB_FORMAT_JSON
 * @param ret_text the caller frees it with lb_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_verdict_format(const lb_verdict *verdict, lb_format format, char **ret_text,
                            lb_error *err);

/** Reads a verdict as #LB_FORMAT_JSON writes it: written again, it is the same to the last bit.
 * Members that are not known are passed over.
 * @param json `length` bytes, which need not be terminated
 * @param ret_verdict the caller frees it with lb_verdict_free()
 * @param err may be NULL
 * @return #LB_ERR_FORMAT: the message names the line; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_verdict_parse(const char *json, size_t length, lb_verdict **ret_verdict,
                           lb_error *err);

/** A number that was measured beside the policy, by the name that it has among the JSON form's
 * measures (docs/verdict.md lists them), such as "idle_p50_s", "balance_delay_s", or
 * "rotation_time_s".
 * @return INFINITY: never, of a latency; NAN: not measured, or no such name
 * @since 0.1 */
double lb_verdict_measure(const lb_verdict *verdict, const char *name);

/** How evenly tasks shared the cores: a row for each number of running tasks, falling. Columns:
 * concurrency; seconds that they ran; mean_share of a core that a task had; deviation of the
 * shares, standard deviation over mean; jain, 1 if all are alike and 1 / concurrency if one has it
 * all (Jain, Chiu and Hawe 1984); least and most of the shares.
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_verdict_fairness(const lb_verdict *verdict, lb_table **ret_table, lb_error *err);

/** Makes the model that the verdict implies, with what was measured: balancing delay, rotation
 * time, choices and core speeds; of these, the part that others left while the trace was made
 * (foreign_cpu_percent, up to 5 %: what always runs on an idle machine), unless it was disturbed.
 * @param ret_model the caller frees it with lb_model_free()
 * @param err may be NULL
 * @return #LB_ERR_UNSUPPORTED of an unknown verdict; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_verdict_model(const lb_verdict *verdict, lb_model **ret_model, lb_error *err);

/** The duration of a unit against concurrency ("Detecting Further Immediate Load Balancing
 * Features"): a row for each number of running tasks, from the units that lie wholly inside such an
 * interval. Columns: concurrency; mean_s, stddev_s, and stderr_s of the mean; units; model_s; then
 * stddev_stderr_s, the standard error of stddev_s, and modulo, concurrency modulo cores. Units of
 * one task follow one another and share their circumstances, so that standard errors are rather too
 * small. The seed asks whether the deviation is lower where tasks are a multiple of the cores: the
 * metadata compare stddev_s / mean_s there (deviation_multiples) with the rest of the concurrencies
 * above the number of cores (deviation_others), each with its standard error (.._stderr).
 * @param trace sealed
 * @param model predicts model_s; NULL: processor sharing on the trace's cores
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: not sealed, or the model has other cores than the trace; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_profile(const lb_trace *trace, const lb_model *model, lb_table **ret_table,
                           lb_error *err);

/** How long it takes until lists are balanced ("How long does balancing take", an open issue
 * there): a row for each imbalance that an event left behind, labelled by the event (end, sleep,
 * wake, unpin, fork). An imbalance is a core with nothing to run beside a list of two or more, or
 * lists that differ by more than one. It is balanced by moves; what an event ends, or the trace,
 * was never balanced. Columns:
 * - time_s: when it arose;
 * - latency_s: how long it took from then until lists were balanced; NAN: never;
 * - least_s, most_s: bounds of that. Slices tell the time at which an idle core was filled; who
 * came to a list that others are on waited there unseen for its turn. Without slices the cores of
 * units bound it;
 * - watched_s: how long it was there, balanced in the end or not: "never" means not in that time;
 * - idle: 1 if a core had nothing to run, else 0;
 * - longest, shortest: the lists' lengths when it arose.
 *
 * The metadata say the source (slices, units, or none, if the trace does not tell where tasks ran)
 * and for idle and apart (lists apart with no core idle) how many were balanced (idle_balanced,
 * apart_balanced) and within which time half and nine in ten (idle_p50_s, idle_p90_s, apart_p50_s,
 * apart_p90_s: a number, "never", or "none" where there were no such imbalances; product-limit
 * estimates, Kaplan and Meier 1958). Where cores share a queue there are no lists to balance, no
 * rows, and "queues" is "shared".
 * @param trace sealed
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: not sealed; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_latency(const lb_trace *trace, lb_table **ret_table, lb_error *err);

/** Which events start balancing, and whom it moves (Hauck names "task sleep or task finish", and
 * leaves open which process of which list): counts, in a row for each kind of event: "end",
 * "sleep", "wake", "fork", "unpin". Marks of one kind within 20 ms are one event. An event is
 * watched until the next mark, in two halves: what it starts should come in the first, what would
 * have happened anyway comes in either. Moves of tasks that are bound do not count. Columns:
 * - events: how many there were;
 * - followed, control: after how many of them somebody moved in the first half, in the second;
 * - moves: in first halves; of these,
 * - to_idle: to a core with nothing to run;
 * - from_longest, from_other: from a longest list, from a shorter one;
 * - first, last, neither: of the tasks of its list, the one that had been there longest, the one
 *   that came last, another one (or all had come at once);
 * - placed: after how many the woken task itself came to another core than it had left.
 *
 * All counts need slices: the metadata say source: slices, or none.
 * @param trace sealed, such as one of #LB_EXPERIMENT_EVENTS
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: not sealed; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_events(const lb_trace *trace, lb_table **ret_table, lb_error *err);

/** How tasks were spread over the cores ("we can detect if tasks are distributed evenly [...]: all
 * tasks should have same duration times", Hauck): a row for each core. Columns: core; started,
 * ended: tasks that began and ended there; came: how often a task came there from another core;
 * busy_s: seconds that tasks ran there. The metadata say the source (slices, units, none), tasks,
 * and of their durations from first start to last end duration_mean_s, duration_stddev_s,
 * duration_min_s and duration_max_s.
 * @param trace sealed, such as one of #LB_EXPERIMENT_EVEN
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: not sealed; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_trace_spread(const lb_trace *trace, lb_table **ret_table, lb_error *err);

/** How two results are compared. @since 0.1 */
typedef struct lb_compare_options {
    size_t size;            /**< sizeof(lb_compare_options), set by its init function. */
    const char *metric;     /**< The column that is compared. Default NULL: every column that both
                                 tables have, a row for each. */
    double confidence;      /**< Of the intervals; differences are called at 1 less it: 0.5 to 1, 1
                                 excluded. Default 0.95. */
    double smallest_effect; /**< The least relative difference worth naming: 0 to 1, 1 excluded.
                                 Default 0.02. */
} lb_compare_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_compare_options_init(lb_compare_options *options, size_t size);

/** Compares two results of the same work under two conditions: kernels, classes, settings. Each
 * row of a result is one run; its label names the point of a sweep ("users 8"), rows of one label
 * are repetitions. Two columns are no metrics: `valid` (0: the run was disturbed; it is counted,
 * and left out of the statistics), and `block` (the number of an interleaved block, such as ABBA:
 * then conditions are compared within each block, so that what changes slowly in the machine meets
 * both alike).
 *
 * A row for each label that both have (and each metric), with columns:
 * - runs_base, runs_other, invalid_base, invalid_other: how many;
 * - median_base, median_other, and _low and _high of each: the medians' intervals (Hettmansperger
 *   and Sheather 1986);
 * - self_base_percent, self_other_percent: how far one run and the next of the same condition are
 *   apart (of the same block, where there are blocks), at the median: what the machine differs from
 *   itself;
 * - stddev_base_percent, relative_percent, relative_stddev_percent: means relative to the base's,
 * and standard deviations, as SDET's results are given;
 * - ratio, ratio_low, ratio_high: other to base, and its interval: of blocks the median of their
 *   ratios, else Hodges and Lehmann's (1963); only of positive values;
 * - blocks: how many were compared (0: the runs as they are);
 * - p: of blocks by the signed rank test, else by Mann and Whitney's; p_adjusted: over all rows
 *   (Holm 1979);
 * - superiority: how often a run of the other has the larger value, ties one half;
 * - difference: 1 or -1 if the other is larger or smaller by `smallest_effect` at least, and by
 *   chance less often than confidence allows; 0 if the interval lies within `smallest_effect`; NAN:
 *   not decided.
 *
 * NAN stands where there are too few runs (6 for an interval of 95 %). The metadata of both results
 * are there as base.KEY and other.KEY.
 * @param base what is compared with
 * @param other the other condition
 * @param options NULL: the defaults
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: an option out of range, or tables that have no label or no metric in
 *         common; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_compare(const lb_table *base, const lb_table *other, const lb_compare_options *options,
                     lb_table **ret_table, lb_error *err);

/** @} */

/** @defgroup experiment Host and experiments
 * The only part that touches the operating system.
 * @{ */

/** The machine that experiments run on. Immutable once opened. @since 0.1 */
typedef struct lb_host lb_host;

/** Where a host is read from. @since 0.1 */
typedef struct lb_host_options {
    size_t size;              /**< sizeof(lb_host_options), set by its init function. */
    const char *topology_xml; /**< The path of an hwloc XML file that describes another machine.
                                   Default NULL: this machine. */
    const char *synthetic;    /**< An hwloc synthetic description of one, such as
                                   "package:2 core:4 pu:2"; not together with `topology_xml`.
                                   Default NULL. */
    const char *root;         /**< A folder that holds another machine's /proc, /sys and control
                                   groups, to be read for findings; without a topology beside it,
                                   that of this machine is taken. Nothing can run on such a host.
                                   Default NULL: the files of this machine, or none of one that a
                                   topology describes. */
} lb_host_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_host_options_init(lb_host_options *options, size_t size);

/** Reads the machine: its topology through hwloc, and what of it this process may use.
 * @param options NULL: this machine
 * @param ret_host the caller frees it with lb_host_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID: a description that hwloc does not take; #LB_ERR_IO: no such file or
 * root; #LB_ERR_UNSUPPORTED: no core that may be used, or a build without experiments;
 *         #LB_ERR_SYSTEM; #LB_ERR_NOMEM
 * @since 0.1 */
lb_status lb_host_open(const lb_host_options *options, lb_host **ret_host, lb_error *err);

/** Frees a host. @param host may be NULL @since 0.1 */
void lb_host_free(lb_host *host);

/** How many logical CPUs this process may use: the cores. @since 0.1 */
uint32_t lb_host_cores(const lb_host *host);

/** How many physical cores are behind them. @since 0.1 */
uint32_t lb_host_physical_cores(const lb_host *host);

/** The groups into which the cores are parted: packages, or where there is one only its NUMA nodes,
 * or caches.
 * @param ret_groups how many; 1 where nothing parts the cores into sets of one size
 * @param ret_cores how many cores each has
 * @since 0.1 */
void lb_host_groups(const lb_host *host, uint32_t *ret_groups, uint32_t *ret_cores);

/** The system's number of a core.
 * @param core below lb_host_cores()
 * @return UINT32_MAX: no such core
 * @since 0.1 */
uint32_t lb_host_cpu(const lb_host *host, uint32_t core);

/** One line that describes the machine, such as "AMD EPYC, 2 cores (2 physical), Linux 6.18.44";
 * valid as long as the host. @since 0.1 */
const char *lb_host_description(const lb_host *host);

/** How many CPUs' worth of time a control group's quota allows to this process, ancestors included.
 * @return above 0; INFINITY: no quota, or none that is known
 * @since 0.1 */
double lb_host_quota(const lb_host *host);

/** What may be found about a machine or a run that matters for a result. Later releases may add
 * kinds; their sentences speak for themselves. @since 0.1 */
typedef enum lb_finding_kind {
    LB_FINDING_NONE = 0,       /**< No such finding. */
    LB_FINDING_QUOTA,          /**< A control group allows less CPU time than the cores have. */
    LB_FINDING_THROTTLED,      /**< During a run: such a quota stopped the workers. */
    LB_FINDING_LOAD,           /**< Others use the cores, before or during a run. */
    LB_FINDING_AUTOGROUP,      /**< The cores are shared by session, not by process. */
    LB_FINDING_STEAL,          /**< A virtual machine's host takes time away. */
    LB_FINDING_FREQUENCY,      /**< The cores' clock changes. */
    LB_FINDING_SMT,            /**< Cores are hyperthreads of fewer physical ones. */
    LB_FINDING_CORE_KINDS,     /**< Cores are of different kinds, as hwloc tells. */
    LB_FINDING_SPEEDS,         /**< During a run: cores were measured to differ in speed. */
    LB_FINDING_DRIFT,          /**< During a run: work took another CPU time than calibrated. */
    LB_FINDING_ISOLATED,       /**< Cores that the system keeps out of its balancing. */
    LB_FINDING_UNBALANCED,     /**< Load balancing is switched off in a control group. */
    LB_FINDING_PARTIAL_DOMAIN, /**< More CPUs are balanced together than workers may use. */
    LB_FINDING_OFFLINE,        /**< CPUs are there and switched off. */
    LB_FINDING_SPARSE,         /**< The system's numbers of the cores have gaps. */
    LB_FINDING_MANY_CPUS,      /**< The system's numbers go beyond a cpu_set_t. */
    LB_FINDING_REAL_TIME,      /**< Real-time processes are throttled. */
    LB_FINDING_HOTPLUG,        /**< During a run: CPUs came or went. */
    LB_FINDING_UNMEASURED      /**< During a run: the system does not tell what disturbed it. */
} lb_finding_kind;

/** The name of a kind, as it stands in a trace's metadata, such as "partial_domain".
 * @return a static string; "unknown" for any other number
 * @since 0.1 */
const char *lb_finding_name(lb_finding_kind kind);

/** How many findings there are about a host. @since 0.1 */
size_t lb_host_finding_count(const lb_host *host);

/** What a finding is about; #LB_FINDING_NONE: no such finding. @since 0.1 */
lb_finding_kind lb_host_finding_kind(const lb_host *host, size_t index);

/** A finding: one sentence with its numbers and with what it means for a result, valid as long as
 * the host; NULL: no such finding. @since 0.1 */
const char *lb_host_finding(const lb_host *host, size_t index);

/** What an experiment is for. docs/experiments.md tells how each is made. @since 0.1 */
typedef enum lb_experiment_kind {
    LB_EXPERIMENT_EVEN,    /**< Does the system spread equal tasks evenly by itself? */
    LB_EXPERIMENT_DETECT,  /**< Staggered ends: who speeds up when a task ends? */
    LB_EXPERIMENT_QUEUES,  /**< One run queue, or one for each core? */
    LB_EXPERIMENT_PROFILE, /**< The duration of a unit against the number of running tasks. */
    LB_EXPERIMENT_LATENCY, /**< How long does balancing take? */
    LB_EXPERIMENT_EVENTS   /**< What starts balancing: an end, sleep, wake, fork, unpinning? */
} lb_experiment_kind;

/** How #LB_EXPERIMENT_DETECT chooses who ends when. @since 0.1 */
typedef enum lb_detect_design {
    LB_DETECT_ADAPTIVE = 0, /**< As it goes: it ends whoever tells policies apart, and stops as soon
                                 as one has the confidence asked for. */
    LB_DETECT_FIXED /**< The seed's: all ends are fixed beforehand, and nothing is judged. */
} lb_detect_design;

/** What workers are. @since 0.1 */
typedef enum lb_worker_kind {
    LB_WORKERS_PROCESSES = 0, /**< Processes of their own. */
    LB_WORKERS_THREADS        /**< Threads of the calling process. They cannot be emulated with. */
} lb_worker_kind;

/** The scheduling class of workers. @since 0.1 */
typedef enum lb_scheduling {
    LB_SCHEDULING_INHERIT = 0, /**< Class, priority and nice level of the calling thread. */
    LB_SCHEDULING_OTHER,       /**< SCHED_OTHER. */
    LB_SCHEDULING_BATCH,       /**< SCHED_BATCH. */
    LB_SCHEDULING_IDLE,        /**< SCHED_IDLE. */
    LB_SCHEDULING_RR,          /**< SCHED_RR. */
    LB_SCHEDULING_FIFO         /**< SCHED_FIFO; lb_experiment_workload() only, as workers do not
                                    take turns. */
} lb_scheduling;

/** How an experiment is run. @since 0.1 */
typedef struct lb_experiment_options {
    size_t size;             /**< sizeof(lb_experiment_options), set by its init function. */
    uint32_t tasks_per_core; /**< How many workers start on each core: 3 or more, 4,096 at most on
                                  all cores together. Default 0: 3, in a fixed design 4. */
    uint32_t reserved;       /**< 0. */
    double unit_work;        /**< CPU seconds of one unit of work, 0.0005 to 1. Default 0.01. */
    double budget;           /**< Seconds that the whole call may take, 1 or more. Default 20. */
    lb_progress_fn progress; /**< Default NULL. */
    void *progress_user;     /**< Handed to `progress`. Default NULL. */
    double confidence;       /**< How sure a verdict must be: an adaptive experiment then stops, and
                                  lb_detect() calls less than that unknown. 0.5 to 1, 1 excluded;
                                  0, the default: 0.95. */
    int32_t design;          /**< An #lb_detect_design. Default #LB_DETECT_ADAPTIVE. */
    int32_t workers;         /**< An #lb_worker_kind. Default #LB_WORKERS_PROCESSES. */
    int32_t scheduling;      /**< The workers' class, an #lb_scheduling. Default
                                  #LB_SCHEDULING_INHERIT. */
    int32_t nice;            /**< Of #LB_SCHEDULING_OTHER and #LB_SCHEDULING_BATCH: -20 to 19.
                                  Default 0. */
    int32_t priority;        /**< Of #LB_SCHEDULING_RR and #LB_SCHEDULING_FIFO: 1 to 98; 0, the
                                  default, is 1. */
    uint32_t reserved2;      /**< 0. */
    lb_trace **partial; /**< NULL, the default; or where what was recorded goes, sealed, when the
                             call ends with #LB_ERR_CANCELLED or #LB_ERR_TIMEOUT in mid-run, to
                             be freed with lb_trace_free(); its metadata say `partial`. Else
                             NULL goes there. */
} lb_experiment_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_experiment_options_init(lb_experiment_options *options, size_t size);

/** Lets workers run on the host and records what happened: units, and slices (when which worker ran
 * on which core, read by itself after every 15 us of work: it ran at both ends for certain, and up
 * to 15 us more at each). None of them outlives the call, and the caller's other children, signal
 * handlers, signal mask, affinity and scheduling class are as before. Meanwhile the calling thread
 * raises itself above the workers, where it may (SCHED_FIFO 1, above real-time workers by one), and
 * so calls `progress`. While it is stopped, workers pause after half a second
 * (controller_stalled_s in the metadata).
 * @param host NULL: this machine
 * @param kind an #lb_experiment_kind
 * @param options NULL: the defaults
 * @param ret_trace sealed; the caller frees it with lb_trace_free(). Its metadata say how the
 *        experiment was made, what was found about host and run (finding_host_...,
 *        finding_run_...), and what of it makes a result doubtful (disturbed).
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM; #LB_ERR_SYSTEM; #LB_ERR_PERMISSION;
 *         #LB_ERR_UNSUPPORTED: one core only, a described host, a build without experiments, a
 *         scheduling class in which workers do not take turns (SCHED_FIFO, SCHED_DEADLINE);
 *         #LB_ERR_CANCELLED; #LB_ERR_TIMEOUT; #LB_ERR_WORKER
 * @since 0.1 */
lb_status lb_experiment_run(const lb_host *host, lb_experiment_kind kind,
                            const lb_experiment_options *options, lb_trace **ret_trace,
                            lb_error *err);

/** Runs a workload for real: what lb_model_durations() predicts, measured. Every process of the
 * workload becomes a worker that uses as much CPU time as its work says, by the CPU clock; all
 * that are there from the start are released at one moment, time 0 of the trace, and nothing is
 * arranged but first cores, where set. Arrivals, sleeps and wakes happen by the worker's own
 * clock, as soon as it runs at or after that time, and are marks with the times at which they did
 * (fork, sleep, wake; a stop is an end). Weights are nice levels. The last unit of a process is
 * what remains of its work, and so may be shorter than the others, as is one in which it falls
 * asleep or is stopped; one without work has one unit of next to no length.
 * @param host NULL: this machine
 * @param workload works that end: finite or with a stop, and a wake or stop after each sleep; first
 *        cores below the host's cores; weights of lb_nice_weight(), or #LB_WEIGHT_IDLE
 * @param options NULL: the defaults; tasks_per_core is without effect
 * @param ret_trace sealed; the caller frees it with lb_trace_free(). Task i is process i.
 * @param err may be NULL
 * @return as lb_experiment_run(); #LB_ERR_UNSUPPORTED: another weight; #LB_ERR_PERMISSION: a weight
 *         above 1 that this process may not have
 * @since 0.1 */
lb_status lb_experiment_workload(const lb_host *host, const lb_workload *workload,
                                 const lb_experiment_options *options, lb_trace **ret_trace,
                                 lb_error *err);

/** Measures what large weight differences cost, after Rao, "Large weight differential leads to
 * inefficient load balancing" (2010): for each level one soaker a core, alone first (the control),
 * then with the normal tasks, `seconds` each; all levels in each repeat, every time in another
 * order. All workers have SCHED_OTHER or SCHED_IDLE, whatever the caller's class. A row for each
 * level ("nice 5", "idle") with means over the repeats; percents of all cores' time, from
 * /proc/stat, unless said otherwise; NAN: not told by this system. The columns
 * - weight_ratio: of a soaker to a normal task;
 * - ideal_idle_percent: by the infeasible-weights rule: 0;
 * - idle_percent, idle_stddev: and its deviation over samples of a second each, of all repeats (of
 *   the whole time, where that is below 2 s);
 * - control_idle_percent: with the soakers alone;
 * - user, nice, system, iowait, irq, softirq, steal;
 * - interrupts_per_s: of the whole system;
 * - ideal_normal_percent, normal_percent, normal_stddev: CPU time of a normal task, 100 being one
 *   core, ideal, measured, and its deviation over the repeats;
 * - ideal_soaker_percent, soaker_percent: likewise, of a soaker;
 * - idle_waiting_percent: by slices, time in which none of the workers ran on a core for 0.5 ms or
 *   more though one of them waited; what others used for so long is in it;
 * - foreign_percent: what others used;
 * - disturbed: how many of the repeats something else disturbed.
 *
 * A level that cannot be had is a row of NAN but for the ideals, and the metadata
 * `finding_not_measured` says why: a process above nice 0 without the right to lower it cannot have
 * the normal task, and so none; another may be refused SCHED_IDLE.
 * @param host NULL: this machine
 * @param options NULL: the defaults; groups and group_cores are without effect
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return as lb_experiment_run()
 * @since 0.1 */
lb_status lb_experiment_weights(const lb_host *host, const lb_weights_options *options,
                                lb_table **ret_table, lb_error *err);

/** What is measured under load, with real processes that do real work ("Nick's scheduler v16",
 * linux-kernel 2003, is where such comparisons are argued with). docs/compare.md has the details.
 * @since 0.1 */
typedef enum lb_throughput_workload {
    LB_THROUGHPUT_BATCH = 0, /**< Short-lived jobs that fork, execute a program, read and write
                                  files and compute, as kernbench; or a command. */
    LB_THROUGHPUT_USERS,     /**< Users that do a mix of arithmetic, memory, pipe, file, fork and
                                  sleep jobs, as SDET, reaim and dbench. */
    LB_THROUGHPUT_MESSAGES   /**< Groups of processes that chat, as volanomark, tbench and
                                  hackbench. */
} lb_throughput_workload;

/** What messages go over. @since 0.1 */
typedef enum lb_transport {
    LB_TRANSPORT_SOCKETS = 0, /**< Pairs of Unix sockets. */
    LB_TRANSPORT_PIPES,       /**< Pipes. */
    LB_TRANSPORT_TCP          /**< TCP over the loopback interface. */
} lb_transport;

/** Under what the workload runs. What cannot be chosen here (the kernel, its settings) is as it
 * is; a result's metadata say it all. @since 0.1 */
typedef struct lb_condition {
    size_t size;           /**< sizeof(lb_condition), set by lb_condition_init(). */
    const char *name;      /**< For the metadata. Default NULL: made of class and number. */
    const uint32_t *cores; /**< The cores that the workload and its competitors may use, by
                                dense index. Default NULL: all of the host. */
    size_t core_count;     /**< How many. Default 0. */
    int32_t scheduling;    /**< The workload's class, an #lb_scheduling. Default
                                #LB_SCHEDULING_INHERIT. */
    int32_t nice;          /**< Of #LB_SCHEDULING_OTHER and #LB_SCHEDULING_BATCH: -20 to 19.
                                Default 0. */
    int32_t priority;      /**< Of #LB_SCHEDULING_RR and #LB_SCHEDULING_FIFO: 1 to 98; 0, the
                                default, is 1. */
    uint32_t competitors;  /**< So many processes that always want a core run meanwhile, 4,096 at
                                most. Default 0. */
    int32_t competitor_scheduling; /**< Their class. Default #LB_SCHEDULING_OTHER. */
    int32_t competitor_nice;       /**< Their nice level. Default 0. */
    uint64_t reserved;             /**< 0. */
} lb_condition;

/** Fills in the defaults. @param condition of `size` bytes @param size sizeof *condition
 * @since 0.1 */
void lb_condition_init(lb_condition *condition, size_t size);

/** What is measured, how often, and within which limits. @since 0.1 */
typedef struct lb_throughput_options {
    size_t size;            /**< sizeof(lb_throughput_options), set by its init function. */
    int32_t workload;       /**< An #lb_throughput_workload. Default #LB_THROUGHPUT_BATCH. */
    uint32_t repeats;       /**< Runs of each point under each condition. Default 0: 10; of several
                                 conditions 20, and an odd number is made even. */
    const uint32_t *points; /**< The sweep: how many processes of a batch run at a time (0: all
                                 jobs), how many users, how many groups; 4,096 users or 512 groups
                                 at most. Default NULL: twice the cores and all; users from 1 to
                                 four times those at the peak; one group, one and four a core. */
    size_t point_count;     /**< How many; 64 at most. Default 0. */
    const char *const *command; /**< Of a batch: a program (looked for in PATH) and its arguments,
                                     ended by NULL, that is run instead of the built-in jobs. Its
                                     input is empty, its output is thrown away, its TMPDIR is a
                                     folder that goes after the run, and it succeeds with exit
                                     status 0. Default NULL. */
    uint32_t jobs;           /**< Of a batch: how many, 1,000,000 at most. Default 0: 16 a core, 4 a
                                  core of a command. */
    uint32_t transports;     /**< Of messages: bits 1 << #lb_transport. Default 0: all. */
    double seconds;          /**< How long users and messages are counted, 0.05 to 3600. Default
                                  0.5. */
    double time_limit;       /**< Seconds that one run may take, 0.1 to 86400. Default 60. */
    uint64_t output_limit;   /**< Bytes that the commands of a run may write to standard output and
                                  error. Default 1048576. */
    double budget;           /**< Seconds that the whole call may take, 1 or more. Default 0: no
                                  limit. */
    uint64_t seed;           /**< Decides the order of the points after the first round. Default
                                  1. */
    lb_progress_fn progress; /**< Default NULL. */
    void *progress_user;     /**< Handed to `progress`. Default NULL. */
    uint64_t reserved;       /**< 0. */
} lb_throughput_options;

/** Fills in the defaults. @param options of `size` bytes @param size sizeof *options @since 0.1 */
void lb_throughput_options_init(lb_throughput_options *options, size_t size);

/** Measures how much work is done under a condition, in a form that lb_compare() takes; or under
 * several, in turn: each point is then run in blocks, forwards and backwards (A B B A, B A A B), so
 * that what changes slowly in the machine meets all alike. A row for each run, labelled by its
 * point
 * ("parallel 4", "maximal", "users 8", "pipes, groups 2"). Columns, of which each workload has its
 * own:
 * - jobs_per_minute (batch, users), messages_per_s (messages that were heard by a member);
 * - elapsed_s, system_s, user_s, cpu_percent (of one core): CPU times as the kernel accounts them
 * to the processes once they ended;
 * - job_mean_s, job_max_s (batch): from a job's start to its end;
 * - wake_p50_us, wake_p90_us, wake_p99_us, wake_max_us (messages): from the moment before a
 *   message is written to a process that waits for it to that in which it has read it;
 * - switches_per_s, and of these preemptions_per_s; migrations_per_s (NAN where the system refuses
 *   to count: see perf_event_paranoid); mean_slice_ms, CPU time a switch;
 * - idle_waiting_percent: of the time of the condition's cores, idle while another core had two
 *   processes and more ready to run; by looks every 50 ms or so;
 * - foreign_percent: CPU time of others, of the time of all the host's cores;
 * - block: the number of the block; NAN, if there is one condition only;
 * - valid: 0 of a run that something else disturbed. It stays in the table.
 *
 * The metadata say the whole condition: kernel and its build, host, cores, classes, competitors,
 * every setting of the scheduler that can be read (setting_...), sched_ext, file_system and
 * io_scheduler of the temporary folder, findings (finding_host_..., finding_run_...: the first of
 * each kind), runs, disturbed_runs and disturbed_by; of users also peak_jobs_per_minute and its
 * peak_deviation_percent, users_at_peak (the fewest within 2 % of the largest throughput),
 * largest_users, and slope_past_peak_percent, what throughput changes by, in percent of the peak's,
 * when users double.
 *
 * Temporary files are made in a folder of their own in $TMPDIR (/tmp). No process and no file
 * outlives the call, and the caller's other children, handlers, mask, affinity, class and
 * descriptors are as before. A command that leaves its process group is found where the kernel
 * lists children.
 * @param host NULL: this machine
 * @param conditions `n` of them, each NULL for the defaults; NULL: one, the defaults
 * @param n how many: 1 or more
 * @param options NULL: the defaults
 * @param ret_tables `n` results in the order of the conditions; the caller frees each with
 *        lb_table_free()
 * @param err may be NULL
 * @return #LB_ERR_INVALID; #LB_ERR_NOMEM; #LB_ERR_SYSTEM; #LB_ERR_PERMISSION: a class that this
 *         process may not have; #LB_ERR_UNSUPPORTED: a described host, a build without experiments;
 *         #LB_ERR_IO: no temporary folder; #LB_ERR_WORKER: a job or command failed;
 *         #LB_ERR_TIMEOUT: a run passed its time limit, or the call its budget; #LB_ERR_LIMIT: a
 *         command wrote too much; #LB_ERR_CANCELLED
 * @since 0.1 */
lb_status lb_experiment_throughput(const lb_host *host, const lb_condition *const *conditions,
                                   size_t n, const lb_throughput_options *options,
                                   lb_table **ret_tables, lb_error *err);

/** Runs #LB_EXPERIMENT_DETECT, adaptive, on a scheduler that is known: the calling thread stands in
 * for the kernel's balancing. Workers stay bound to one core each and are moved as the model says
 * (lb_sim_new()); or, as a single run queue would have it, as many run as there are cores, a time
 * slice of 20 ms each, while the others are stopped (SIGSTOP, SIGCONT). The trace looks like one of
 * a kernel that does so: what lb_classify() makes of it tells how far a verdict can be trusted on
 * this machine.
 * @param host NULL: this machine
 * @param model with as many cores as the host; speeds are without effect, and where immediate
 *        balancing has no rotation_time it is 0.1 s
 * @param queues #LB_QUEUES_PER_CORE; or #LB_QUEUES_SINGLE, of an immediate model
 * @param seed decides the model's random choices
 * @param options NULL: the defaults
 * @param ret_trace sealed; the caller frees it with lb_trace_free(). Its metadata say `emulated`.
 * @param err may be NULL
 * @return as lb_experiment_run(); #LB_ERR_UNSUPPORTED: a fixed design
 * @since 0.1 */
lb_status lb_experiment_emulate(const lb_host *host, const lb_model *model, lb_queues queues,
                                uint64_t seed, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err);

/** Tells whether verdicts can be trusted on this machine: emulates five schedulers
 * (lb_experiment_emulate()) and classifies what each does. A row for each ("none", "lazy",
 * "active", "immediate", "single queue"), with the columns
 * - right: 1 where it was detected as itself (queues not known are no error), else 0;
 * - policy, queues: the verdict, an #lb_policy and an #lb_queues;
 * - probability, queues_probability: of what is right;
 * - seconds: from the start to the verdict;
 * - foreign_percent: the CPU time that others used meanwhile; NAN: not known.
 *
 * @param host NULL: this machine
 * @param seed decides the schedulers' random choices
 * @param options NULL: the defaults; the budget is that of each of the five
 * @param ret_table the caller frees it with lb_table_free()
 * @param err may be NULL
 * @return as lb_experiment_emulate()
 * @since 0.1 */
lb_status lb_self_test(const lb_host *host, uint64_t seed, const lb_experiment_options *options,
                       lb_table **ret_table, lb_error *err);

/** The main job in one call: runs what it takes and classifies it. A run that something else than
 * the scheduler disturbed is repeated while the budget lasts; if all were, the verdict is unknown
 * and its reasons say what disturbed.
 * @param host NULL: this machine
 * @param options NULL: the defaults
 * @param ret_verdict the caller frees it with lb_verdict_free(); an unknown verdict is #LB_OK too
 * @param ret_trace NULL, or receives the trace, which the caller frees with lb_trace_free()
 * @param err may be NULL
 * @return as lb_experiment_run()
 * @since 0.1 */
lb_status lb_detect(const lb_host *host, const lb_experiment_options *options,
                    lb_verdict **ret_verdict, lb_trace **ret_trace, lb_error *err);

/** @} */

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
