// expect: blocked: calls that no program needs end the process, or fail
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const long calls[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
    SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_add_key, SYS_keyctl,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_sethostname, SYS_settimeofday,
    SYS_kcmp, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_fanotify_init, SYS_quotactl, SYS_acct, SYS_syslog,
    SYS_vhangup, SYS_mbind, SYS_move_pages, SYS_migrate_pages, SYS_shmget, SYS_msgget, SYS_semget, SYS_inotify_init1,
};

int main(void)
{
    write(1, "ran\n", 4);
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            errno = 0;
            long result = syscall(calls[i], 0, 0, 0, 0, 0, 0);
            _exit(result == -1 && (errno == EPERM || errno == ENOSYS || errno == EACCES) ? 0 : 1);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        if (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) != SIGSYS)
            printf("ESCAPED: call %ld was made\n", calls[i]);
    }
    puts("blocked");
    return 0;
}
