import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { controllerOf, isUnreconciled } from "../../../lib/api/kinds/unreconciled.ts";

const page = await readFile(join(import.meta.dirname, "../../../docs/moving-from-flux.md"), "utf8");

/** Every kind of Flux 2.9 and of Flagger 1.44 that a controller reconciles. */
const kindsByGroup: Readonly<Record<string, readonly string[]>> = {
  "flagger.app": ["AlertProvider", "Canary", "MetricTemplate"],
  "helm.toolkit.fluxcd.io": ["HelmRelease"],
  "image.toolkit.fluxcd.io": ["ImagePolicy", "ImageRepository", "ImageUpdateAutomation"],
  "kustomize.toolkit.fluxcd.io": ["Kustomization"],
  "notification.toolkit.fluxcd.io": ["Alert", "Provider", "Receiver"],
  "source.extensions.fluxcd.io": ["ArtifactGenerator"],
  "source.toolkit.fluxcd.io": ["Bucket", "GitRepository", "HelmChart", "HelmRepository", "OCIRepository"],
};
const all = Object.entries(kindsByGroup).flatMap(([group, kinds]) => kinds.map((kind) => ({ group, kind })));
const left = all.filter((kind) => isUnreconciled(kind, declaredKinds));
/** The controllers of Flux that Sluice takes the place of. */
const replaced = new Set<string>(declaredKinds.map(({ eventSource }) => eventSource));
/** `a, b and c` as a list. */
const listed = (text: string): readonly string[] =>
  text
    .trim()
    .split(/,\s+|\s+and\s+/)
    .filter((each) => each !== "")
    .toSorted();

test("the guide to move from Flux lists the kinds that Sluice does not reconcile, each with its controller", () => {
  const [, table = ""] = /\| kinds \| reconciled by \|.*\n\|[- |]+\n((?:\|.*\n)+)/.exec(page) ?? [];
  const rows = table
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [, kinds = "", controller = ""] = line.split("|").map((cell) => cell.trim());
      return listed(kinds).map((kind) => `${kind} by ${controller}`);
    });
  expect(rows.toSorted()).toEqual(left.map((kind) => `${kind.kind} by ${controllerOf(kind) ?? "?"}`).toSorted());
});

test("the guide to move from Flux says for each controller whether to scale it down, by the kinds that Sluice reconciles", () => {
  const [, kept = ""] = /\*\*Do not scale down\*\* ([^:]+):/.exec(page) ?? [];
  const others = new Set(left.flatMap((kind) => controllerOf(kind) ?? []).filter((name) => !replaced.has(name)));
  expect(listed(kept)).toEqual([...others].toSorted());
  const stopped = [...page.matchAll(/scale deployment ([a-z -]+?) --replicas=0/g)].flatMap(([, names = ""]) =>
    names.split(" "),
  );
  expect(stopped.toSorted()).toEqual([...replaced].toSorted());
});

test("the guide to move from Flux names the kinds that Sluice reconciles", () => {
  const [, honoured = ""] = /^Sluice honours ([^;]+), as of Flux/m.exec(page) ?? [];
  expect(listed(honoured)).toEqual(declaredKinds.map(({ kind }) => kind).toSorted());
});

test.each(["what its first run does", "before Flux starts"])(
  "the guide's table of %s has a row for each kind that Sluice reconciles",
  (heading) => {
    const [, rows = ""] = new RegExp(`^\\| kind \\| ${heading} .*\n\\|[- |]+\n((?:\\|.*\n)+)`, "m").exec(page) ?? [];
    const kinds = rows.split("\n").flatMap((line) => listed(line.split("|")[1] ?? ""));
    expect(kinds.toSorted()).toEqual(declaredKinds.map(({ kind }) => kind).toSorted());
  },
);

test("every controller of a declared kind is the one of the kind's group in Flux", () => {
  for (const kind of declaredKinds) expect(controllerOf(kind)).toBe(kind.eventSource);
});
