import type { FileFaults } from "./fault.ts";

export const gateFaults: readonly FileFaults[] = [
  {
    file: "lib/gate/gated-cluster.ts",
    tests: ["test/unit/gate/gated-cluster.test.ts"],
    faults: [
      { what: "a write does not wait for the gate", find: "      await gate.enter(signal);\n", replace: "" },
      { what: "the gate is not checked when a request is sent", find: "      gate.assertOpen();\n", replace: "" },
      { what: "the lease is no longer checked", find: "      options.beforeSend?.();\n", replace: "" },
      {
        what: "a request that was sent late is not retried",
        find: "const maxTries = 3;",
        replace: "const maxTries: number = 1;",
      },
    ],
  },
  {
    file: "lib/gate/guarded-cluster.ts",
    tests: ["test/unit/gate/guarded-cluster.test.ts"],
    faults: [
      {
        what: "no write passes the guard",
        find: "(options.dryRun === true ? send(options) : guard(options, signal, send))",
        replace: "send(signal === undefined ? options : { ...options, guard })",
      },
      {
        what: "a dry run passes the guard, too",
        find: "(options.dryRun === true ? send(options) : guard(options, signal, send))",
        replace: "guard(options, signal, send)",
        tests: ["test/unit/gate/gated-cluster.test.ts", "test/unit/gate/leased-cluster.test.ts"],
      },
      {
        what: "apply is treated as a read",
        find: "guarded(options, signal, (given) => cluster.apply(manifest, given, signal))",
        replace: "cluster.apply(manifest, options, signal)",
      },
      {
        what: "create is treated as a read",
        find: "guarded(options, signal, (given) => cluster.create(manifest, given, signal))",
        replace: "cluster.create(manifest, options, signal)",
      },
      {
        what: "patch is treated as a read",
        find: "guarded(options, signal, (given) => cluster.patch(ref, patch, given, signal))",
        replace: "cluster.patch(ref, patch, options, signal)",
      },
      {
        what: "delete is treated as a read",
        find: "guarded(options, signal, (given) => cluster.delete(ref, given, signal))",
        replace: "cluster.delete(ref, options, signal)",
      },
      {
        what: "methods outside of the port bypass the guard",
        find: "return { ...reads, ...writes };",
        replace: "return { ...cluster, ...reads, ...writes };",
      },
    ],
  },
  {
    file: "lib/gate/leased-cluster.ts",
    tests: ["test/unit/gate/leased-cluster.test.ts", "test/unit/gate/guarded-cluster.test.ts"],
    faults: [
      {
        what: "no write checks the lease, noticed by a whole flow",
        find: "guardedCluster(cluster, async (options, _signal, send) => {\n",
        replace:
          'guardedCluster(cluster, async (options, _signal, send) => {\n    if (cluster.role === "home") return send(options);\n',
        tests: ["test/e2e/flow/embedded.test.ts"],
        named: "a Kustomization waits on",
      },
      {
        what: "a write does not check the lease at the call",
        find: "    run.assertLease();\n    const beforeSend",
        replace: "    const beforeSend",
      },
      {
        what: "a write does not check the lease when it is sent",
        find: "      options.beforeSend?.();\n      run.assertLease();",
        replace: "      options.beforeSend?.();",
        tests: ["test/unit/gate/leased-cluster.test.ts", "test/unit/kube/leased-writes.test.ts"],
      },
      {
        what: "the earlier check is skipped",
        find: "      options.beforeSend?.();\n",
        replace: "",
        tests: ["test/unit/gate/guarded-cluster.test.ts"],
      },
      {
        what: "a lease turns a target cluster into home",
        find: 'cluster.role === "home" ? asHome(leased) : asTarget(leased)',
        replace: 'cluster.role !== "home" ? asHome(leased) : asTarget(leased)',
      },
    ],
  },
  {
    file: "lib/gate/write-gate.ts",
    tests: ["test/unit/gate/write-gate.test.ts"],
    faults: [
      {
        what: "only the monotonic clock decides how old a look is",
        find: "Math.max(clock.now() - last.wall, clock.monotonic() - last.monotonic)",
        replace: "clock.monotonic() - last.monotonic",
      },
      {
        what: "a look counts from its answer",
        find: "last = { ...moment, refusal };",
        replace: "last = { wall: clock.now(), monotonic: clock.monotonic(), refusal };",
      },
      {
        what: "each caller looks separately",
        find: "looking ??= look().finally(() => {",
        replace: "looking = look().finally(() => {",
      },
      {
        what: "a closed gate opens without an answer",
        find: "if (before === undefined) throw error;",
        replace: "if (before === undefined || last !== undefined) throw error;",
      },
      {
        what: "each look of a closed gate is logged",
        find: "if (refusal !== undefined && refusal.message !== before?.message) {",
        replace: "if (refusal !== undefined) {",
      },
      { what: "the last reason counts", find: "if (refusal !== undefined) return refusal;", replace: "" },
    ],
  },
  {
    file: "lib/gate/owner-object.ts",
    tests: ["test/unit/gate/cluster-owner.test.ts", "test/unit/gate/pause.test.ts"],
    faults: [
      {
        what: "the owner of another cluster counts",
        find: 'if (typeof data["cluster"] === "string" && data["cluster"] !== clusterUid) return nothing;',
        replace: "",
      },
      {
        what: "a take-over overwrites a version that it has not read",
        find: "metadata: { resourceVersion }, data",
        replace: "data",
      },
      {
        what: "the webhook address of the former owner stays",
        find: "where: where === undefined ? null : cutText(where, maxOwnerFieldChars)",
        replace: "...(where === undefined ? {} : { where: cutText(where, maxOwnerFieldChars) })",
      },
      {
        what: "a concurrent creation by another installation is a failure",
        find: '["AlreadyExists", "Conflict", "NotFound"]',
        replace: '["Conflict", "NotFound"]',
      },
      {
        what: "a pause restored from another cluster takes effect with the first owner",
        find: "...(pause === undefined ? noPause : {}),",
        replace: "",
      },
      {
        what: "only the exact word pauses",
        find: 'if (paused === undefined || paused === "false") return undefined;',
        replace: 'if (paused !== "true") return undefined;',
      },
    ],
  },
  {
    file: "lib/gate/pause.ts",
    tests: ["test/unit/gate/pause.test.ts"],
    faults: [
      {
        what: "a pause is lost in a concurrent write",
        find: "const maxTries = 5;",
        replace: "const maxTries: number = 1;",
      },
      {
        what: "a second pause takes the first one's name",
        find: "(held === undefined ? { pause } : undefined)",
        replace: "(held === undefined ? { pause } : { pause })",
      },
    ],
  },
  {
    file: "lib/gate/cluster-owner.ts",
    tests: ["test/unit/gate/cluster-owner.test.ts", "test/unit/gate/pause.test.ts"],
    faults: [
      {
        what: "a cluster after an uninstall is taken over again",
        find: "if (isInstalled !== undefined && !(await isInstalled(signal))) return notInstalled;",
        replace: "",
      },
      {
        what: "an unreadable object lets every installation write",
        find: "if (ownerFault !== undefined) {",
        replace: "if (ownerFault !== undefined) return undefined;\n  if (ownerFault !== undefined) {",
      },
      {
        what: "a request without an answer counts as an error of the object",
        find: "if (!(error instanceof ApiError)) throw error;",
        replace: "if (!(error instanceof ApiError) || error.code !== 200) throw error;",
      },
      {
        what: "the address of webhooks is written at each check",
        find: "if (webhookUrl === undefined || webhookUrl === (owner.webhookUrl ?? null)) return;",
        replace: "if (webhookUrl === undefined) return;",
      },
      {
        what: "an address of webhooks that cannot be written closes the cluster",
        find: "if (error instanceof ApiError) return;",
        replace: "",
      },
      {
        what: "a pause stops no write",
        find: "if (pause === undefined) return undefined;",
        replace: "if (pause !== null) return undefined;",
      },
      {
        what: "an installation that releases the cluster removes the pause",
        find: "if (pause !== undefined) return writeOwnerObject(read, { owner: null }, cluster, signal);",
        replace: "",
      },
    ],
  },
  {
    file: "cli/reconcile-object.ts",
    tests: ["test/unit/cli/reconcile-object.test.ts"],
    faults: [
      {
        what: "a forced request has a separate token",
        find: "[forceAtAnnotation]: at",
        replace: "[forceAtAnnotation]: `${at}x`",
        named: "the request annotations have",
      },
      {
        what: "the failure of an earlier request ends the command",
        find: "const failure = isLastRequestHandled(seen) ? failureOf(seen) : undefined;",
        replace: "const failure = failureOf(seen);",
        named: "earlier request",
      },
    ],
  },
  {
    file: "cli/take-over.ts",
    tests: ["test/unit/cli/take-over.test.ts"],
    faults: [
      {
        what: "a cluster is given to an invalid installation id",
        find: "!/^[\\w.:/-]+$/.test(installation) || ",
        replace: "",
      },
      {
        what: "an id is written that is too long to be read again",
        find: " || installation.length > maxOwnerFieldChars",
        replace: "",
      },
    ],
  },
  {
    file: "cli/cluster-commands.ts",
    tests: ["test/unit/cli/take-over.test.ts"],
    faults: [{ what: "a state folder beside an id is ignored", find: '.conflicts("state")', replace: "" }],
  },
  {
    file: "lib/gate/owner-object.ts",
    tests: ["test/unit/gate/pause.test.ts"],
    faults: [
      {
        what: "the webhook address stays when the owner releases the cluster",
        find: 'const ownerFields = ["installation", "where", "version", "since", "webhookUrl"] as const;',
        replace: 'const ownerFields = ["installation", "where", "version", "since"] as const;',
      },
    ],
  },
];
