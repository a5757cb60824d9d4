/* SPDX-License-Identifier: BSD-3-Clause */
/* The frozen structs, and where options structs stood in their first release, on 64-bit systems.
 *
 * If a line here fails, a program compiled against an older header breaks. For a frozen struct
 * there is no remedy but to take the change back (or to bump the soversion in meson.build, and this
 * file, with all others). An options struct may grow at its end only: leave its lines, add the new
 * field's, and never use padding. */
#include "lbsched/lbsched.h"

#include <stddef.h>

#define AT(type, field, offset)                                                                    \
    typedef char type##_##field##_moved[offsetof(type, field) == (offset) ? 1 : -1]
#define FROZEN(type, size) typedef char type##_has_another_size[sizeof(type) == (size) ? 1 : -1]
#define AT_LEAST(type, size) typedef char type##_shrank[sizeof(type) >= (size) ? 1 : -1]
#define VALUE(name, value) typedef char name##_has_another_value[(name) == (value) ? 1 : -1]

FROZEN(lb_error, 256);
AT(lb_error, status, 0);
AT(lb_error, os_errno, 4);
AT(lb_error, message, 8);

FROZEN(lb_duration, 64);
AT(lb_duration, mean, 0);
AT(lb_duration, stddev, 8);
AT(lb_duration, min, 16);
AT(lb_duration, max, 24);
AT(lb_duration, standard_error, 32);
AT(lb_duration, completion, 40);
AT(lb_duration, samples, 48);
AT(lb_duration, exact, 56);
AT(lb_duration, reserved, 60);

FROZEN(lb_unit, 40);
AT(lb_unit, start_ns, 0);
AT(lb_unit, end_ns, 8);
AT(lb_unit, cpu_ns, 16);
AT(lb_unit, task, 24);
AT(lb_unit, index, 28);
AT(lb_unit, core_start, 32);
AT(lb_unit, core_end, 36);

FROZEN(lb_slice, 24);
AT(lb_slice, start_ns, 0);
AT(lb_slice, end_ns, 8);
AT(lb_slice, task, 16);
AT(lb_slice, core, 20);

FROZEN(lb_mark, 16);
AT(lb_mark, time_ns, 0);
AT(lb_mark, task, 8);
AT(lb_mark, kind, 12);

FROZEN(lb_sim_event, 40);
AT(lb_sim_event, time, 0);
AT(lb_sim_event, id, 8);
AT(lb_sim_event, tag, 16);
AT(lb_sim_event, kind, 24);
AT(lb_sim_event, from, 28);
AT(lb_sim_event, to, 32);
AT(lb_sim_event, reserved, 36);

VALUE(LB_OK, 0);
VALUE(LB_ERR_INVALID, -1);
VALUE(LB_ERR_NOMEM, -2);
VALUE(LB_ERR_SYSTEM, -3);
VALUE(LB_ERR_PERMISSION, -4);
VALUE(LB_ERR_UNSUPPORTED, -5);
VALUE(LB_ERR_FORMAT, -6);
VALUE(LB_ERR_IO, -7);
VALUE(LB_ERR_LIMIT, -8);
VALUE(LB_ERR_CANCELLED, -9);
VALUE(LB_ERR_TIMEOUT, -10);
VALUE(LB_ERR_WORKER, -11);
VALUE(LB_POLICY_UNKNOWN, 0);
VALUE(LB_POLICY_NONE, 1);
VALUE(LB_POLICY_LAZY, 2);
VALUE(LB_POLICY_ACTIVE, 3);
VALUE(LB_POLICY_IMMEDIATE, 4);
VALUE(LB_LIST_RANDOM, 0);
VALUE(LB_LIST_LONGEST, 1);
VALUE(LB_PROCESS_RANDOM, 0);
VALUE(LB_PROCESS_FIRST, 1);
VALUE(LB_PROCESS_LAST, 2);
VALUE(LB_EVENT_STOP, 0);
VALUE(LB_EVENT_SLEEP, 1);
VALUE(LB_EVENT_WAKE, 2);
VALUE(LB_METHOD_AUTO, 0);
VALUE(LB_METHOD_EXACT, 1);
VALUE(LB_METHOD_SAMPLE, 2);
VALUE(LB_SIM_COMPLETED, 0);
VALUE(LB_SIM_MIGRATED, 1);
VALUE(LB_CORE_ANY, UINT32_MAX);
VALUE(LB_MAKESPAN, SIZE_MAX);
VALUE(LB_TASK_MAX, 1048575u);
VALUE(LB_FORMAT_TEXT, 0);
VALUE(LB_FORMAT_JSON, 1);
VALUE(LB_FORMAT_CSV, 2);
VALUE(LB_TRACE_CSV, 0);
VALUE(LB_TRACE_CHROME_JSON, 1);
VALUE(LB_QUEUES_UNKNOWN, 0);
VALUE(LB_QUEUES_PER_CORE, 1);
VALUE(LB_QUEUES_SINGLE, 2);
VALUE(LB_QUEUES_GROUPED, 3);
VALUE(LB_MARK_PIN, 0);
VALUE(LB_MARK_UNPIN, 1);
VALUE(LB_MARK_SLEEP, 2);
VALUE(LB_MARK_WAKE, 3);
VALUE(LB_MARK_FORK, 4);
VALUE(LB_MARK_END, 5);
VALUE(LB_EXPERIMENT_EVEN, 0);
VALUE(LB_EXPERIMENT_DETECT, 1);
VALUE(LB_FINDING_NONE, 0);
VALUE(LB_FINDING_QUOTA, 1);
VALUE(LB_FINDING_THROTTLED, 2);
VALUE(LB_FINDING_LOAD, 3);
VALUE(LB_FINDING_AUTOGROUP, 4);
VALUE(LB_FINDING_STEAL, 5);
VALUE(LB_FINDING_FREQUENCY, 6);
VALUE(LB_FINDING_SMT, 7);
VALUE(LB_FINDING_CORE_KINDS, 8);
VALUE(LB_FINDING_SPEEDS, 9);
VALUE(LB_FINDING_DRIFT, 10);
VALUE(LB_FINDING_ISOLATED, 11);
VALUE(LB_FINDING_UNBALANCED, 12);
VALUE(LB_FINDING_PARTIAL_DOMAIN, 13);
VALUE(LB_FINDING_OFFLINE, 14);
VALUE(LB_FINDING_SPARSE, 15);
VALUE(LB_FINDING_MANY_CPUS, 16);
VALUE(LB_FINDING_REAL_TIME, 17);
VALUE(LB_FINDING_HOTPLUG, 18);
VALUE(LB_FINDING_UNMEASURED, 19);
VALUE(LB_EXPERIMENT_QUEUES, 2);
VALUE(LB_EXPERIMENT_PROFILE, 3);
VALUE(LB_EXPERIMENT_LATENCY, 4);
VALUE(LB_EXPERIMENT_EVENTS, 5);
VALUE(LB_DETECT_ADAPTIVE, 0);
VALUE(LB_DETECT_FIXED, 1);

VALUE(LB_THROUGHPUT_BATCH, 0);
VALUE(LB_THROUGHPUT_USERS, 1);
VALUE(LB_THROUGHPUT_MESSAGES, 2);
VALUE(LB_TRANSPORT_SOCKETS, 0);
VALUE(LB_TRANSPORT_PIPES, 1);
VALUE(LB_TRANSPORT_TCP, 2);
VALUE(LB_WORKERS_PROCESSES, 0);
VALUE(LB_WORKERS_THREADS, 1);
VALUE(LB_SCHEDULING_INHERIT, 0);
VALUE(LB_SCHEDULING_OTHER, 1);
VALUE(LB_SCHEDULING_BATCH, 2);
VALUE(LB_SCHEDULING_IDLE, 3);
VALUE(LB_SCHEDULING_RR, 4);
VALUE(LB_SCHEDULING_FIFO, 5);

#if UINTPTR_MAX == 0xffffffffffffffff
AT_LEAST(lb_model_options, 48);
AT(lb_model_options, size, 0);
AT(lb_model_options, cores, 8);
AT(lb_model_options, policy, 12);
AT(lb_model_options, balance_delay, 16);
AT(lb_model_options, rotation_time, 24);
AT(lb_model_options, core_speeds, 32);
AT(lb_model_options, list_choice, 40);
AT(lb_model_options, process_choice, 44);
AT(lb_model_options, group_cores, 48);

AT_LEAST(lb_weights_options, 72);
AT(lb_weights_options, levels, 8);
AT(lb_weights_options, level_count, 16);
AT(lb_weights_options, normal_tasks, 24);
AT(lb_weights_options, groups, 28);
AT(lb_weights_options, group_cores, 32);
AT(lb_weights_options, repeats, 36);
AT(lb_weights_options, seconds, 40);
AT(lb_weights_options, seed, 48);
AT(lb_weights_options, progress, 56);
AT(lb_weights_options, progress_user, 64);
AT_LEAST(lb_estimate_options, 72);
AT(lb_estimate_options, samples, 8);
AT(lb_estimate_options, max_samples, 16);
AT(lb_estimate_options, first_sample, 24);
AT(lb_estimate_options, relative_error, 32);
AT(lb_estimate_options, seed, 40);
AT(lb_estimate_options, progress, 48);
AT(lb_estimate_options, progress_user, 56);
AT(lb_estimate_options, method, 64);
AT(lb_estimate_options, threads, 68);

AT_LEAST(lb_import_options, 32);
AT(lb_import_options, form, 8);
AT(lb_import_options, cores, 12);
AT(lb_import_options, unit_work, 16);
AT(lb_import_options, comm, 24);
AT_LEAST(lb_compare_options, 32);
AT(lb_compare_options, metric, 8);
AT(lb_compare_options, confidence, 16);
AT(lb_compare_options, smallest_effect, 24);
AT_LEAST(lb_classify_options, 16);
AT(lb_classify_options, confidence, 8);

AT_LEAST(lb_host_options, 32);
AT(lb_host_options, topology_xml, 8);
AT(lb_host_options, synthetic, 16);
AT(lb_host_options, root, 24);

AT_LEAST(lb_experiment_options, 48);
AT(lb_experiment_options, tasks_per_core, 8);
AT(lb_experiment_options, reserved, 12);
AT(lb_experiment_options, unit_work, 16);
AT(lb_experiment_options, budget, 24);
AT(lb_experiment_options, progress, 32);
AT(lb_experiment_options, progress_user, 40);
AT(lb_experiment_options, confidence, 48);
AT(lb_experiment_options, design, 56);
AT(lb_experiment_options, workers, 60);
AT(lb_experiment_options, scheduling, 64);
AT(lb_experiment_options, nice, 68);
AT(lb_experiment_options, priority, 72);
AT(lb_experiment_options, reserved2, 76);
AT(lb_experiment_options, partial, 80);

AT_LEAST(lb_condition, 64);
AT(lb_condition, name, 8);
AT(lb_condition, cores, 16);
AT(lb_condition, core_count, 24);
AT(lb_condition, scheduling, 32);
AT(lb_condition, nice, 36);
AT(lb_condition, priority, 40);
AT(lb_condition, competitors, 44);
AT(lb_condition, competitor_scheduling, 48);
AT(lb_condition, competitor_nice, 52);
AT(lb_condition, reserved, 56);

AT_LEAST(lb_throughput_options, 112);
AT(lb_throughput_options, workload, 8);
AT(lb_throughput_options, repeats, 12);
AT(lb_throughput_options, points, 16);
AT(lb_throughput_options, point_count, 24);
AT(lb_throughput_options, command, 32);
AT(lb_throughput_options, jobs, 40);
AT(lb_throughput_options, transports, 44);
AT(lb_throughput_options, seconds, 48);
AT(lb_throughput_options, time_limit, 56);
AT(lb_throughput_options, output_limit, 64);
AT(lb_throughput_options, budget, 72);
AT(lb_throughput_options, seed, 80);
AT(lb_throughput_options, progress, 88);
AT(lb_throughput_options, progress_user, 96);
AT(lb_throughput_options, reserved, 104);
#endif

int main(void) {
    return 0;
}
