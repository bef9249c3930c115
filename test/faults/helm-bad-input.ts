import type { FileFaults } from "./fault.ts";

/** Mistakes in what is said and done about bad charts, values and release Secrets. */
export const helmBadInputFaults: readonly FileFaults[] = [
  {
    file: "lib/helm/schema-fault.ts",
    tests: ["test/unit/helm/schema-fault.test.ts"],
    faults: [
      {
        what: "a message about a schema quotes the value of a Secret",
        find: "const shownText = isHidden ? withoutValue(text, hidesPaths) : text;",
        replace: "const shownText = isHidden && hidesPaths ? withoutValue(text, hidesPaths) : text;",
      },
      {
        what: "a message about a schema quotes a value of unknown origin beside a Secret",
        find: "isUnsure || origins.length === 0 || origins.some(isSecret)",
        replace: "isUnsure || origins.some(isSecret)",
      },
      {
        what: "a message about a subchart quotes the value of a Secret for another one of the same name",
        find: "keepsFormer || (at !== undefined && mayBeOf(at))",
        replace: "keepsFormer",
        named: "for a subchart",
      },
      {
        what: "a message about a list of a subchart quotes the value of a Secret for another one of the same name",
        find: '.replaceAll(/\\[(\\d+)\\]/g, ".$1")',
        replace: "",
        named: "for an item of a list",
      },
      {
        what: "global values are looked up below the subchart",
        find: 'at && (at[0] === "global" ? at : [...within, ...at])',
        replace: "at && [...within, ...at]",
      },
    ],
  },
  {
    file: "lib/engine/helm-mends.ts",
    tests: ["test/unit/engine/helm-mends.test.ts"],
    faults: [
      {
        what: "an endless include names all its levels",
        find: "while (isRepeated(parts, at - period, period)) at += period;",
        replace: "if (isRepeated(parts, at - period, period)) at += period;",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/new-revision.ts",
    tests: ["test/e2e/helm-release/bad-charts.test.ts"],
    faults: [
      {
        what: "a chart that renders nothing deletes all objects without a word",
        find: 'if (!("kind" in planned)) warnIfEmptied(planned, ctx);',
        replace: 'if (!("kind" in planned) && plan.action === "install") warnIfEmptied(planned, ctx);',
        named: "a warning names them before the first is deleted",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/helm-release-flow.ts",
    tests: ["test/e2e/helm-release/unchanged-run.test.ts"],
    faults: [
      {
        what: "each run that waits for a hook writes the status again",
        find: "if (pass?.wait !== undefined && pass.generation === ctx.generation) return;",
        replace: "if (pass?.wait !== undefined && pass.generation !== ctx.generation) return;",
        named: "releases whose hooks take 60 s",
      },
    ],
  },
  {
    file: "lib/helm/release-secrets.ts",
    tests: ["test/unit/helm/release-secrets.test.ts"],
    faults: [
      {
        what: "a message shows a former value whose path is no longer set",
        find: "setters.length === 0 || setters.some(isSecret)",
        replace: "setters.some(isSecret)",
      },
      {
        what: "a message shows a value of a Secret inside the base64 of a login",
        find: "return [0, 1, 2].map(",
        replace: "return [0].map(",
      },
      {
        what: "a message shows a value of a Secret that urlquery has written",
        find: "inUrl, goQuery(inUrl)]",
        replace: "inUrl]",
      },
      {
        what: "a preview cuts a long value",
        find: "Object.assign((text: string) => mask(cutMessage(text)), { whole: mask })",
        replace:
          "Object.assign((text: string) => mask(cutMessage(text)), { whole: (text: string) => mask(cutMessage(text)) })",
      },
      {
        what: "a message hides the word true",
        find: '["true", "false", "null"]',
        replace: '["false", "null"]',
      },
      {
        what: "a message shows the keys that the text of a Secret sets",
        find: "isElsewhere(path, reference) ? path.split",
        replace: "!isElsewhere(path, reference) ? path.split",
      },
      {
        what: "a message is shown although it was not searched for all values",
        find: "if (sought.length > maxSecretTexts ||",
        replace: "if (sought.length > 2 * maxSecretTexts ||",
      },
    ],
  },
  {
    file: "lib/manifests/secrets.ts",
    tests: ["test/unit/helm/release-secrets.test.ts"],
    faults: [
      {
        what: "a message shows the beginning of a value that go-yaml has cut",
        find: "  spans.push(...shortCuts(text, values));\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/render.ts",
    tests: ["test/e2e/helm-release/secret-values.test.ts"],
    faults: [
      {
        what: "a template shows a Secret that it has looked up",
        find: 'if (query.kind === "Secret") hideLookedUp(found, ctx);',
        replace: "if (found === undefined) hideLookedUp(found, ctx);",
        named: "looked up",
      },
      {
        what: "a template shows a former value that is kept",
        find: "former === undefined ? [] : [former.observed]",
        replace: "[]",
        named: "keeps the former values",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/hide-secrets.ts",
    tests: ["test/unit/flows/helm-release/hide-secrets.test.ts"],
    faults: [
      {
        what: "a chart that cannot be read takes the place of the failure that is shown",
        find: "    run.signal.throwIfAborted();\n    return undefined;",
        replace: "    throw new Error('no values');",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/apply-objects.ts",
    tests: ["test/e2e/helm-release/bad-charts.test.ts"],
    faults: [
      {
        what: "an upgrade says of a kind that is not served what an install says",
        find: "  upgrade: (why: string) => why,",
        replace: "  upgrade: (why: string) => `unable to build kubernetes objects from release manifest: ${why}`,",
        named: "in an upgrade are named",
      },
      {
        what: "a refused object that may not be read ends the run without a status",
        find: 'unread.reason !== "Forbidden") throw unread;',
        replace: 'unread.reason === "Forbidden") throw unread;',
        named: "that it may not read",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/action-end.ts",
    tests: ["test/e2e/helm-release/killed-upgrade.test.ts"],
    faults: [
      {
        what: "a killed rollback counts for the chart that has come since",
        find: "const failed = isOfFormer ? status : {",
        replace: "const failed = isOfFormer && before === undefined ? status : {",
        named: "a rollback that has failed",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/end-revision.ts",
    tests: ["test/e2e/helm-release/secret-values.test.ts"],
    faults: [
      {
        what: "the record of a failed revision shows a value of a Secret that the API server quotes",
        find: "const message = (await hidingIn(attempt, [stored.observed]))(why);",
        replace: "const message = (await hidingIn({ ...attempt, references: [] }, []))(why);",
        named: "the API server",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/preview.ts",
    tests: ["test/e2e/cli-diff-helm.test.ts"],
    faults: [
      {
        what: "a diff shows a value of a Secret in another object",
        find: "after: after === undefined ? undefined : withoutSecrets(after, hide.whole),",
        replace: "after,",
        named: "hides a value of a Secret",
      },
      {
        what: "a diff renders without the values that an upgrade keeps",
        find: "spec.upgrade?.preserveValues === true ? deployed : undefined",
        replace: "spec.upgrade?.preserveValues === false ? deployed : undefined",
        named: "where upgrade.preserveValues keeps them",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/ongoing-action.ts",
    tests: ["test/e2e/helm-release/killed-upgrade.test.ts"],
    faults: [
      {
        what: "a killed upgrade is not recognised once its chart has moved",
        find: "mark.attempted?.ociDigest ?? attempt.chart.ociDigest",
        replace: "attempt.chart.ociDigest",
        named: "stays in the history",
      },
      {
        what: "a killed upgrade takes the post-renderers of the next one for its own",
        find: "durationMs: 0, isOfFormer: true }",
        replace: "durationMs: 0, isOfFormer: false }",
        named: "post-renderers",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/action-end.ts",
    tests: ["test/e2e/helm-release/killed-upgrade.test.ts"],
    faults: [
      {
        what: "a killed upgrade takes the values of the next one for its own",
        find: "attempted ?? { ...attempt, ociDigest: attempt.chart.ociDigest }",
        replace: "{ ...attempt, ociDigest: attempted?.ociDigest ?? attempt.chart.ociDigest }",
        named: "values that change",
      },
      {
        what: "a killed upgrade that has failed counts for the next chart",
        find: "if (!isOfFormer && end.written.length > 0) status = counted",
        replace: "if (end.written.length > 0) status = counted",
        named: "does not count",
      },
    ],
  },
];
