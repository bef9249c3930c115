import type { FileFaults } from "./fault.ts";

const stories = ["test/e2e/flow/two-clusters.test.ts"];

/** Likely mistakes with clusters of EKS that ConfigMaps name: each lets a tenant use an identity that is not his, or hold on to one. */
export const otherClusterFaults: readonly FileFaults[] = [
  {
    file: "lib/aws/eks/eks-targets.ts",
    tests: stories,
    faults: [
      {
        what: "an unlisted cluster is accessed",
        find: "const entry = listed(tenant, arn);",
        replace: "const entry = listed(tenant, arn) ?? { role: undefined };",
      },
      {
        what: "Sluice's token is sent to the server that a tenant names",
        find: "const isWhole = account !== undefined && address !== undefined && ca !== undefined;",
        replace: "const isWhole = address !== undefined && ca !== undefined;",
      },
      {
        what: "Sluice's token is sent to a server with a tenant's CA",
        find: "if (account === undefined && !fingerprintsIn(ca).every((one) => known.has(one))) {",
        replace: "if (account !== undefined && !fingerprintsIn(ca).every((one) => known.has(one))) {",
      },
      {
        what: "EKS that does not answer is the object's fault",
        find: "if (passing.has(error.reason)) throw",
        replace: "if (!passing.has(error.reason)) throw",
      },
    ],
  },
  {
    file: "lib/flows/owner/sharing-target.ts",
    tests: ["test/unit/flows/owner/sharing-target.test.ts"],
    faults: [
      {
        what: "a cluster is connected although saved inventories show who shares it",
        find: "const saved = isDone(other) ? await",
        replace: "const saved = isDone(other) && all.length < 0 ? await",
      },
      {
        what: "old inventories count for a new spec",
        find: "const saved = isDone(other) ? await",
        replace: "const saved = all.length > 0 ? await",
      },
      {
        what: "a dead cluster is waited for in each run",
        find: "until.set(text, deps.clock.now() + forgetMs);",
        replace: "until.delete(text);",
      },
      {
        what: "a cluster that does not answer is taken for another one",
        find: "until.set(text, deps.clock.now() + forgetMs);\n      return true;",
        replace: "until.set(text, deps.clock.now() + forgetMs);\n      return orUnknown;",
      },
      {
        what: "a cluster that did not answer just now is taken for another one",
        find: "if (until.has(text)) return true;",
        replace: "if (until.has(text)) return orUnknown;",
      },
      {
        what: "an inventory under another name of our cluster is taken for one of another cluster",
        find: "if (ours(ctx).some((uid) => saved.includes(uid))) return true;",
        replace: "if (saved.length > 0) return ours(ctx).some((uid) => saved.includes(uid));",
      },
      {
        what: "a dead cluster is never tried again",
        find: "if (time <= deps.clock.now()) until.delete(text);",
        replace: "if (time <= 0) until.delete(text);",
      },
    ],
  },
  {
    file: "lib/flows/owner/config-map-target.ts",
    tests: stories,
    faults: [
      {
        what: "another account's cluster is accessed with the former connection",
        find: "version: JSON.stringify([resourceVersion, account?.name, account?.role]),",
        replace: "version: resourceVersion,",
      },
      {
        what: "a provider that Flux does not have is called one that Sluice does not support",
        find: "if (fluxOnlyProviders.has(provider)) {",
        replace: 'if (provider !== "aws") {',
      },
      {
        what: "an ARN that Flux refuses is refused with Sluice's own text",
        find: "if (!fluxArnPattern.test(arn)) {",
        replace: 'if (!fluxArnPattern.test(arn) && arn === "none") {',
      },
      {
        what: "a service account is used without the gate",
        find: "if (!gates.ObjectLevelWorkloadIdentity) {",
        replace: 'if (!gates.ObjectLevelWorkloadIdentity && name === "") {',
      },
      {
        what: "the account of the installation counts before the one that the ConfigMap names",
        find: 'const name = given === "" ? defaultKubeconfigAccount : given;',
        replace: "const name = defaultKubeconfigAccount;",
      },
    ],
  },
  ...[
    { file: "lib/flows/owner/config-map-target.ts", find: "id: `${cluster} ${uid}`,", replace: "id: uid," },
    {
      file: "lib/flows/owner/remote-target.ts",
      find: "const id = `${cluster} ${uid} ${found}`;",
      replace: "const id = `${uid} ${found}`;",
    },
  ].map(({ file, find, replace }) => ({
    file,
    tests: ["test/unit/flows/kustomization/remote-target.test.ts"],
    faults: [
      { what: `an object of another home cluster with the same uid has our connection: ${find}`, find, replace },
    ],
  })),
  {
    file: "lib/flows/kustomization/finalize-remote.ts",
    tests: stories,
    faults: [
      {
        what: "a long refusal leaves no room for how to give the objects up",
        find: "cutText(messageOf(error), maxMessageBytes / 2)",
        replace: "cutText(messageOf(error), maxMessageBytes)",
      },
    ],
  },
  {
    file: "lib/kube/remote-clusters.ts",
    tests: stories,
    faults: [
      {
        what: "a cluster that is no longer listed is accessed with the cached connection",
        find: "const describe = await eks(target);",
        replace:
          "const describe = kept.has(target.id) ? async (stop: AbortSignal) => (await eks(target))(stop) : await eks(target);",
      },
    ],
  },
  {
    file: "lib/kube/remote-clusters.ts",
    tests: ["test/unit/kube/remote-clusters.test.ts"],
    faults: [
      {
        what: "the address of an EKS cluster is cached forever",
        find: "if (known !== undefined && clock.monotonic() < known.freshUntil) return known.cluster;",
        replace: "if (known !== undefined) return known.cluster;",
      },
      {
        what: "each description ends the connection",
        find: "if (still === undefined || still.cluster.fallbackUid !== fallbackUid(config))",
        replace: "if (still === undefined || still.cluster.fallbackUid !== config.name)",
      },
    ],
  },
  {
    file: "functions/settings/allowed-targets.ts",
    tests: [
      "test/unit/functions/settings/allowed-targets.test.ts",
      "test/unit/functions/settings/installation.test.ts",
    ],
    faults: [
      {
        what: "a cluster with the same prefix counts as listed",
        find: "find((one) => one.arn === arn)",
        replace: "find((one) => arn.startsWith(one.arn))",
      },
      {
        what: "the order of a list decides which role is used",
        find: "new Set(targets.map((text) => partsOf(text).arn))",
        replace: "new Set(targets)",
      },
      {
        what: "a role of another account is used for a cluster",
        find: "(role === undefined || rolePattern.exec(role)?.[1] === account)",
        replace: "(role === undefined || rolePattern.test(role))",
      },
    ],
  },
];
