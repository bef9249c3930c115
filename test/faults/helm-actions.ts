import type { FileFaults } from "./fault.ts";

const hooks = ["test/e2e/helm-release/hooks.test.ts"];
const uninstall = ["test/e2e/helm-release/uninstall.test.ts"];
const drift = ["test/e2e/helm-release/drift.test.ts"];
const release = ["test/e2e/helm-release/release.test.ts"];
const end = ["test/e2e/helm-release/finalize.test.ts"];
const endThere = ["test/e2e/helm-release/end.test.ts"];
const requests = ["test/e2e/helm-release/requests-of-a-run.test.ts"];

export const helmActionFaults: readonly FileFaults[] = [
  {
    file: "lib/helm/secret-release-store.ts",
    tests: ["test/unit/helm/secret-release-store.test.ts"],
    faults: [
      {
        what: "a revision that another writer has changed is taken from memory",
        find: "if (!isUnchanged) known.delete(version);",
        replace: "if (!isUnchanged && heads.length === 0) known.delete(version);",
      },
      {
        what: "the revisions of a release are not listed again after a write",
        find: "      listed = undefined;\n      const body = {",
        replace: "      const body = {",
      },
      {
        what: "the digest of a record is that of another artifact",
        find: "if (before?.observed.ociDigest === ociDigest) return before;",
        replace: "if (before !== undefined) return before;",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/helm-release-flow.ts",
    tests: requests,
    faults: [
      {
        what: "each run writes that it has begun",
        find: "  noteBeginning(closed, carried);",
        replace: "  noteBeginning(closed, carried);\n  await closed.write(closed.status());",
      },
    ],
  },
  {
    file: "lib/helm/secret-release-store.ts",
    tests: requests,
    faults: [
      {
        what: "each step of an action lists the Secrets of the release",
        find: "if (listed !== undefined) return listed;",
        replace: "if (listed?.length === 0) return listed;",
      },
    ],
  },
  {
    file: "lib/apply/poll.ts",
    tests: ["test/unit/apply/poll.test.ts"],
    faults: [
      {
        what: "the last look of a run comes just before Kubernetes completes a Job",
        find: "700, 1_050]",
        replace: "700, 1_000]",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/await-objects.ts",
    tests: requests,
    faults: [
      {
        what: "the health of each object of a release is read by a request of its own",
        find: "since: wait.since, rules: healthRules, labelSelector };",
        replace: "since: wait.since, rules: healthRules };\n    void labelSelector;",
      },
    ],
  },
  {
    file: "lib/apply/prune/carry-out.ts",
    tests: ["test/e2e/helm-release/other-kind.test.ts"],
    faults: [
      {
        what: "an owner of another kind leaves its labels and fields on handed-over objects",
        find: "if (decision.givesUp !== undefined) return",
        replace: "if (decision.givesUp !== undefined && decision.isRetained) return",
      },
      {
        what: "a release waits forever for its next owner to apply an object",
        find: "const isAtOnce = isFinalizing || set.handsOverAtOnce === true;",
        replace: "const isAtOnce = isFinalizing;",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/end.ts",
    tests: endThere,
    faults: [
      {
        what: "any error of another cluster gives the release there up",
        find: "if (isLeft && !(error instanceof TargetFault && error.isGone)) return",
        replace: "if (isLeft && !(error instanceof TargetFault)) return",
      },
      {
        what: "the back-off of a blocked deletion never grows",
        find: "carried: toCarriedEnd({ failures: failures + 1, wait })",
        replace: "carried: toCarriedEnd({ failures, wait })",
      },
      {
        what: "a blocked deletion is reported in each run",
        find: 'before?.status !== "False" || ',
        replace: 'before?.status !== "True" || ',
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/uninstall.ts",
    tests: endThere,
    faults: [
      {
        what: "a release of the same name in another cluster is uninstalled",
        find: 'if (order.reason !== "remediation" && (await isElsewhere(ctx))) return',
        replace: 'if (order.reason !== "remediation" && (await isElsewhere(ctx)) && releaseName === "") return',
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/hooks.ts",
    tests: hooks,
    faults: [
      {
        what: "hooks of one weight run in the order of the record",
        find: " || byCodePoints(a.hook.name, b.hook.name)",
        replace: "",
      },
      {
        what: "a hook for two events counts as done after the first",
        find: 'const phase = before.mark?.hooks === event ? hook.lastRun.phase : "";',
        replace: "const { phase } = hook.lastRun;",
      },
      {
        what: "after a kill, earlier hooks run again",
        find: 'return event.startsWith("pre-") && mark?.hooks?.startsWith("post-") === true;',
        replace: "return event.length + (mark?.generation ?? 0) < 0;",
      },
      {
        what: "a Job that has deleted itself is created again",
        find: "  if (wait?.for === nameOfWait(event, hook)) return true;\n",
        replace: "",
      },
      {
        what: "an object of an earlier run counts as this run's",
        find: ' && Date.parse(creationTimestamp ?? "") >= Math.floor(startOf(hook) / 1_000) * 1_000;',
        replace: ";",
        equivalent:
          "before a hook runs its former object is deleted, unless its policy keeps it: then applying it changes nothing",
      },
      {
        what: "after a failing hook, earlier hooks are kept despite their policy",
        find: '  const rest = await removeAll(succeeded, "hook-succeeded", stored, cleaning);\n',
        replace: '  const rest = await removeAll([], "hook-succeeded", stored, cleaning);\n',
      },
      {
        what: "the timeout of a hook begins again with each run",
        find: "since: startOf(hook) };",
        replace: "since: ctx.deps.clock.now() };",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/hook-object.ts",
    tests: hooks,
    faults: [{ what: "a hook takes the fields of others", find: "force: false", replace: "force: true" }],
  },
  {
    file: "lib/flows/helm-release/actions/uninstall.ts",
    tests: uninstall,
    faults: [
      {
        what: "the latest revision is deleted first, so that an interrupted run finds another",
        find: "heads.toSorted((a, b) => a.version - b.version)",
        replace: "heads.toSorted((a, b) => b.version - a.version)",
      },
      {
        what: "after a failure the next attempt continues after the failed hook",
        find: "  const record = await revise(writerOf(stored, order), stored, {}, undefined);\n",
        replace: "  const record = await revise(writerOf(stored, order), stored, {}, stored.mark);\n",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/delete-objects.ts",
    tests: uninstall,
    faults: [
      {
        what: "an object of another release is deleted",
        find: "  if (!isMarkedAs(metadata, release)) return",
        replace: "  if (metadata.name === release.name) return",
      },
      {
        what: "an uninstall deletes a namespace with other owners' objects",
        find: '  if (why !== undefined) return { kind: "held", ref, why };',
        replace: '  if (why === "") return { kind: "held", ref, why };',
      },
      {
        what: "an uninstall deletes a namespace with objects that it keeps",
        find: "takenAlong(all.map(decided),",
        replace: "takenAlong(some.map(decided).filter(() => all.length > 0),",
      },
      {
        what: "an object that another client created is deleted",
        find: "const isReplaced = uid !== undefined && uid !== metadata.uid;",
        replace: "const isReplaced = uid === metadata.uid;",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/compare-object.ts",
    tests: drift,
    faults: [
      {
        what: "an object proven unchanged still gets a dry run",
        find: '  if (seen?.isProven === true) return { kind: "same" };\n',
        replace: "",
      },
      {
        what: "a label that the release no longer has counts as drift",
        find: '.filter(({ op }) => op !== "remove")',
        replace: "",
      },
      {
        what: "an annotation on only the live object excludes nothing",
        find: '    if (live !== undefined && isExcluded(live.metadata)) return { kind: "excluded" };\n',
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/upgrade.ts",
    tests: release,
    faults: [
      {
        what: "the values of an upgrade that has failed are kept",
        find: "(deployed ?? last)",
        replace: "last",
      },
      {
        what: "skipped definitions refuse an upgrade",
        find: 'policy === "Skip" ? [] : await',
        replace: "await",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/wanted-config-digest.ts",
    tests: ["test/e2e/helm-release/whole-release.test.ts"],
    faults: [
      {
        what: "preserved values cause upgrades forever",
        find: "release.spec.upgrade?.preserveValues === true && ",
        replace: "release.spec.upgrade === undefined && ",
        named: "preserveValues",
      },
    ],
  },
  {
    file: "lib/engine/tier-up.ts",
    tests: ["test/unit/engine/tier-up.test.ts"],
    faults: [
      {
        what: "V8 compiles wrappers for imports, which crashes the process at times",
        find: "2 ** 31 - 1",
        replace: "1_000",
      },
      {
        what: "V8 optimizes functions of a module that run a few times",
        find: "bytesBeforeOptimizing = 100_000_000",
        replace: "bytesBeforeOptimizing = 13_000_000",
      },
    ],
  },
  {
    file: "lib/engine/wasm-helm.ts",
    tests: ["test/unit/engine/wasm-helm.test.ts", "test/unit/engine/helm-render-faults.test.ts"],
    faults: [
      {
        what: "an answer of the engine loses digits",
        find: "return parseOwnJson(text);",
        replace: "return JSON.parse(text);",
      },
      { what: "what is looked up loses digits", find: "formatJson(found ??", replace: "JSON.stringify(found ??" },
      {
        what: "only the last lookup counts",
        find: "bytes += Buffer.byteLength(text);",
        replace: "bytes = Buffer.byteLength(text);",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/finalize.ts",
    tests: end,
    faults: [
      {
        what: "deleting a suspended HelmRelease uninstalls its release",
        find: "  if (ctx.release.spec.suspend === true) return letGo(ctx);\n",
        replace: "",
      },
      {
        what: "a failed uninstall is not counted",
        find: "failures: (status.failures ?? 0) + 1",
        replace: "failures: status.failures ?? 0",
      },
    ],
  },
];
