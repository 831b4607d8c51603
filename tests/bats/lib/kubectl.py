#!/usr/bin/python3
"""Stands in for kubectl, with a cluster of one node: manifests become calls to the CRI of the suite's containerd.

    kubectl.py apply|delete -f FILE
    kubectl.py wait … pod/NAME           until its container has ended
    kubectl.py logs NAME
    kubectl.py … rollout status …        nothing to wait for: apply has waited

A DaemonSet is run as its one container would be: the program from the tree that stands in for its image
(KUBE_IMAGES/NAME), on this machine. KUBE_STATE: what was applied. CRI_SOCKET, CRI_CGROUP: as for cri.py.
"""
import json
import os
import subprocess
import sys
import time

import grpc
import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cri import Cri, container_status, field, message, string_map  # noqa: E402

STATE = os.environ.get("KUBE_STATE", "")


def path(kind, name):
    os.makedirs(f"{STATE}/{kind}", exist_ok=True)
    return f"{STATE}/{kind}/{name}"


def load(kind, name):
    try:
        with open(path(kind, name), encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        sys.exit(f'Error from server (NotFound): {kind} "{name}" not found')


def save(kind, name, value):
    with open(path(kind, name), "w", encoding="utf-8") as f:
        json.dump(value, f)


def cri():
    return Cri(os.environ["CRI_SOCKET"])


def full_name(image):
    return image if "/" in image else f"docker.io/library/{image}"


def pod_config(manifest):
    """PodSandboxConfig: metadata, log_directory, annotations, linux."""
    name = manifest["metadata"]["name"]
    return [
        field(1, [field(1, name), field(2, f"{name}-uid"), field(3, "default")]),
        field(3, path("logs", name)),
        string_map(7, manifest["metadata"].get("annotations", {})),
        field(8, [field(1, os.environ["CRI_CGROUP"])]),
    ]


def mounts(spec, container):
    """Volumes: only empty directories."""
    names = {volume["name"] for volume in spec.get("volumes", []) if "emptyDir" in volume}
    for mount in container.get("volumeMounts", []):
        assert mount["name"] in names, mount
        directory = path("volumes", mount["name"])
        os.makedirs(directory, exist_ok=True)
        yield field(7, [field(1, mount["mountPath"]), field(2, directory)])


def security(container):
    """LinuxContainerSecurityContext: capabilities, no_new_privs."""
    context = container.get("securityContext", {})
    drop = [field(2, name) for name in context.get("capabilities", {}).get("drop", [])]
    fresh = int(context.get("allowPrivilegeEscalation") is False)
    return field(15, [field(2, [field(1, drop), field(11, fresh)])])


def apply_pod(manifest):
    name, spec = manifest["metadata"]["name"], manifest["spec"]
    handler = load("runtimeclass", spec["runtimeClassName"])["handler"] if "runtimeClassName" in spec else ""
    config, runtime, (container,) = pod_config(manifest), cri(), spec["containers"]
    os.makedirs(path("logs", name), exist_ok=True)
    pod = runtime.call("RunPodSandbox", message(field(1, config), field(2, handler)))[1].decode()
    save("pod", name, {"pod": pod})
    wanted = [
        field(1, [field(1, container["name"])]),
        field(2, [field(1, full_name(container["image"]))]),
        *[field(3, word) for word in container["command"]],
        field(5, container.get("workingDir")),
        *mounts(spec, container),
        field(11, "0.log"),
        security(container),
    ]
    request = message(field(1, pod), field(2, wanted), field(3, config))
    ident = runtime.call("CreateContainer", request)[1].decode()
    save("pod", name, {"pod": pod, "container": ident})
    runtime.call("StartContainer", field(1, ident))


def apply_daemonset(manifest):
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    tree = f"{os.environ['KUBE_IMAGES']}/{container['image'].rsplit('/')[-1].split(':')[0]}"
    variables = {item["name"]: item["value"] for item in container.get("env", [])}
    command = [tree + container["command"][0], *container["command"][1:], *container["args"]]
    subprocess.run(command, check=True, env={**os.environ, **variables, "HOST": "", "ONCE": "1", "READY_FILE": path("ready", "installer")})


def apply(manifest):
    kind, name = manifest["kind"].lower(), manifest["metadata"]["name"]
    if kind == "pod":
        apply_pod(manifest)
    elif kind == "daemonset":
        apply_daemonset(manifest)
    else:
        save(kind, name, manifest)
    print(f"{kind}/{name} created")


def delete(manifest):
    kind, name = manifest["kind"].lower(), manifest["metadata"]["name"]
    if kind == "pod":
        pod = load("pod", name)["pod"]
        cri().call("StopPodSandbox", field(1, pod))
        cri().call("RemovePodSandbox", field(1, pod))
    os.unlink(path(kind, name))
    print(f'{kind} "{name}" deleted')


def wait(name):
    ident = load("pod", name)["container"]
    while not container_status(cri(), ident).startswith("exited"):
        time.sleep(0.1)
    state = container_status(cri(), ident)
    if state != "exited 0":
        sys.exit(f"pod/{name}: {state}")
    print(f"pod/{name} condition met")


def logs(name):
    with open(f"{path('logs', name)}/0.log", encoding="utf-8") as f:
        for line in f:
            sys.stdout.write(line.split(" ", 3)[3])


def main():
    words = sys.argv[1:]
    if len(words) == 3 and words[0] in ("apply", "delete") and words[1] == "-f":
        with open(words[2], encoding="utf-8") as f:
            for manifest in yaml.safe_load_all(f):
                (apply if words[0] == "apply" else delete)(manifest)
    elif words[:1] == ["wait"] and any(word.startswith("pod/") for word in words):
        wait(next(word for word in words if word.startswith("pod/")).removeprefix("pod/"))
    elif words[:1] == ["logs"]:
        logs(words[1])
    elif "rollout" not in words:
        sys.exit(__doc__)


try:
    main()
except grpc.RpcError as error:
    sys.exit(f"Error from the node: {error.code().name}: {error.details()}")
