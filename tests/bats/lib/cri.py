#!/usr/bin/python3
"""A small client of the Kubernetes CRI (runtime.v1), enough to play kubelet in the tests.

    cri.py SOCKET Version
    cri.py SOCKET RunPodSandbox NAME HANDLER CGROUP-PARENT [host|dns=ADDRESS]   prints the pod's ID
    cri.py SOCKET ListPodSandbox                                    prints the IDs
    cri.py SOCKET CreateContainer POD NAME IMAGE [KEY=VALUE…] -- COMMAND…   annotations; prints the container's ID
    cri.py SOCKET StartContainer|RemoveContainer|StopPodSandbox|RemovePodSandbox ID
    cri.py SOCKET StopContainer ID [SECONDS]
    cri.py SOCKET ContainerStatus ID                                prints STATE EXIT-CODE
    cri.py SOCKET ExecSync ID COMMAND…                              output and exit code are the command's

Messages are written by field number, as in api.proto of k8s.io/cri-api; python3-grpcio carries them.
"""
import sys

import grpc

NODE_NETWORK = 2  # NamespaceMode.NODE
STATES = {0: "created", 1: "running", 2: "exited", 3: "unknown"}


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    """One field: int as varint, str, bytes or a nested list of fields by length; None is left out."""
    if value is None:
        return b""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, list):
        value = b"".join(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(fields)


def string_map(number, pairs):
    return b"".join(field(number, [field(1, k), field(2, v)]) for k, v in pairs.items())


def take_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Pairs of field number and value, of the two wire types that the CRI answers with."""
    at = 0
    while at < len(data):
        key, at = take_varint(data, at)
        value, at = take_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        elif key & 7 != 0:
            raise ValueError(f"wire type {key & 7} in an answer")
        yield key >> 3, value


def decode(data):
    """Field number to its last value."""
    return dict(fields(data))


class Cri:
    def __init__(self, socket):
        self.channel = grpc.insecure_channel(f"unix://{socket}", options=[("grpc.default_authority", "localhost")])

    def call(self, name, request=b""):
        return decode(self.call_raw(name, request))

    def call_raw(self, name, request=b""):
        method = self.channel.unary_unary(f"/runtime.v1.RuntimeService/{name}")
        return method(request, timeout=60)


def pod_config(name, cgroup_parent, network):
    host = network == "host"
    server = network.removeprefix("dns=") if network.startswith("dns=") else None
    network = [field(1, NODE_NETWORK)] if host else []
    return [
        field(1, [field(1, name), field(2, f"{name}-uid"), field(3, "default")]),
        *([field(4, [field(1, server)])] if server else []),
        field(8, [field(1, cgroup_parent), field(2, [field(1, network)])]),
    ]


def run_pod_sandbox(cri, name, handler, cgroup_parent, network=""):
    config = pod_config(name, cgroup_parent, network)
    return cri.call("RunPodSandbox", message(field(1, config), field(2, handler)))[1].decode()


def create_container(cri, pod, name, image, *rest):
    cut = rest.index("--")
    annotations = dict(pair.split("=", 1) for pair in rest[:cut])
    config = [
        field(1, [field(1, name)]),
        field(2, [field(1, image)]),
        *[field(3, word) for word in rest[cut + 1:]],
        string_map(10, annotations),
    ]
    sandbox = [field(1, [field(1, pod[:12]), field(2, pod), field(3, "default")])]
    request = message(field(1, pod), field(2, config), field(3, sandbox))
    return cri.call("CreateContainer", request)[1].decode()


def list_pod_sandboxes(cri):
    pods = [decode(value)[1].decode() for number, value in fields(cri.call_raw("ListPodSandbox")) if number == 1]
    return "\n".join(pods) if pods else None


def stop_container(cri, container, seconds="5"):
    cri.call("StopContainer", message(field(1, container), field(2, int(seconds))))


def container_status(cri, container):
    status = decode(cri.call("ContainerStatus", field(1, container))[1])
    return f"{STATES[status.get(3, 0)]} {status.get(7, 0)}"


def exec_sync(cri, container, *command):
    request = message(field(1, container), *[field(2, word) for word in command], field(3, 30))
    answer = cri.call("ExecSync", request)
    sys.stdout.buffer.write(answer.get(1, b""))
    sys.stderr.buffer.write(answer.get(2, b""))
    sys.stdout.flush()
    sys.exit(answer.get(3, 0))


def by_id(call):
    def run(cri, ident):
        cri.call(call, field(1, ident))
    return run


CALLS = {
    "Version": lambda cri: cri.call("Version", field(1, "v1"))[2].decode(),
    "RunPodSandbox": run_pod_sandbox,
    "ListPodSandbox": list_pod_sandboxes,
    "CreateContainer": create_container,
    "StopContainer": stop_container,
    "ContainerStatus": container_status,
    "ExecSync": exec_sync,
    **{name: by_id(name) for name in ("StartContainer", "RemoveContainer", "StopPodSandbox", "RemovePodSandbox")},
}


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in CALLS:
        sys.exit(__doc__)
    try:
        answer = CALLS[sys.argv[2]](Cri(sys.argv[1]), *sys.argv[3:])
    except grpc.RpcError as error:
        sys.exit(f"{sys.argv[2]}: {error.code().name}: {error.details()}")
    if answer is not None:
        print(answer)


if __name__ == "__main__":
    main()
