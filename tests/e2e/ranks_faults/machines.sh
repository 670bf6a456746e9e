# SPDX-License-Identifier: MIT
# Functions of scripts that need two machines with a network between them: two network namespaces of this one, and a link whose speed
# can be set. Wants root, iproute2 and Open MPI. $RELA is the program.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 RELA MACHINES="rela-$$"
machines_net=10.77.0

# make_machines: prints why and returns 1 if this system has no network namespaces for us.
make_machines() {
    for tool in ip tc mpirun unshare; do
        command -v $tool >/dev/null || { echo "no $tool"; return 1; }
    done
    ip netns add $MACHINES-1 2>/dev/null && ip netns add $MACHINES-2 || { echo "no right to make network namespaces"; return 1; }
    ip link add link-1 netns $MACHINES-1 type veth peer name link-2 netns $MACHINES-2
    for i in 1 2; do
        ip -n $MACHINES-$i addr add $machines_net.$i/24 dev link-$i
        ip -n $MACHINES-$i link set lo up
        ip -n $MACHINES-$i link set link-$i up
    done
    # What mpirun calls instead of ssh: HOST COMMAND...
    cat >machine-agent <<'END'
#!/bin/sh
i=${1##*.}
shift
exec ip netns exec "$MACHINES-$i" unshare --uts sh -c "hostname machine-$i; $*"
END
    chmod +x machine-agent
}

remove_machines() {
    ip netns delete $MACHINES-1 2>/dev/null || :
    ip netns delete $MACHINES-2 2>/dev/null || :
}

# shape_link GBPS: both directions
shape_link() {
    rate=$(echo "$1" | awk '{ printf "%d", $1 * 1000 }')
    for i in 1 2; do
        tc -n $MACHINES-$i qdisc replace dev link-$i root tbf rate "${rate}mbit" burst 256kb latency 50ms
    done
}

# on_machines COMMAND...: as rank 0 on the first and rank 1 on the second
on_machines() {
    ./machine-agent x.1 mpirun --host $machines_net.1:1,$machines_net.2:1 -n 2 --bind-to none -x RELA -x RELA_MPI_TIMEOUT \
        --mca plm_rsh_agent "$PWD/machine-agent" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include $machines_net.0/24 \
        --mca oob_tcp_if_include $machines_net.0/24 --wdir "$PWD" "$@"
}
