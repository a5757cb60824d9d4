/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the machine was away and did not say so: a host that takes a virtual CPU, or interrupts
 * that last, appear in no counter. A thread on each core, of a class before all that is tested,
 * looks how much later than asked for it is woken. */
#ifndef TESTS_METER_H
#define TESTS_METER_H

/* Begins with the first call. Needs the right to a real-time class; without it nothing is found. */
void meter_begin(void);

/* Seconds of the cores, all of them together, that were away so far. */
double meter_away(void);

/* The part of the cores' time, from 0 to 1, that was away since `away` and `time` (seconds of
 * CLOCK_MONOTONIC) were noted. */
double meter_since(double away, double time);

#endif
