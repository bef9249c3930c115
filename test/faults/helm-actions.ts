import type { FileFaults } from "./fault.ts";

const hooks = ["test/e2e/helm-release/hooks.test.ts"];
const uninstall = ["test/e2e/helm-release/uninstall.test.ts"];
const drift = ["test/e2e/helm-release/drift.test.ts"];
const release = ["test/e2e/helm-release/release.test.ts"];
const end = ["test/e2e/helm-release/finalize.test.ts"];
const endThere = ["test/e2e/helm-release/end.test.ts"];

export const helmActionFaults: readonly FileFaults[] = [
  {
    file: "lib/apply/prune/carry-out.ts",
    tests: ["test/e2e/helm-release/other-kind.test.ts"],
    faults: [
      {
        what: "an owner of another kind leaves its labels and fields on what it hands over",
        find: "if (decision.givesUp !== undefined) return",
        replace: "if (decision.givesUp !== undefined && decision.isRetained) return",
      },
      {
        what: "a release waits for ever until its next owner has applied an object",
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
        what: "whatever is wrong with another cluster lets go of the release there",
        find: "if (isLeft && !(error instanceof TargetFault && error.isGone)) return",
        replace: "if (isLeft && !(error instanceof TargetFault)) return",
      },
      {
        what: "the back-off of a deletion that is held never grows",
        find: "carried: toCarriedEnd({ failures: failures + 1, wait })",
        replace: "carried: toCarriedEnd({ failures, wait })",
      },
      {
        what: "a deletion that is held tells so in each run",
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
        what: "a hook of two events that has run for the first is taken for done",
        find: 'const phase = before.mark?.hooks === event ? hook.lastRun.phase : "";',
        replace: "const { phase } = hook.lastRun;",
      },
      {
        what: "after a kill, hooks that came before run again",
        find: 'return event.startsWith("pre-") && mark?.hooks?.startsWith("post-") === true;',
        replace: "return event.length + (mark?.generation ?? 0) < 0;",
      },
      {
        what: "a Job that has deleted itself is created again",
        find: "  if (wait?.for === nameOfWait(event, hook)) return true;\n",
        replace: "",
      },
      {
        what: "an object of an earlier run is taken for that of this one",
        find: ' && Date.parse(creationTimestamp ?? "") >= Math.floor(startOf(hook) / 1_000) * 1_000;',
        replace: ";",
        equivalent:
          "before a hook runs its former object is deleted, unless its policy keeps it: then applying it changes nothing",
      },
      {
        what: "a hook that fails leaves those before it, whatever their policy",
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
        what: "the latest revision goes first, so that a run that is stopped finds another",
        find: "heads.toSorted((a, b) => a.version - b.version)",
        replace: "heads.toSorted((a, b) => b.version - a.version)",
      },
      {
        what: "after a failure the next try goes on behind the hook that failed",
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
        what: "an uninstall takes along what others have in a namespace",
        find: '  if (why !== undefined) return { kind: "held", ref, why };',
        replace: '  if (why === "") return { kind: "held", ref, why };',
      },
      {
        what: "an uninstall takes along what it keeps itself",
        find: "takenAlong(all.map(decided),",
        replace: "takenAlong(some.map(decided).filter(() => all.length > 0),",
      },
      {
        what: "what another client has created is deleted",
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
        what: "what is proven unchanged is tried all the same",
        find: '  if (seen?.isProven === true) return { kind: "same" };\n',
        replace: "",
      },
      {
        what: "a label that the release no longer has is drift",
        find: '.filter(({ op }) => op !== "remove")',
        replace: "",
      },
      {
        what: "a mark on the live object alone excludes nothing",
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
        what: "definitions that nobody wants refuse an upgrade",
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
        what: "values that are kept are upgraded for ever",
        find: "release.spec.upgrade?.preserveValues === true && ",
        replace: "release.spec.upgrade === undefined && ",
        named: "preserveValues",
      },
    ],
  },
  {
    file: "lib/engine/wasm-helm.ts",
    tests: ["test/unit/engine/wasm-helm.test.ts"],
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
        what: "a suspended HelmRelease takes its release along",
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
