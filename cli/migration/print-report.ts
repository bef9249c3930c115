import { isDeepStrictEqual } from "node:util";
import { someOf } from "../../lib/core/cut-text.ts";
import type { JsonObject } from "../../lib/core/json.ts";
import { deploymentsList } from "./facts.ts";
import type { FoundFlag } from "./flags.ts";
import type { MigrationReport } from "./report.ts";

/** What the report writes to: a terminal. */
type Lines = Readonly<Record<"action" | "failure" | "out" | "success" | "warning", (text: string) => void>>;

/** Objects that a line names; the others are counted. -o json has all. */
const maxNamed = 5;

/** Flags that Flux's own manifests set. */
const usualFlags: ReadonlySet<string> = new Set([
  ...["enable-leader-election", "events-addr", "log-encoding", "log-level", "storage-adv-addr", "storage-path"],
]);

/** The report for people: its findings as lines, and what can be pasted as the result. */
export function printMigration(report: MigrationReport, terminal: Lines): void {
  if (report.fault !== undefined) return;
  printControllers(report, terminal);
  printObjects(report, terminal);
  printFlags(report, terminal);
  printNeeds(report, terminal);
  printDifferences(report, terminal);
  if (report.unread.length > 0) terminal.warning("what follows lacks what could not be read: do not paste it yet");
  terminal.out(pasted(report));
}

function printControllers({ controllers, unread }: MigrationReport, { action, success, warning }: Lines): void {
  action("controllers, which have to stop before Sluice starts");
  const areRead = unread.every(({ what }) => what !== deploymentsList);
  if (!areRead) warning("not known, since the Deployments could not be read; nor are their flags");
  else if (controllers.length === 0) warning("none found, so their flags are unknown");
  for (const { deployment, name, namespace, replicas, version } of controllers) {
    const state = replicas === 0 ? "stopped" : `${replicas} ${replicas === 1 ? "replica" : "replicas"}`;
    success(`${name}${version === "" ? "" : ` ${version}`}, ${state} (Deployment/${namespace}/${deployment})`);
  }
}

function printObjects({ refused, takenOver, unreconciled, unread }: MigrationReport, terminal: Lines): void {
  const { action, failure, success } = terminal;
  action("objects");
  for (const { count, kind } of takenOver)
    success(`${kind}: ${count} taken over as ${count === 1 ? "it is" : "they are"}`);
  for (const { kind, message, name, namespace } of refused) failure(`${kind}/${namespace}/${name}: ${message}`);
  for (const { count, fault = "", kind, objects } of unreconciled) {
    if (count === null) failure(`${kind}: not known, they cannot be listed: ${fault}`);
    else
      failure(`${kind}: ${count} not reconciled by Sluice (${named(objects, count)}): leave them to their controller`);
  }
  for (const { fault, what } of unread) failure(`${what}: not read, so it is unknown: ${fault}`);
}

function named(objects: readonly string[], count = objects.length): string {
  return someOf(
    [...objects, ...Array.from({ length: count - objects.length }, () => "")],
    Math.min(maxNamed, objects.length),
  );
}

function printFlags({ flags }: MigrationReport, { action, failure, success, warning }: Lines): void {
  if (flags.length === 0) return;
  action("flags of the controllers");
  const usual = flags.filter(
    ({ flag, verdict }) => verdict === "default" || (verdict === "noEffect" && usualFlags.has(flag)),
  );
  if (usual.length > 0) success(`nothing to do for ${usual.map(({ flag }) => shownFlag(flag)).join(", ")}`);
  for (const found of flags.filter((one) => !usual.includes(one))) {
    const { reason = "", verdict } = found;
    const subject = `${shownFlag(found.flag)} of ${found.controllers.join(", ")}`;
    if (verdict === "refused") failure(`${subject}: not honoured: ${reason}`);
    else if (verdict === "noEffect") warning(`${subject}: without effect: ${reason}`);
    else if (reason === "") success(`${subject}: ${becomes(found)}`);
    else warning(`${subject}: ${becomes(found)}; ${reason}`);
  }
}

function becomes({ flag }: FoundFlag): string {
  return `becomes the setting ${flag.split(".").join(": ")}`;
}

function shownFlag(flag: string): string {
  const [name = "", gate] = flag.split(".");
  return gate === undefined ? `--${name}` : `gate ${gate}`;
}

function printNeeds({ needs }: MigrationReport, { action, warning }: Lines): void {
  if (needs.length === 0) return;
  action("what to prepare");
  for (const { objects, text } of needs) warning(`${named(objects)}: ${text}`);
}

function printDifferences({ differences }: MigrationReport, { action, warning }: Lines): void {
  if (differences.length === 0) return;
  action("what differs from the first day on");
  for (const { see, text } of differences) warning(`${text} (${see})`);
}

function pasted({ fluxSettings, installation, settings }: MigrationReport): string {
  return [
    block('"context" of cdk.json', installation),
    block('"settings" in the context of cdk.json, and a file for sluice local --config', settings),
    isDeepStrictEqual(fluxSettings, settings)
      ? ""
      : block("the same, plus settings that restore Flux's behaviour where Sluice differs", fluxSettings),
  ].join("");
}

function block(title: string, document: JsonObject): string {
  return Object.keys(document).length === 0 ? "" : `\n# ${title}\n${JSON.stringify(document, undefined, 2)}\n`;
}
