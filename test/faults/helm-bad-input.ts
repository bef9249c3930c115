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
];
