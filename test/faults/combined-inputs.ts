import type { FileFaults } from "./fault.ts";

const flow = ["test/e2e/flow/embedded.test.ts"];
const twoClusters = ["test/e2e/flow/two-clusters.test.ts"];

/** Mistakes that one usual input does not show: they take two inputs at once, a neighbour whose name begins alike, or several runs. */
export const combinedInputFaults: readonly FileFaults[] = [
  {
    file: "lib/kube/kubeconfig.ts",
    tests: ["test/unit/kube/kubeconfig.test.ts"],
    faults: [
      {
        what: "a cluster is found by a context that another kubeconfig overrides",
        find: "files.toReversed().flatMap((file) => file.contexts",
        replace: "files.flatMap((file) => file.contexts",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/attempt.ts",
    tests: flow,
    faults: [
      {
        what: "a health check keeps the elapsed time after the spec was edited",
        find: "const isSame = wait?.revision === source.revision && wait.generation === ctx.generation;",
        replace: "const isSame = wait?.revision === source.revision;",
        named: "an edit of the spec restarts the timeout of the health check",
      },
      {
        what: "events about the end carry the reason of the wait",
        find: "const known = readCarriedState(run.carried).ending;",
        replace: "const known = undefined;",
        named: "WaitForTermination gives up after the timeout",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/finalize.ts",
    tests: flow,
    faults: [
      {
        what: "the back-off of a refused deletion never grows",
        find: "carried: { failures: carried.failures + 1, isFinalizing: true, ending: ending(ctx) },",
        replace: "carried: { failures: carried.failures, isFinalizing: true, ending: ending(ctx) },",
        named: "deleted while deletes are refused",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/finalize-remote.ts",
    tests: twoClusters,
    faults: [
      {
        what: "the back-off of a deletion whose cluster does not answer never grows",
        find: "      failures: carried.failures + 1,",
        replace: "      failures: carried.failures,",
        named: "waits while its Secret is missing",
      },
      {
        what: "after an outage a deletion does not restore Ready",
        find: "      ending: ending(ctx),\n",
        replace: "",
        named: "waits while its Secret is missing",
      },
      {
        what: "an outage restarts the wait for termination",
        find: "carried.isFinalizing && carried.wait !== undefined ? { wait: carried.wait } : {}",
        replace: "{}",
        named: "waits for finalizers there until its timeout",
      },
    ],
  },
  {
    file: "lib/flows/git-repository/includes.ts",
    tests: ["test/unit/flows/git-repository/include.test.ts"],
    faults: [
      {
        what: "a part of an include also takes siblings with the same prefix",
        find: "path.startsWith(`${from}/`)",
        replace: "path.startsWith(from)",
      },
    ],
  },
  {
    file: "lib/core/partitions.ts",
    tests: ["test/unit/functions/ingest/ingest.test.ts"],
    faults: [
      {
        what: "only the northern regions of China have its domain",
        find: 'regions: "cn-"',
        replace: 'regions: "cn-north-"',
      },
      {
        what: "a region of one isolated partition has the domain of another",
        find: 'regions: "us-iso-"',
        replace: 'regions: "us-iso"',
      },
    ],
  },
];
