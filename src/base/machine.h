/* The process's environment: streams, threads, CPUs and signals. */
#ifndef MG_MACHINE_H
#define MG_MACHINE_H

/** Open descriptors 0, 1 and 2 on /dev/null if they are closed. Call it first in main().
 *
 *  Otherwise the next file or socket would get one of these numbers. Also records whether SIGHUP is
 *  ignored, before a library sets a handler. Exits with code 3 if /dev/null cannot be opened. */
void mg_machine_open_streams(void);

/** Number of threads of a parallel region; 1 without OpenMP. The first call runs one to count. */
int mg_machine_threads(void);

/** Model of this host's CPU, as Linux names it, or the kind of the machine: one line of printable
 *  ASCII. Static storage. */
const char *mg_machine_cpu(void);

/** mg_machine_cpu with /proc below the folder `root`. For tests. */
void mg_machine_cpu_in(const char *root, char *text, int text_size);

/** Make SIGHUP, SIGINT, SIGTERM and SIGPIPE end the run after the current cycle.
 *
 *  SIGHUP stays ignored if it was, for example under nohup. A second signal of the same kind, at
 *  least 0.1 s later, ends the run immediately. SIGPIPE is exempt from this. */
void mg_machine_catch_signals(void);

/** mg_machine_catch_signals for SIGPIPE alone. */
void mg_machine_catch_broken_pipes(void);

/** The last signal caught, 0 if none. */
int mg_machine_signal(void);

#endif
