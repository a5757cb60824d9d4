/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces in files: what a path may be, and what is left when something fails. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text.h"
#include "harness.h"

#define GOOD "# lbsched-trace: 1\n# cores: 2\ntask,unit,start_s,end_s,cpu_s,core_start,core_end\n"
#define OLD "what was there before, which is longer than nothing\n"

static char directory[64];
static char path_buffers[4][400];

/* The path of a name in the test's own directory; four of them are good at a time. */
static const char *at(const char *name) {
    static int next;
    char *path = path_buffers[next++ % 4];
    snprintf(path, sizeof path_buffers[0], "%s/%s", directory, name);
    return path;
}

static void enter(void) {
    strcpy(directory, "/tmp/lbsched-check-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    chmod(directory, 0755);
    umask(022);
}

/* Removes the directory; returns how many names were in it. */
static int leave(void) {
    int names = 0;
    DIR *opened = opendir(directory);
    ck_assert_ptr_nonnull(opened);
    for (struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        names++;
        unlink(at(entry->d_name));
    }
    closedir(opened);
    ck_assert_int_eq(rmdir(directory), 0);
    return names;
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static void assert_content(const char *path, const char *expected) {
    char text[4096];
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is not there", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(text, expected);
}

static struct stat status_of(const char *path) {
    struct stat status = {0};
    ck_assert_msg(lstat(path, &status) == 0, "%s is not there", path);
    return status;
}

/* The trace that is written as GOOD. */
static lb_trace *small_trace(void) {
    lb_trace *trace = NULL;
    ck_assert_int_eq(lb_trace_new(2, &trace, NULL), LB_OK);
    return trace;
}

/* One whose text is a good deal longer than a page. */
static lb_trace *long_trace(uint32_t units) {
    lb_trace *trace = small_trace();
    for (uint32_t i = 0; i < units; i++) {
        lb_unit unit = {i, i + 1, -1, 0, i, -1, -1};
        ck_assert_int_eq(lb_trace_add_unit(trace, &unit, NULL), LB_OK);
    }
    ck_assert_int_eq(lb_trace_seal(trace, NULL), LB_OK);
    return trace;
}

static lb_trace *large_trace(void) {
    return long_trace(2000);
}

static void save(const lb_trace *trace, const char *path) {
    lb_error err = {0};
    ASSERT_OK(lb_trace_save(trace, path, LB_TRACE_CSV, &err), err);
}

static void assert_says_why(const lb_error *err, int expected) {
    char words[96];
    lbi_strerror(expected, words, sizeof words);
    ck_assert_msg(err->os_errno == expected, "%s", err->message);
    ck_assert_ptr_nonnull(strstr(err->message, words));
}

static void assert_save_fails(const lb_trace *trace, const char *path, int expected) {
    lb_error err = {0};
    ASSERT_REFUSED(lb_trace_save(trace, path, LB_TRACE_CSV, &err), LB_ERR_IO, path, err);
    assert_says_why(&err, expected);
    ck_assert_int_eq(lb_trace_save(trace, path, LB_TRACE_CSV, NULL), LB_ERR_IO);
}

static void assert_load_fails(const char *path, int expected) {
    lb_error err = {0};
    lb_trace *trace = NULL;
    ASSERT_REFUSED(lb_trace_load(path, &trace, &err), LB_ERR_IO, path, err);
    assert_says_why(&err, expected);
    ck_assert_ptr_null(trace);
}

START_TEST(new_file_is_whole_and_alone) {
    enter();
    lb_trace *trace = small_trace();
    save(trace, at("new.csv"));
    assert_content(at("new.csv"), GOOD);
    ck_assert_int_eq(status_of(at("new.csv")).st_mode, S_IFREG | 0644); /* as the umask says */
    /* Relative paths, and in a directory that needs no slash. */
    char before[256];
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    ck_assert_int_eq(chdir(directory), 0);
    save(trace, "here.csv");
    save(trace, "./there.csv");
    ck_assert_int_eq(chdir(before), 0);
    assert_content(at("here.csv"), GOOD);
    lb_error err = {0};
    ASSERT_OK(lb_trace_save(trace, at("new.json"), LB_TRACE_CHROME_JSON, &err), err);
    assert_content(at("new.json"), "{\"traceEvents\":[\n],\"otherData\":{\"cores\":\"2\"}}\n");
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 4);
}
END_TEST

START_TEST(saved_is_loaded) {
    enter();
    lb_trace *trace = large_trace(), *back = NULL;
    lb_error err = {0};
    size_t n, m;
    save(trace, at("a.csv"));
    ASSERT_OK(lb_trace_load(at("a.csv"), &back, &err), err);
    const lb_unit *units = lb_trace_units(trace, &n), *others = lb_trace_units(back, &m);
    ck_assert_uint_eq(n, m);
    ck_assert_int_eq(memcmp(units, others, n * sizeof *units), 0);
    lb_trace_free(back);
    put(at("bad.csv"), "# lbsched-trace: 1\n# cores: none\n");
    ASSERT_REFUSED(lb_trace_load(at("bad.csv"), &back, &err), LB_ERR_FORMAT, "line 2: cores", err);
    put(at("empty.csv"), "");
    ASSERT_REFUSED(lb_trace_load(at("empty.csv"), &back, &err), LB_ERR_FORMAT,
                   "line 1: nothing is there", err);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 3);
}
END_TEST

/* The file of somebody else, and what becomes of it, kept for ever. */
START_TEST(golden_files_stay) {
    const char *const names[] = {"/tests/data/trace-foreign.csv", "/tests/data/trace-saved.csv"};
    enter();
    for (size_t i = 0; i < 2; i++) {
        char path[400], golden[4096];
        lb_trace *trace = NULL;
        lb_error err = {0};
        snprintf(path, sizeof path, "%s%s", SOURCE_ROOT, names[i]);
        ASSERT_OK(lb_trace_load(path, &trace, &err), err);
        save(trace, at("again.csv"));
        lb_trace_free(trace);
        snprintf(path, sizeof path, "%s%s", SOURCE_ROOT, names[1]);
        FILE *file = fopen(path, "r");
        ck_assert_ptr_nonnull(file);
        golden[fread(golden, 1, sizeof golden - 1, file)] = '\0';
        fclose(file);
        assert_content(at("again.csv"), golden);
    }
    ck_assert_int_eq(leave(), 1);
}
END_TEST

START_TEST(old_file_is_replaced_by_one_like_it) {
    enter();
    lb_trace *trace = small_trace();
    put(at("old.csv"), OLD);
    chmod(at("old.csv"), 0640);
    struct stat before = status_of(at("old.csv"));
    save(trace, at("old.csv"));
    assert_content(at("old.csv"), GOOD);
    struct stat after = status_of(at("old.csv"));
    ck_assert_int_eq(after.st_mode, S_IFREG | 0640);
    ck_assert(after.st_ino != before.st_ino); /* written beside, then renamed */
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(at("old.csv"), 12345, 54321), 0);
        save(trace, at("old.csv"));
        ck_assert_uint_eq(status_of(at("old.csv")).st_uid, 12345);
        ck_assert_uint_eq(status_of(at("old.csv")).st_gid, 54321);
    }
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 1);
}
END_TEST

START_TEST(full_device_is_told) {
    lb_trace *trace = small_trace();
    assert_save_fails(trace, "/dev/full", ENOSPC);
    enter();
    ck_assert_int_eq(symlink("/dev/full", at("link")), 0);
    assert_save_fails(trace, at("link"), ENOSPC);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 1);
}
END_TEST

/* A disk that is full after 4096 bytes, as far as this process is concerned. */
static void limit_file_size(rlim_t bytes) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(full_disk_leaves_what_was_there) {
    enter();
    lb_trace *trace = large_trace();
    put(at("old.csv"), OLD);
    ck_assert_int_eq(symlink("target.csv", at("link.csv")), 0);
    limit_file_size(4096);
    assert_save_fails(trace, at("new.csv"), EFBIG);
    assert_save_fails(trace, at("old.csv"), EFBIG);
    assert_save_fails(trace, at("link.csv"), EFBIG);
    limit_file_size(RLIM_INFINITY);
    assert_content(at("old.csv"), OLD);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 2); /* the old file and the link */
}
END_TEST

START_TEST(links_are_kept) {
    enter();
    lb_trace *trace = small_trace();
    put(at("a.csv"), OLD);
    ck_assert_int_eq(symlink("a.csv", at("link.csv")), 0);
    save(trace, at("link.csv"));
    ck_assert(S_ISLNK(status_of(at("link.csv")).st_mode));
    assert_content(at("a.csv"), GOOD);
    /* One that leads nowhere yet. */
    ck_assert_int_eq(symlink("b.csv", at("other.csv")), 0);
    save(trace, at("other.csv"));
    ck_assert(S_ISLNK(status_of(at("other.csv")).st_mode));
    assert_content(at("b.csv"), GOOD);
    /* Two names of one file. */
    put(at("c.csv"), OLD);
    ck_assert_int_eq(link(at("c.csv"), at("d.csv")), 0);
    save(trace, at("c.csv"));
    assert_content(at("d.csv"), GOOD);
    /* Links in a circle. */
    ck_assert_int_eq(symlink("e.csv", at("e.csv")), 0);
    assert_save_fails(trace, at("e.csv"), ELOOP);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 7);
}
END_TEST

START_TEST(open_descriptor_is_written_in_place) {
    /* What /dev/stdout leads to where the output was redirected to a file. */
    enter();
    lb_trace *trace = small_trace();
    put(at("out.csv"), OLD);
    ino_t before = status_of(at("out.csv")).st_ino;
    int fd = open(at("out.csv"), O_WRONLY);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    save(trace, path);
    close(fd);
    ck_assert_uint_eq(status_of(at("out.csv")).st_ino, before);
    assert_content(at("out.csv"), GOOD);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 1);
}
END_TEST

START_TEST(laid_out_links_are_not_followed) {
    enter();
    lb_trace *trace = small_trace();
    put(at("victim"), OLD);
    char name[64];
    snprintf(name, sizeof name, ".lbsched-%ld-0.tmp", (long)getpid());
    ck_assert_int_eq(symlink(at("victim"), at(name)), 0);
    save(trace, at("new.csv"));
    assert_content(at("victim"), OLD);
    assert_content(at("new.csv"), GOOD);
    ck_assert(S_ISREG(status_of(at("new.csv")).st_mode));
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 3);
}
END_TEST

START_TEST(paths_that_lead_nowhere_are_told) {
    enter();
    lb_trace *trace = small_trace();
    put(at("file"), OLD);
    assert_load_fails(at("missing.csv"), ENOENT);
    assert_load_fails(at("missing/a.csv"), ENOENT);
    assert_load_fails(at("file/a.csv"), ENOTDIR);
    assert_load_fails(directory, EISDIR);
    assert_load_fails("", ENOENT);
    assert_save_fails(trace, at("missing/a.csv"), ENOENT);
    assert_save_fails(trace, at("file/a.csv"), ENOTDIR);
    assert_save_fails(trace, directory, EISDIR);
    assert_save_fails(trace, "", ENOENT);
    char name[400];
    memset(name, 'x', 300);
    strcpy(name + 300, "");
    lb_error err = {0};
    ASSERT_REFUSED(lb_trace_save(trace, name, LB_TRACE_CSV, &err), LB_ERR_IO, "xxx", err);
    ck_assert_int_eq(err.os_errno, ENAMETOOLONG);
    /* The longest name that there may be, which leaves no room for another ending. */
    char longest[400];
    snprintf(longest, sizeof longest, "%s/%.255s", directory, name);
    save(trace, longest);
    assert_content(longest, GOOD);
    lb_trace_free(trace);
    unlink(longest);
    ck_assert_int_eq(leave(), 1);
}
END_TEST

/* ---- permissions: root has all of them, so somebody else is played ---- */

static bool become_nobody(void) {
    return geteuid() != 0 || seteuid(65534) == 0;
}

static void become_oneself(void) {
    ck_assert_int_eq(seteuid(getuid()), 0);
}

START_TEST(permissions_are_respected) {
    enter();
    lb_trace *trace = small_trace();
    put(at("secret"), OLD);
    put(at("common"), OLD);
    chmod(at("secret"), 0400);
    chmod(at("common"), 0666);
    if (geteuid() != 0) { /* one's own files: only what the modes forbid can be tried */
        chmod(at("secret"), 0000);
        assert_load_fails(at("secret"), EACCES);
        assert_save_fails(trace, at("secret"), EACCES);
        lb_trace_free(trace);
        ck_assert_int_eq(leave(), 2);
        return;
    }
    ck_assert(become_nobody());
    assert_load_fails(at("secret"), EACCES);
    assert_save_fails(trace, at("secret"), EACCES);
    assert_save_fails(trace, at("new.csv"), EACCES);
    save(trace, at("common")); /* the directory is not ours, the file is for all: in place */
    become_oneself();
    assert_content(at("secret"), OLD);
    assert_content(at("common"), GOOD);
    ck_assert_uint_eq(status_of(at("common")).st_uid, 0);
    /* A directory like /tmp: anybody may make files, nobody may replace those of others. */
    chmod(directory, 01777);
    put(at("common"), OLD);
    ck_assert(become_nobody());
    save(trace, at("common"));
    assert_save_fails(trace, at("secret"), EACCES);
    save(trace, at("own"));
    put(at("own read-only"), OLD);
    chmod(at("own read-only"), 0444);
    assert_save_fails(trace, at("own read-only"), EACCES);
    assert_content(at("own read-only"), OLD);
    become_oneself();
    assert_content(at("common"), GOOD);
    assert_content(at("secret"), OLD);
    ck_assert_uint_eq(status_of(at("common")).st_uid, 0);
    ck_assert_uint_eq(status_of(at("own")).st_uid, 65534);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 4);
}
END_TEST

/* ---- pipes, with signals that interrupt ---- */

static void on_alarm(int signal_number) {
    (void)signal_number;
}

static void storm(suseconds_t period_us) {
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, period_us}, {0, period_us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The other end of the pipe. Signals go to the thread that uses the library. */
typedef struct other_end {
    const char *path;
    char *text;
    size_t length, capacity;
    bool writes;
} other_end;

static void *run_other_end(void *argument) {
    other_end *end = argument;
    int fd = open(end->path, end->writes ? O_WRONLY : O_RDONLY);
    for (size_t done = 0; fd >= 0;) {
        usleep(300); /* so that the library has to wait, and gets a part at a time */
        size_t part = end->writes ? end->length - done : end->capacity - done;
        part = part < 3000 ? part : 3000;
        ssize_t n =
            end->writes ? write(fd, end->text + done, part) : read(fd, end->text + done, part);
        if (n <= 0)
            break;
        done += (size_t)n;
        if (!end->writes)
            end->length = done;
    }
    close(fd);
    return NULL;
}

static pthread_t start(other_end *end) {
    sigset_t alarm_set, before;
    pthread_t thread;
    sigemptyset(&alarm_set);
    sigaddset(&alarm_set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_set, &before);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_other_end, end), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}

START_TEST(pipes_are_read_and_written_through_signals) {
    enter();
    char path[400];
    strcpy(path, at("pipe"));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    lb_trace *trace = long_trace(10000), *back = NULL;
    size_t length, n;
    char *text;
    lb_error err = {0};
    ASSERT_OK(lb_trace_format(trace, LB_TRACE_CSV, &text, &length, &err), err);

    other_end reader = {.path = path, .text = malloc(1 << 20), .capacity = 1 << 20};
    pthread_t thread = start(&reader);
    storm(200);
    lb_status status = lb_trace_save(trace, path, LB_TRACE_CSV, &err);
    storm(0);
    pthread_join(thread, NULL);
    ASSERT_OK(status, err);
    ck_assert_uint_eq(reader.length, length);
    ck_assert_int_eq(memcmp(reader.text, text, length), 0);
    free(reader.text);

    other_end writer = {.path = path, .text = text, .length = length, .writes = true};
    thread = start(&writer);
    storm(200);
    status = lb_trace_load(path, &back, &err);
    storm(0);
    pthread_join(thread, NULL);
    ASSERT_OK(status, err);
    lb_trace_units(back, &n);
    ck_assert_uint_eq(n, 10000);
    lb_free(text);
    lb_trace_free(back);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 1);
}
END_TEST

START_TEST(unsealed_traces_make_no_file) {
    enter();
    lb_trace *trace = small_trace();
    lb_error err = {0};
    lb_unit unit = {0, 1, -1, 0, 0, -1, -1};
    ASSERT_REFUSED(lb_trace_save(trace, at("a"), (lb_trace_file)-1, &err), LB_ERR_INVALID,
                   "file is -1", err);
    ASSERT_OK(lb_trace_add_unit(trace, &unit, &err), err);
    ASSERT_REFUSED(lb_trace_save(trace, at("a"), LB_TRACE_CSV, &err), LB_ERR_INVALID, "not sealed",
                   err);
    lb_trace_free(trace);
    ck_assert_int_eq(leave(), 0);
}
END_TEST

static lb_status load_and_save(const char *from, const char *to) {
    lb_trace *trace = NULL;
    lb_status status = lb_trace_load(from, &trace, NULL);
    if (status == LB_OK)
        status = lb_trace_save(trace, to, LB_TRACE_CSV, NULL);
    if (status == LB_OK)
        status = lb_trace_save(trace, to, LB_TRACE_CHROME_JSON, NULL);
    lb_trace_free(trace);
    return status;
}

START_TEST(every_failed_allocation_is_survived) {
    enter();
    lb_trace *trace = large_trace();
    char from[400], to[400];
    strcpy(from, at("a.csv"));
    strcpy(to, at("b.csv"));
    save(trace, from);
    lb_trace_free(trace);
    size_t failures;
    lb_status status;
    SWEEP_ALLOCATIONS(status, failures, status = load_and_save(from, to));
    ck_assert_uint_gt(failures, 20);
    ck_assert_int_eq(leave(), 2);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("trace_file");
    ADD(s, "good", new_file_is_whole_and_alone, saved_is_loaded, golden_files_stay,
        old_file_is_replaced_by_one_like_it, links_are_kept, open_descriptor_is_written_in_place,
        pipes_are_read_and_written_through_signals);
    ADD(s, "bad", full_device_is_told, full_disk_leaves_what_was_there,
        laid_out_links_are_not_followed, paths_that_lead_nowhere_are_told,
        permissions_are_respected, unsealed_traces_make_no_file);
    ADD(s, "memory", every_failed_allocation_is_survived);
    return s;
}
