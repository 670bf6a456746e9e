# SPDX-License-Identifier: MIT
# Slurm on this machine alone, for tests: . "$RELA_SOURCE/tests/e2e/slurm/one_node.sh"
# Everything it writes is below one folder, and its daemons listen on ports of their own, so that it
# disturbs no other Slurm.
#
#   slurm_missing          why it cannot run here, on standard output; nothing if it can
#   slurm_install          installs Debian's packages, if they are missing
#   slurm_start FOLDER     starts munged, slurmctld and slurmd; sbatch, squeue, scancel then use them.
#                          slurm_cpus: processors to pretend, for more jobs at a time
#   slurm_wait JOB STATES  waits until the state of a job is one of STATES (a pattern of case)
#   slurm_stop             ends the daemons and what they have started

# shellcheck disable=SC2034 # used by those that read this file
slurm_packages='slurm-wlm munge'

slurm_missing() {
    if [ "$(id -u)" -ne 0 ]; then
        echo 'Slurm must be started by root'
    elif ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
        command -v apt-get >/dev/null || echo "no $slurm_packages here"
    fi
}

slurm_install() {
    command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null && return
    # Daemons that the packages would start have no configuration.
    (apt-get update -q && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get install -q -y --no-install-recommends $slurm_packages) >/dev/null 2>&1
}

# A port that nothing listens on, from this one upwards.
slurm_port() {
    port=$1
    while grep -q ":$(printf %04X "$port") " /proc/net/tcp /proc/net/tcp6 2>/dev/null; do port=$((port + 1)); done
    echo "$port"
}

slurm_start() {
    slurm_folder=$1
    mkdir -p "$slurm_folder/state" "$slurm_folder/spool" "$slurm_folder/munge"
    chmod 0755 "$slurm_folder" "$slurm_folder/munge"
    head -c 128 /dev/urandom >"$slurm_folder/munge/key"
    chmod 0400 "$slurm_folder/munge/key"
    munged --foreground --force --key-file="$slurm_folder/munge/key" --socket="$slurm_folder/munge/socket" \
        --pid-file="$slurm_folder/munge/pid" --log-file="$slurm_folder/munge/log" \
        --seed-file="$slurm_folder/munge/seed" >/dev/null 2>&1 &
    slurm_munged=$!
    host=$(hostname -s)
    from=$((7000 + $$ % 20000))
    control=$(slurm_port $from) node=$(slurm_port $((from + 1000)))
    cat >"$slurm_folder/slurm.conf" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm_folder/munge/socket
CredType=cred/munge
SlurmctldPort=$control
SlurmdPort=$node
StateSaveLocation=$slurm_folder/state
SlurmdSpoolDir=$slurm_folder/spool
SlurmctldPidFile=$slurm_folder/slurmctld.pid
SlurmdPidFile=$slurm_folder/slurmd.pid
SlurmctldLogFile=$slurm_folder/slurmctld.log
SlurmdLogFile=$slurm_folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=requeue_delay=1,sched_interval=1,sched_min_interval=0,bf_interval=1
JobRequeue=1
KillWait=30
OverTimeLimit=0
MinJobAge=3600
NodeName=$host NodeAddr=127.0.0.1 CPUs=${slurm_cpus:-$(nproc)} State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF="$slurm_folder/slurm.conf"
    slurm_until 20 test -S "$slurm_folder/munge/socket" || return 1
    slurmctld -D -c >"$slurm_folder/slurmctld.out" 2>&1 &
    slurm_control=$!
    slurmd -D -c >"$slurm_folder/slurmd.out" 2>&1 &
    slurm_node=$!
    slurm_until 40 slurm_is_idle
}

# slurm_until SECONDS COMMAND...: waits until it succeeds
slurm_until() {
    tries=$(($1 * 5))
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}

slurm_is_idle() {
    sinfo -h -o %T | grep -q '^idle'
}

slurm_state() {
    scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | tail -n 1
}

slurm_in_state() {
    # shellcheck disable=SC2254 # a pattern
    eval "case \$(slurm_state \"\$1\") in $2) return 0 ;; esac"
    return 1
}

slurm_wait() {
    slurm_until "${3:-120}" slurm_in_state "$1" "$2"
}

# What is left of jobs ends with the daemon of the node.
slurm_stop() {
    for job in $(squeue -h -o %A 2>/dev/null); do scancel "$job" 2>/dev/null || true; done
    for pid in ${slurm_node:-} ${slurm_control:-} ${slurm_munged:-}; do kill "$pid" 2>/dev/null || true; done
    for pid in ${slurm_node:-} ${slurm_control:-} ${slurm_munged:-}; do wait "$pid" 2>/dev/null || true; done
}
