/* scout: a runtime makes the network namespace of its container milliseconds before it calls our hook. Here
 * it is found by looking at the runtime's children, so that its rules are in place when the hook comes. What
 * is found is a guess until the hook has named the container's process. */
#pragma once

/* runtime: pidfd. Returns an fd of the one network namespace, other than ours, that children of it are in;
 * -1: there is none yet, or more than one. */
int st_scout_network(int runtime);
