import type { FileFaults } from "./fault.ts";

const folder = "test/unit/flows/image-update-automation";
const runs = [`${folder}/image-update-automation.test.ts`];
const killed = [`${folder}/killed.test.ts`];
const sources = [`${folder}/source.test.ts`];

export const imageUpdateAutomationFaults: readonly FileFaults[] = [
  {
    file: "lib/image/commit-message.ts",
    tests: ["test/unit/image/commit-message.test.ts"],
    faults: [
      {
        what: "a commit message shows the old value of a marker in a Secret",
        find: 'if (object.kind !== "Secret") return { object, changes };',
        replace: 'if (object.kind !== "Secrets") return { object, changes };',
        named: "the old value of a marker in a Secret",
      },
    ],
  },
  {
    file: "lib/flows/image-update-automation/push-changes.ts",
    tests: runs,
    faults: [
      {
        what: "a killed push leaves no record of what it has pushed",
        find: "  ctx.setStatus(pushing(doing, { commit, branch: source.branch }, ctx.now()));\n",
        replace: "",
        tests: killed,
      },
      {
        what: "a branch that has moved ends the run",
        find: "    if (await isMoved(error, source, before, ctx)) throw",
        replace: '    if (error.reason === "too-large" && (await isMoved(error, source, before, ctx))) throw',
      },
      {
        what: "a refspec that the server has refused is forgotten",
        find: "    if (!isPending) ctx.setStatus(doing);\n",
        replace: "    ctx.setStatus(doing);\n",
        named: "a refspec that the server rejects",
      },
      {
        what: "a declined push counts as one with an unknown result",
        find: '    if (error.reason === "moved" || error.reason === "refused") ctx.setStatus(doing);\n',
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/image-update-automation/update-source.ts",
    tests: runs,
    faults: [
      {
        what: "a changed path waits for a policy or the branch",
        find: "before.observedGeneration !== ctx.now().generation && lastSettings(run) !== settingsDigest(spec);",
        replace: "before.observedGeneration === -2 && lastSettings(run) !== settingsDigest(spec);",
      },
      {
        what: "a push of an earlier run counts as its own even if another commit has followed",
        find: "pending.branch !== source.branch || pending.commit !== clone.head) return undefined;",
        replace: "pending.branch !== source.branch || clone.head === undefined) return undefined;",
        tests: killed,
      },
    ],
  },
  {
    file: "lib/flows/image-update-automation/check-out.ts",
    tests: runs,
    faults: [
      {
        what: "a repository that is too large is not cloned without the files outside of the path",
        find: 'if (folder === "") throw withMend(',
        replace: 'if (folder !== "/") throw withMend(',
        tests: [`${folder}/large-repository.test.ts`],
      },
      {
        what: "an existing push branch is created again from the checked-out branch",
        find: "const existing = isSwitched ? listed.find(({ name }) => name === heads + branch)?.oid : undefined;",
        replace: "const existing = isSwitched ? undefined : undefined;",
      },
    ],
  },
  {
    file: "lib/flows/image-update-automation/automation-status.ts",
    tests: sources,
    faults: [
      {
        what: "a failure that is over stays in Ready when the object stalls",
        find: '  const isKept = ready?.status === "False" && !isOver;\n',
        replace: '  const isKept = ready?.status === "False" && (!isOver || isOver);\n',
      },
    ],
  },
];
