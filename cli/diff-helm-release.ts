import { parseHelmRelease } from "../lib/api/helm-release.ts";
import { declaredHelmRelease } from "../lib/api/kinds/helm-release.ts";
import { formatJson, type Json } from "../lib/core/json.ts";
import { hiddenValue } from "../lib/core/known-words.ts";
import { subject, type VersionedRef } from "../lib/core/object-ref.ts";
import type { HelmEngine } from "../lib/core/ports/helm-engine.ts";
import { asTarget } from "../lib/core/ports/home-and-target.ts";
import type { FieldChange } from "../lib/flows/helm-release/actions/field-changes.ts";
import { type Preview, type PreviewedObject, previewRelease } from "../lib/flows/helm-release/actions/preview.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { EndsWith } from "./exit-code.ts";
import { readSpecValues } from "./get-values.ts";
import { packLocalChart } from "./local-chart.ts";
import { loadObject } from "./reconcile-object.ts";
import type { Session } from "./session.ts";

export interface DiffOptions {
  /** A folder, or a packed chart. */
  readonly chart: string;
}

const concurrency = 8;

/**
 * `diff helmrelease`: prints what the release would change in the cluster with this chart, object by object, and writes nothing. As with
 * `flux diff`, changes end the command with 1, an error with 2.
 */
export async function diffHelmRelease(
  name: string,
  { chart }: DiffOptions,
  session: Session,
  helm: Pick<HelmEngine, "observe" | "prepare" | "render">,
): Promise<void> {
  const { terminal } = session;
  const preview = await previewOf(name, chart, session, helm).catch((error: unknown) => {
    throw new EndsWith(2, error);
  });
  for (const { events, ref } of preview.hooks) terminal.out(`► ${subject(ref)} runs as ${events.join(", ")} hook\n`);
  for (const object of preview.objects) terminal.out(linesOf(object));
  const refused = preview.objects.flatMap(({ change }) => (change.kind === "refused" ? [change.message] : []));
  if (refused.length > 0) throw new EndsWith(2, new Error(refused.join("\n")));
  if (preview.objects.every(({ change }) => change.kind === "unchanged")) {
    terminal.success(`no changes: this chart leaves all objects of HelmRelease ${name} as they are`);
    return;
  }
  terminal.warning("identified at least one change, exiting with non-zero exit code");
  throw new EndsWith(1);
}

async function previewOf(
  name: string,
  path: string,
  session: Session,
  helm: Pick<HelmEngine, "observe" | "prepare" | "render">,
): Promise<Preview> {
  const { cluster, namespace, signal } = session;
  const { spec } = parseHelmRelease(await loadObject(declaredHelmRelease, name, session));
  if (spec.kubeConfig !== undefined) throw new Error("diff not supported for remote clusters");
  const [chart, values] = await Promise.all([packLocalChart(path, spec, signal), readSpecValues(spec, session)]);
  const deps = {
    target: asTarget({ ...cluster, version: session.serverVersion }),
    helm,
    clock: systemClock,
    concurrency,
  };
  return previewRelease({ name, namespace, spec, chart, values }, deps, signal);
}

/** A change of an object, with a line for each field that differs; nothing for one that stays. */
function linesOf({ change, ref }: PreviewedObject): string {
  switch (change.kind) {
    case "unchanged":
      return "";
    case "created":
    case "deleted":
      return `► ${subject(ref)} ${change.kind}\n`;
    case "refused":
      return `► ${subject(ref)} refused\n`;
    case "changed":
      return `► ${subject(ref)} changed\n${fieldsOf(change.fields, ref)}`;
  }
}

function fieldsOf(fields: readonly FieldChange[], { group, kind }: VersionedRef): string {
  const isSecret = group === "" && kind === "Secret";
  const lines = fields.map(({ after, before, path }) => {
    const shown = (value: Json): string => (isSecret && !isLabel(path) ? hiddenValue : formatJson(value));
    if (before === undefined) return `+ ${path}: ${shown(after ?? null)}`;
    return after === undefined ? `- ${path}: ${shown(before)}` : `~ ${path}: ${shown(before)} → ${shown(after)}`;
  });
  return lines.map((line) => `    ${line}\n`).join("");
}

/** For a Secret only labels are shown: kubectl's annotation has its whole content. */
function isLabel(path: string): boolean {
  return path.startsWith("/metadata/labels/");
}
