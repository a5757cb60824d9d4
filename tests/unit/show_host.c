/* SPDX-License-Identifier: BSD-3-Clause */
/* show_host XML ROOT: what lb_host_open() makes of a described machine, for machines.py. */
#include <stdio.h>

#include "lbsched/lbsched.h"

int main(int argc, char **argv) {
    lb_host_options options;
    lb_host *host;
    lb_error err;
    if (argc != 3)
        return 2;
    lb_host_options_init(&options, sizeof options);
    options.topology_xml = argv[1];
    options.root = argv[2];
    if (lb_host_open(&options, &host, &err) != LB_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("cores: %u\nphysical: %u\nquota: %g\nfirst: %u\n", lb_host_cores(host),
           lb_host_physical_cores(host), lb_host_quota(host), lb_host_cpu(host, 0));
    for (size_t i = 0; i < lb_host_finding_count(host); i++)
        printf("%s: %s\n", lb_finding_name(lb_host_finding_kind(host, i)),
               lb_host_finding(host, i));
    lb_host_free(host);
    return 0;
}
