/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of somebody who knows nothing but the installed header and lbsched.pc. */
#include <lbsched/lbsched.h>
#include <stdio.h>

int main(void) {
    const double works[] = {1, 2, 3, 4, 5, 6};
    lb_duration durations[6];
    lb_model *model = NULL;
    lb_workload *workload = NULL;
    lb_error err;
    if (lb_model_preset("linux-2.6.31", 2, &model, &err) != LB_OK ||
        lb_workload_new(&workload, &err) != LB_OK ||
        lb_workload_add_many(workload, works, 6, NULL, &err) != LB_OK ||
        lb_model_durations(model, workload, NULL, durations, &err) != LB_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (int i = 0; i < 6; i++)
        printf("%g%s", durations[i].mean, i < 5 ? " " : "\n");
    lb_workload_free(workload);
    lb_model_free(model);
    return 0;
}
