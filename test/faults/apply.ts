import type { FileFaults } from "./fault.ts";

const ignoreRules = ["test/unit/apply/ignore/ignore-rules.test.ts"];
const ignoredFields = ["test/unit/apply/ignored-fields.test.ts"];
const stories = ["test/e2e/flow/embedded.test.ts"];

export const applyFaults: readonly FileFaults[] = [
  {
    file: "lib/apply/ignore/compile-ignore-rules.ts",
    tests: ignoreRules,
    faults: [
      {
        what: "a target's pattern matches a part",
        find: "RE2JS.compile(`^(?:${pattern})$`)",
        replace: "RE2JS.compile(pattern)",
      },
      {
        what: "labels are read once for all states of an object",
        find: "rulesNamed(refOf(object)).filter((rule) => rule.isMarked(object))",
        replace: "rulesNamed(refOf(object)).filter((rule) => rule.paths !== undefined)",
      },
    ],
  },
  {
    file: "lib/apply/ignore/ignore-rules.ts",
    tests: ignoreRules,
    faults: [
      {
        what: "ignored fields are not part of the fingerprint",
        find: "keyedDigest(key, canonicalJson([digest, ...ignored]))",
        replace: "keyedDigest(key, canonicalJson([digest]))",
      },
    ],
  },
  {
    file: "lib/apply/ignored-fields.ts",
    tests: ignoredFields,
    faults: [
      {
        what: "the payload names no version",
        find: "      ...(resourceVersion === undefined ? {} : { resourceVersion }),\n",
        replace: "      ...(resourceVersion === undefined ? {} : {}),\n",
      },
      {
        what: "another manager's field is kept in the payload",
        find: "value === undefined || isAppliedByOther(live, pointer, style)",
        replace: "value === undefined || (isAppliedByOther(live, pointer, style) && value === null)",
      },
      {
        what: "a list item is found only by its index",
        find: "    return place < 0 ? part : String(place);",
        replace: "    return place < -1 ? String(place) : part;",
      },
    ],
  },
  {
    file: "lib/apply/owned-fields.ts",
    tests: ignoredFields,
    faults: [
      {
        what: "a field applied through the status subresource counts as another manager's",
        find: ' subresource === "" &&',
        replace: "",
      },
      {
        what: "a parent without fields stays owned",
        find: "  return Object.keys(others).length === 0 ? undefined : others;",
        replace: "  return others;",
      },
    ],
  },
  {
    file: "lib/apply/dry-run.ts",
    tests: stories,
    faults: [
      {
        what: "an object that cannot be read loses its ignored fields",
        find: "  if (rules.ignore.pathsFor(tried).length === 0) return",
        replace: "  if (rules.ignore.pathsFor(tried).length >= 0) return",
        named: "its account may not read",
      },
      {
        what: "a migration hides a field that the applied version lacks",
        find: "if (elsewhere !== undefined && isAboutFields(elsewhere)) return undefined;",
        replace: "if (elsewhere?.code === 0) return undefined;",
        named: "MigrateAPIVersion",
      },
    ],
  },
  {
    file: "lib/apply/drifted.ts",
    tests: stories,
    faults: [
      {
        what: "an ignored field counts as drift of what we own",
        find: "fieldsV1: ownedButIgnored(fields.fieldsV1 ?? {}, object, ignored) }",
        replace: "fieldsV1: ownedButIgnored(fields.fieldsV1 ?? {}, object, []) }",
        named: "a difference in them alone causes no apply",
      },
    ],
  },
  {
    file: "lib/apply/set/apply-rules.ts",
    tests: ["test/unit/apply/takeover.test.ts"],
    faults: [
      {
        what: "override-manager must name a manager in full",
        find: "overrideManagers.some((name) => manager.startsWith(name))",
        replace: "overrideManagers.some((name) => manager === name)",
      },
    ],
  },
  {
    file: "lib/apply/plan-objects.ts",
    tests: ["test/unit/apply/plan-objects.test.ts"],
    faults: [
      {
        what: "a field error is left to a later stage",
        find: "    if (error === undefined || isAboutFields(error)) return false;\n",
        replace: "    if (error === undefined) return false;\n",
      },
      {
        what: "an object waits for its own stage",
        find: "        stageIndex(other) < stageIndex(one) &&\n",
        replace: "",
      },
      {
        what: "an object whose new kind is not served yet is refused",
        find: "      return missing !== undefined && isStillUnserved(judged) ?",
        replace: "      return missing === undefined && isStillUnserved(judged) ?",
      },
    ],
  },
  {
    file: "lib/apply/refusals.ts",
    tests: ["test/unit/apply/plan-objects.test.ts"],
    faults: [
      {
        what: "an object waits for a kind that no definition brings",
        find: '  return isPromised === true && error?.reason === "NoMatch";',
        replace: '  return error?.reason === "NoMatch";',
      },
    ],
  },
  {
    file: "lib/apply/apply-object.ts",
    tests: ["test/unit/apply/apply-object.test.ts"],
    faults: [
      {
        what: "an API server that does not serve a new kind at the write fails the run",
        find: "  return isUnserved(desired, error)\n",
        replace: "  return isUnserved(desired, undefined)\n",
      },
      {
        what: "replace has no dry run of the successor",
        find: `  await assertRecreatable(desired, deps, signal);
`,
        replace: "",
      },
      {
        what: "an outdated payload is not made again",
        find: "      if (!isStale || tries === maxTries) throw error;\n      await deps.clock.sleep(5 * 2 ** tries, signal);\n      payload =",
        replace:
          "      if (!isStale || tries < maxTries) throw error;\n      await deps.clock.sleep(5 * 2 ** tries, signal);\n      payload =",
        tests: stories,
        named: "between the plan and the apply",
      },
      {
        what: "a takeover sends the planned payload",
        find: "change.takeover === undefined ? change.payload : undefined",
        replace: "change.payload",
        tests: stories,
        named: "that kubectl has edited",
      },
      {
        what: "replace deletes without uid",
        find: "await cluster.delete(desired.ref, preconditionsOf(live.metadata), signal);",
        replace: 'await cluster.delete(desired.ref, { propagation: "Background" }, signal);',
      },
    ],
  },
  {
    file: "lib/apply/desired-objects.ts",
    tests: ["test/unit/apply/desired-objects.test.ts"],
    faults: [
      {
        what: "the digest of a manifest is computed from its text",
        find: "keyedDigest(key, canonicalJson(manifest))",
        replace: "canonicalJson(manifest)",
      },
    ],
  },
  {
    file: "lib/apply/set/live-objects.ts",
    tests: ["test/unit/apply/set/live-objects.test.ts"],
    faults: [
      {
        what: "objects that are read one by one are kept with their content",
        find: "return found && { apiVersion: found.apiVersion, kind: found.kind, metadata: found.metadata };",
        replace: "return found;",
      },
    ],
  },
  {
    file: "lib/apply/plan.ts",
    tests: ["test/unit/apply/plan.test.ts"],
    faults: [
      {
        what: "a check skips an object that was not applied in this form",
        find: 'return entry.desired === proofDigest(desired, ignored, installationKey) ? { kind: "drifted", entry } : change;',
        replace: 'return entry.desired !== ignored.join() ? { kind: "drifted", entry } : change;',
      },
      {
        what: "a check skips an object that was only planned",
        find: 'if (!isLook || !isRewrite || entry?.state !== "live") return change;',
        replace: "if (!isLook || !isRewrite || entry === undefined) return change;",
      },
      {
        what: "proof ignores version",
        find: `    entry.version === desired.ref.version &&
`,
        replace: "",
      },
      {
        what: "proof ignores fingerprint",
        find: `    entry.fingerprint === fingerprint(live.managedFields, installationKey, rules.style) &&
`,
        replace: `    installationKey !== undefined &&
`,
      },
      {
        what: "proof ignores deletionTimestamp",
        find: `    live.deletionTimestamp === undefined &&
`,
        replace: "",
      },
      {
        what: "a finished Job of another digest counts as done",
        find: "  if (entry.desired !== proofDigest(desired, ignored, installationKey)) return undefined;\n",
        replace: "",
      },
      {
        what: "a Job deleted by its TTL is never created again",
        find: "(deps.isAwaited ? ended(desired, entry, deps) : undefined)",
        replace: "ended(desired, entry, deps)",
      },
    ],
  },
  {
    file: "lib/apply/takeover.ts",
    tests: ["test/unit/apply/takeover.test.ts"],
    faults: [
      {
        what: "ssa: Merge on the live object ignored",
        find: "const isLeft = isMerged(live) || isMerged(desired);",
        replace: "const isLeft = isMerged(desired);",
      },
      {
        what: "takeover patch without version guard",
        find: "patch: [...patch, ...guard], migrates",
        replace: "patch, migrates",
      },
      {
        what: "managed fields migrate without the gate",
        find: "const migrates = rules.migratesApiVersion && managedFields.some(",
        replace: "const migrates = managedFields.some(",
      },
    ],
  },
];
