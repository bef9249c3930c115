import type { FileFaults } from "./fault.ts";

const carriedOut = ["test/unit/apply/prune/prune.test.ts"];
const decided = ["test/unit/apply/prune/decide-prune.test.ts"];

/** What decides about deletion, and what carries it out. */
export const pruneFaults: readonly FileFaults[] = [
  {
    file: "lib/apply/judged-only.ts",
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
        what: "what is wanted is decided about",
        find: ".filter(({ entry }) => !wanted.has(entry.id))",
        replace: ".filter(({ entry }) => !wanted.has(entry.version))",
      },
      {
        what: "what was retained is pruned later",
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
        what: "prune ignores opt-outs",
        find: "if (mark !== undefined) return",
        replace: 'if (mark === "") return',
      },
      {
        what: "foreign object of another uid is deleted",
        find: "const isForeign = entry.uid !== metadata.uid && ownEntry(metadata.managedFields) === undefined;",
        replace: "const isForeign = entry.uid === undefined && ownEntry(metadata.managedFields) === undefined;",
      },
      {
        what: "our own re-created object is never pruned",
        find: "const isForeign = entry.uid !== metadata.uid && ownEntry(metadata.managedFields) === undefined;",
        replace: "const isForeign = entry.uid !== metadata.uid;",
      },
      {
        what: "other claimants ignored",
        find: "if (heir !== undefined && mark",
        replace: 'if (heir !== undefined && heir.owner === "" && mark',
      },
      {
        what: "only the first claim is looked at",
        find: 'const alive = claimants.filter(({ standing }) => standing === "alive");',
        replace: 'const alive = claimants.slice(0, 1).filter(({ standing }) => standing === "alive");',
      },
      {
        what: "what a sibling is about to have is deleted",
        find: "if (expectedBy !== undefined) {",
        replace: 'if (expectedBy === "") {',
      },
      {
        what: "a sibling's claim on what it is about to have is not looked at",
        find: "if (heir !== undefined && mark",
        replace: "if (heir !== undefined && expectedBy === undefined && mark",
      },
      {
        what: "deletes again what is being deleted",
        find: "isGoing: metadata.deletionTimestamp !== undefined",
        replace: "isGoing: metadata.deletionTimestamp === null",
      },
      {
        what: "an object that cannot be read counts as gone",
        find: 'if (object.kind === "unknown") return unknown(object.message);',
        replace: 'if (object.kind === "unknown") return { kind: "gone", entry };',
      },
    ],
  },
  {
    file: "lib/apply/prune/taken-along.ts",
    tests: [...decided, "test/unit/apply/prune/taken-along.test.ts"],
    faults: [
      {
        what: "a namespace goes with what the prune itself leaves",
        find: "      ...left.filter((one) => isIn(one, extent)),\n",
        replace: "",
      },
      {
        what: "a namespace goes with what cannot be looked at",
        find: '  if (object.kind === "unknown") return [{ ref, why: "it cannot be looked at" }];\n',
        replace: "",
      },
      {
        what: "a namespace goes with what another has in it",
        find: "...(isSelf ? [] : has.map((one) => ({ ...one, owner })))",
        replace: "...(isSelf ? has.map((one) => ({ ...one, owner })) : [])",
      },
      {
        what: "an owner that is going counts as living on",
        find: "!isGoing && !(takesAlong && goingIds.has(formatEntryId(ref)))",
        replace: "isGoing || !(takesAlong && goingIds.has(formatEntryId(ref)))",
      },
      {
        what: "an owner that this prune deletes and that keeps its objects counts as going with them",
        find: "!(takesAlong && goingIds.has(formatEntryId(ref)))",
        replace: "!goingIds.has(formatEntryId(ref)) && takesAlong !== undefined",
      },
    ],
  },
  {
    file: "lib/apply/prune/gather-facts.ts",
    tests: ["test/unit/apply/prune/gather-facts.test.ts"],
    faults: [
      {
        what: "only the first two claims are looked at",
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
        what: "claims are read after who made them was looked at, or not at all",
        find: "claimants: claimants.get(one.entry.id) ?? []",
        replace: "claimants: claimants.get(one.entry.version) ?? []",
      },
      {
        what: "what was retained in a namespace that goes is not looked at",
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
        what: "goes on with other kinds after a conflict",
        find: "    if (again.size > 0) break;\n",
        replace: "",
      },
      {
        what: "what may leave the inventory is not saved as planned",
        find: "  if (!equal(progress.saved, ahead)) {",
        replace: "  if (ahead.length < 0) {",
      },
      {
        what: "what an heir lets go of before it is listened to goes unheard",
        find: "if (await announce(decisions, progress)) continue;",
        replace: "await announce(decisions, progress);",
      },
      {
        what: "an heir is not listened to",
        find: "await progress.set.others.listenTo([...all].toSorted(), progress.signal);",
        replace: "",
      },
      {
        what: "an heir is asked again and again",
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
        what: "nobody is told that a claim has ended",
        find: "if (isAwaited) await others.announceRelease(signal);",
        replace: "",
      },
      {
        what: "what a leaving owner gives back is not noticed",
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
        what: "an object that changed under its delete is not judged anew",
        find: `    if (error.reason === "Conflict" && !isLastLook) return undefined;\n`,
        replace: "",
      },
      {
        what: "a leaving owner does not look whether its heir still claims the object",
        find: "if (isClaimed) return",
        replace: "if (isClaimed || heir.uid.length > 0) return",
      },
      {
        what: "a leaving owner labels another state of the object than the one it judged",
        find: "...(resourceVersion && { resourceVersion })",
        replace: "...(resourceVersion && {})",
      },
      {
        what: "a leaving owner does not take back what somebody else writes meanwhile",
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
        what: "a leaving owner forgets what changed under each of its looks",
        find: "if (isChanged || isPassing(error)) {",
        replace: "if (isPassing(error)) {",
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
        what: "what is being handed over leaves the inventory",
        find: 'return [{ ...entry, state: "planned" }];',
        replace: "return [];",
      },
    ],
  },
];
