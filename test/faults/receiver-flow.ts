import type { FileFaults } from "./fault.ts";

const flow = ["receiver-flow", "receiver-token-and-spec", "selected-resources"].map(
  (name) => `test/unit/flows/receiver/${name}.test.ts`,
);
const filters = "test/unit/receiver/filters.test.ts";

/** Mistakes in the flow of Receiver. */
export const receiverFlowFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/receiver/receiver-flow.ts",
    tests: flow,
    faults: [
      {
        what: "the finalizers of others are removed",
        find: "finalizers.filter((one) => one !== finalizer)",
        replace: "finalizers.filter((one) => !one.endsWith(finalizer))",
        tests: flow,
      },
      {
        what: "the finalizers of others are replaced",
        find: "(finalizers) => [...finalizers, finalizer]",
        replace: "() => [finalizer]",
        tests: flow,
      },
      {
        what: "the wait after failures does not grow beyond the second",
        find: "carried: { failures: failures + 1 },",
        replace: "carried: { failures: Math.min(failures + 1, 1) },",
        tests: flow,
      },
      {
        what: "the entry stays when the token is gone",
        find: 'if (reason === "TokenNotFound") await deps.receivers.remove(run.fence, run.signal);\n  else',
        replace: "",
      },
      {
        what: "the entry stays when the Receiver is deleted",
        find: "  await receivers.remove(fence, signal);\n",
        replace: "",
      },
      {
        what: "a new spec that fails in the same way is not reported",
        find: "if (!isShown || isChanged) {",
        replace: "if (!isShown) {",
      },
      {
        what: "a Receiver that was ready is deleted without an event",
        find: "if (success && isReady(before)) await ctx.record(finished(spec));",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/receiver/receiver-status.ts",
    tests: flow,
    faults: [
      {
        what: "a Receiver that is ready stays stalled",
        find: 'removeConditions(status, ["Reconciling", "Stalled"])',
        replace: 'removeConditions(status, ["Reconciling"])',
        tests: flow,
      },
      {
        what: "a Receiver that fails stays stalled",
        find: `removeConditions(status, ["Stalled"]),
    [retrying`,
        replace: `removeConditions(status, []),
    [retrying`,
        tests: flow,
      },
      {
        what: "a Receiver that is stalled is still tried again",
        find: `removeConditions(status, ["Reconciling"]),
    [
      { type: "Stalled"`,
        replace: `removeConditions(status, []),
    [
      { type: "Stalled"`,
        tests: flow,
      },
      {
        what: "a failed Receiver is suspended without an update of its status",
        find: "return isRetried ? setConditions(status, [retrying], now) : status;",
        replace: "return status;",
      },
    ],
  },
  {
    file: "lib/flows/receiver/check-spec.ts",
    tests: [filters],
    faults: [
      {
        what: "the name of an entry is not quoted",
        find: "name=${JSON.stringify(name)})`",
        replace: 'name="${name}")`',
      },
    ],
  },
  {
    file: "lib/api/receiver.ts",
    tests: flow,
    faults: [
      {
        what: "a Receiver has to select something",
        find: "z.array(ReceiverResource).describe(",
        replace: "z.array(ReceiverResource).min(1).describe(",
      },
      {
        what: "an empty list of providers counts as set",
        find: 'oidcProviders = [] }) => type === "generic-oidc" || oidcProviders.length === 0,',
        replace: 'oidcProviders }) => type === "generic-oidc" || oidcProviders === undefined,',
      },
    ],
  },
  {
    file: "lib/definitions/custom-resource-definition.ts",
    tests: ["test/unit/infra/crds.test.ts"],
    faults: [
      {
        what: "missing fields are named in the order of the schema",
        find: "jsonSchema.required?.sort();",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/receiver/select-resources.ts",
    tests: flow,
    faults: [
      {
        what: "kinds of two groups are one",
        find: "return `${group}/${kind}/${namespace}`;",
        replace: "return `${group.slice(0, 0)}${kind}/${namespace}`;",
        tests: flow,
      },
      {
        what: "an ArtifactGenerator gets the version of the sources",
        find: '"source.extensions.fluxcd.io/v1beta1"',
        replace: '"source.extensions.fluxcd.io/v1"',
        tests: flow,
      },
      {
        what: "filters do not see the owners of an object",
        find: "creationTimestamp, finalizers, ownerReferences },",
        replace: "creationTimestamp, finalizers },",
        tests: flow,
      },
      {
        what: "only the last entry of a kind is followed",
        find: "[...(found.get(pool) ?? []), name",
        replace: "[name",
        tests: flow,
      },
      {
        what: "a Receiver selects in its own namespace alone",
        find: "const { kind, name, namespace = own, matchLabels } = resource;",
        replace: `const { kind, name, matchLabels } = resource;
  const namespace = noCrossNamespaceRefs ? (resource.namespace ?? own) : own;`,
        tests: ["test/unit/receiver/deliveries.test.ts"],
      },
      {
        what: "every version of a kind that is reconciled is served",
        find: "if (!reconciled.versions.includes(pool.version)) return",
        replace: "if (pool.version === undefined) return",
      },
      {
        what: "all of apiVersion counts",
        find: '.split("/", 2).join("/")',
        replace: "",
      },
      {
        what: "one label of several is enough",
        find: "Object.entries(wanted).every(",
        replace: "Object.entries(wanted).some(",
      },
      {
        what: "another namespace is always allowed",
        find: "if (noCrossNamespaceRefs && namespace !== own)",
        replace: "if (noCrossNamespaceRefs && namespace === own)",
      },
    ],
  },
  {
    file: "lib/flows/run-context.ts",
    tests: flow,
    faults: [
      {
        what: "only the first request is copied to the status",
        find: "publish(requestedAt === undefined ? next",
        replace: "publish(requestedAt === undefined || before.lastHandledReconcileAt !== undefined ? next",
      },
    ],
  },
  {
    file: "lib/flows/receiver/index-entry.ts",
    tests: ["test/unit/flows/receiver/oidc-rules.test.ts"],
    faults: [
      {
        what: "a suspended Receiver does not follow its Secret",
        find: '...(secret === undefined ? [] : [configTopic({ cluster, kind: "Secret", namespace, name: secret })]),',
        replace:
          '...(secret === undefined || state !== "ready" ? [] : [configTopic({ cluster, kind: "Secret", namespace, name: secret })]),',
        tests: flow,
      },
      {
        what: "only the first provider of tokens is kept",
        find: "oidcProviders: spec.oidcProviders.map(toJsonObject)",
        replace: "oidcProviders: spec.oidcProviders.slice(0, 1).map(toJsonObject)",
      },
    ],
  },
];
