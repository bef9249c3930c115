import type { FileFaults } from "./fault.ts";

const carriedOut = ["test/unit/apply/prune/prune.test.ts"];
const decided = [
  "test/unit/apply/prune/decide-prune.test.ts",
  "test/unit/apply/prune/decide-prune-cases.test.ts",
  "test/unit/apply/prune/decide-prune-inventory.test.ts",
];

/** What decides about deletion, and what carries it out. */
export const pruneFaults: readonly FileFaults[] = [
  {
    file: "lib/apply/set/preconditions.ts",
    tests: carriedOut,
    faults: [
      {
        what: "delete without uid precondition",
        find: "...(uid === undefined ? {} : { uid }),",
        replace: "...(uid === undefined ? {} : {}),",
      },
      {
        what: "delete without resourceVersion precondition",
        find: "...(resourceVersion === undefined ? {} : { resourceVersion }),",
        replace: "...(resourceVersion === undefined ? {} : {}),",
      },
    ],
  },
  {
    file: "lib/apply/prune/decide-prune.ts",
    tests: decided,
    faults: [
      {
        what: "an inventory of another cluster is pruned",
        find: "if (clusterUid !== owner.clusterUid) {",
        replace: 'if (clusterUid === "") {',
      },
      {
        what: "wanted objects get a prune decision",
        find: ".filter(({ entry }) => !wanted.has(entry.id))",
        replace: ".filter(({ entry }) => !wanted.has(entry.version))",
      },
      {
        what: "retained objects are pruned later",
        find: '  if (entry.state === "retained") return keep("kept when it left the artifact", true);\n',
        replace: "",
      },
      {
        what: "prune: false prunes",
        find: 'if (policy === "retain") return',
        replace: 'if (policy === "retain" && entry.state === "planned") return',
      },
      {
        what: "prune ignores owner labels",
        find: "if (!isOwnedBy(metadata, owner)) return",
        replace: "if (metadata.labels === undefined) return",
      },
      {
        what: "an object with another owner's labels is deleted if the ledger has no claim on it",
        find: "if (!isOwnedBy(metadata, owner)) return",
        replace: "if (!isOwnedBy(metadata, owner) && claimants.length > 0) return",
      },
      {
        what: "prune ignores opt-outs",
        find: "if (mark !== undefined) return",
        replace: 'if (mark === "") return',
      },
      {
        what: "foreign object of another uid is deleted",
        find: "const isForeign = entry.uid !== metadata.uid && ownEntry(metadata.managedFields, owner.style) === undefined;",
        replace:
          "const isForeign = entry.uid === undefined && ownEntry(metadata.managedFields, owner.style) === undefined;",
      },
      {
        what: "our own re-created object is never pruned",
        find: "const isForeign = entry.uid !== metadata.uid && ownEntry(metadata.managedFields, owner.style) === undefined;",
        replace: "const isForeign = entry.uid !== metadata.uid;",
      },
      {
        what: "other claimants ignored",
        find: "if (nextOwner !== undefined && mark",
        replace: 'if (nextOwner !== undefined && nextOwner.owner === "" && mark',
      },
      {
        what: "only the first claim is read",
        find: 'const alive = claimants.filter(({ state }) => state === "alive");',
        replace: 'const alive = claimants.slice(0, 1).filter(({ state }) => state === "alive");',
      },
      {
        what: "an object that a sibling is about to have is deleted",
        find: "if (expectedBy !== undefined) {",
        replace: 'if (expectedBy === "") {',
      },
      {
        what: "the claim of a sibling that is about to have the object is ignored",
        find: "if (nextOwner !== undefined && mark",
        replace: "if (nextOwner !== undefined && expectedBy === undefined && mark",
      },
      {
        what: "terminating objects are deleted again",
        find: "isTerminating: metadata.deletionTimestamp !== undefined",
        replace: "isTerminating: metadata.deletionTimestamp === null",
      },
      {
        what: "an object that cannot be read counts as gone",
        find: "    return { ...unknown(object.message), ...(isDeleted ? { isDeleted } : {}) };",
        replace: '    return isDeleted || object.message !== "" ? { kind: "gone", entry } : unknown("");',
      },
      {
        what: "an object that may not be read counts as deleted before it was",
        find: 'isFinalizing && entry.state === "deleting" && object.isForbidden === true',
        replace: "isFinalizing && object.isForbidden === true",
      },
    ],
  },
  {
    file: "lib/apply/prune/cascade-refusals.ts",
    tests: [...decided, "test/unit/apply/prune/cascade-refusals.test.ts"],
    faults: [
      {
        what: "a namespace is deleted with objects that the prune keeps",
        find: "      ...left.filter((one) => isIn(one, scope)),\n",
        replace: "",
      },
      {
        what: "a namespace is deleted with objects that cannot be read",
        find: '  if (object.kind === "unknown") return [{ ref, why: "it cannot be looked at" }];\n',
        replace: "",
      },
      {
        what: "a namespace is deleted with objects of another owner",
        find: "...(isSelf ? [] : has.map((one) => ({ ...one, owner })))",
        replace: "...(isSelf ? has.map((one) => ({ ...one, owner })) : [])",
      },
      {
        what: "a terminating owner counts as staying",
        find: "!isTerminating && !(cascades && deletedIds.has(formatEntryId(ref)))",
        replace: "isTerminating || !(cascades && deletedIds.has(formatEntryId(ref)))",
      },
      {
        what: "an owner that this prune deletes and that keeps its objects counts as deleting them",
        find: "!(cascades && deletedIds.has(formatEntryId(ref)))",
        replace: "!deletedIds.has(formatEntryId(ref)) && cascades !== undefined",
      },
    ],
  },
  {
    file: "lib/apply/prune/gather-facts.ts",
    tests: ["test/unit/apply/prune/gather-facts.test.ts"],
    faults: [
      {
        what: "only the first two claims are read",
        find: "of [...claims.values()].flat()) {",
        replace: "of [...claims.values()].flat().slice(0, 2)) {",
      },
      {
        what: "version no longer served taken for gone: object leaks",
        find: `(await cluster.resource({ group, kind, version: entry.version }, signal)) ??
      (await cluster.resource({ group, kind }, signal));`,
        replace: "await cluster.resource({ group, kind, version: entry.version }, signal);",
      },
      {
        what: "our own claim counts as another's",
        find: "if (claim.ownerUid !== owner.uid) ofOthers",
        replace: "if (claim.ownerUid !== claim.id) ofOthers",
      },
      {
        what: "claims are read after their claimants, or not at all",
        find: "claimants: claimants.get(one.entry.id) ?? []",
        replace: "claimants: claimants.get(one.entry.version) ?? []",
      },
      {
        what: "objects retained in a deleted namespace are not read",
        find: ", ...kept];",
        replace: "];",
      },
    ],
  },
  {
    file: "lib/apply/prune/prune.ts",
    tests: carriedOut,
    faults: [
      {
        what: "prune in apply order",
        find: "Map.groupBy(decisions.toReversed(), kindOf)",
        replace: "Map.groupBy(decisions, kindOf)",
      },
      {
        what: "claim released while a finalizer holds the object",
        find: '(outcome?.kind === "deleted" && !outcome.held)',
        replace: 'outcome?.kind === "deleted"',
      },
      {
        what: "after a conflict the prune continues with other kinds",
        find: "    if (again.size > 0) break;\n",
        replace: "",
      },
      {
        what: "objects that may leave the inventory are not saved as planned",
        find: "  if (!equal(progress.saved, ahead)) {",
        replace: "  if (ahead.length < 0) {",
      },
      {
        what: "a release by the next owner before the subscription is missed",
        find: "if (await announce(decisions, progress)) continue;",
        replace: "await announce(decisions, progress);",
      },
      {
        what: "no subscription to the next owner",
        find: "await progress.set.others.subscribeTo([...all].toSorted(), progress.signal);",
        replace: "",
      },
      {
        what: "the next owner is woken again and again",
        find: 'decisions.filter(({ entry }) => entry.state !== "planned"),',
        replace: "decisions,",
      },
    ],
  },
  {
    file: "lib/apply/prune/release.ts",
    tests: carriedOut,
    faults: [
      {
        what: "the end of a claim is not announced",
        find: "if (isAwaited) await others.announceRelease(signal);",
        replace: "",
      },
      {
        what: "objects that an owner that is being deleted gives back are not noticed",
        find: "if (!stays && (await isOurs(decision.entry, set, signal)))",
        replace: "if (stays && (await isOurs(decision.entry, set, signal)))",
      },
    ],
  },
  {
    file: "lib/apply/prune/carry-out.ts",
    tests: carriedOut,
    faults: [
      {
        what: "an object that changed during its delete is not decided again",
        find: `    if (error.reason === "Conflict" && !isLastLook) return undefined;\n`,
        replace: "",
      },
      {
        what: "an owner that is being deleted does not check whether its next owner still claims the object",
        find: "if (isClaimed) return",
        replace: "if (isClaimed || nextOwner.uid.length > 0) return",
      },
      {
        what: "an owner that is being deleted labels another state of the object than the one it decided on",
        find: "...(resourceVersion && { resourceVersion })",
        replace: "...(resourceVersion && {})",
      },
      {
        what: "an owner that is being deleted does not take back an object that another client writes meanwhile",
        find: "|| look === maxLooks) throw error;",
        replace: "|| look > 0) throw error;",
      },
    ],
  },
  {
    file: "lib/apply/prune/carry-out.ts",
    tests: ["test/unit/apply/prune/carry-out.test.ts"],
    faults: [
      {
        what: "an owner that is being deleted forgets an object that changed during each of its reads",
        find: "if (isChanged || isPassing(error)) return refused",
        replace: "if (isPassing(error)) return refused",
      },
      {
        what: "an owner that is being deleted forgets an object whose labels it could not put back",
        find: "return refused(`it has the labels of",
        replace: "return skipped(`it has the labels of",
      },
    ],
  },
  {
    file: "lib/apply/prune/pruned.ts",
    tests: ["test/unit/apply/prune/pruned.test.ts"],
    faults: [
      {
        what: "held object leaves the inventory",
        find: 'return outcome.held ? [{ ...entry, state: "deleting" }] : [];',
        replace: "return [];",
      },
      {
        what: "refused delete leaves the inventory",
        find: "return [outcome?.entry ?? entry];",
        replace: "return outcome === undefined ? [entry] : [];",
      },
      {
        what: "an object that is being handed over leaves the inventory",
        find: 'return [{ ...entry, state: "planned" }];',
        replace: "return [];",
      },
    ],
  },
];
