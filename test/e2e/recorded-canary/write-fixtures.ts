import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { type JsonObject, isJsonObject } from "../../../lib/core/json.ts";

// node test/e2e/recorded-canary/write-fixtures.ts FOLDER: makes the fixtures of recordings of real Flagger, one folder for each scenario.

const fixtures = join(import.meta.dirname, "../../fixtures/flux-canary");

/** What Flagger logs and tells no one else. */
const isOnlyLogged =
  /^(?:(?:Service|Deployment|HTTPRoute|ConfigMap) \S+ (?:created|updated|synced)|Scaling down |Deleting |configmap \S+ has changed)/;

const AnyObject = z.custom<JsonObject>(isJsonObject);
const Named = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const Canary = Named.extend({ apiVersion: z.string(), spec: AnyObject, status: AnyObject });
const Event = z.object({ type: z.enum(["Normal", "Warning"]), message: z.string() });
const Step = z.strictObject({
  step: z.string(),
  canaries: z.array(Canary),
  objects: z.array(Named).default([]),
  unchanged: z.array(z.string()).default([]),
  gone: z.array(z.string()).default([]),
  events: z.array(Event).default([]),
  log: z.array(z.string()).default([]),
  requests: z.array(AnyObject).default([]),
});
type Step = z.infer<typeof Step>;

const [, , from = ""] = process.argv;
for (const folder of (await readdir(from)).filter((one) => one.startsWith("canary-")).toSorted()) {
  const text = `${JSON.stringify(await fixtureOf(join(from, folder)), undefined, 1)}\n`;
  await writeFile(join(fixtures, `${folder}.json`), text);
}

async function fixtureOf(folder: string): Promise<object> {
  const inputs = inputsIn(await readFile(join(folder, "input.yaml"), "utf8"));
  const files = (await readdir(folder)).filter((file) => /^\d/.test(file)).toSorted();
  const steps = [];
  let after = "nothing";
  for (const file of files) {
    const step = Step.parse(parse(await readFile(join(folder, file), "utf8")));
    const name = file.replace(/\.yaml$/, "");
    steps.push({
      step: name,
      do: inputs.filter((one) => one.after === after).map((one) => one.action),
      flagger: leftBy(step),
    });
    after = name;
  }
  return { steps };
}

function leftBy({ canaries, objects, unchanged, gone, events, log, requests }: Step): object {
  return {
    canaries: canaries.map(({ apiVersion, kind, metadata: { name, namespace }, spec, status }) => ({
      ...{ apiVersion, kind, metadata: { name, namespace }, spec, status },
    })),
    ...{ objects, unchanged, gone, events: eventsOf(events, log), requests },
  };
}

/** From the log, since client-go combines the events of one object from the eleventh text on. */
function eventsOf(events: Step["events"], log: readonly string[]): readonly object[] {
  const told = log.flatMap((line) => {
    const [, text = ""] = /^info: (.*)$/s.exec(line) ?? [];
    return text === "" || isOnlyLogged.test(text) ? [] : [text];
  });
  const plain = events.map(({ type, message }) => ({ type, message: message.replace(/^\(combined[^)]*\): /, "") }));
  const missing = plain.find(({ message }) => !told.includes(message));
  if (missing !== undefined) throw new Error(`an event that the log does not have: ${missing.message}`);
  return told.map((message) => ({ type: plain.find((one) => one.message === message)?.type ?? "Normal", message }));
}

/** The comment before a document says after which step it was done, and how. */
function inputsIn(text: string): readonly { readonly after: string; readonly action: object }[] {
  return text.split(/^---\n/m).map((document) => {
    const [, after = "", how = ""] = /^# after (\S+): (.*)$/m.exec(document) ?? [];
    return { after, action: actionOf(how, parse(document)) };
  });
}

function actionOf(how: string, content: unknown): object {
  const [, patched] = /merge patch of (\S+)$/.exec(how) ?? [];
  if (patched !== undefined) return { patch: patched, body: content };
  if (how === "stub") return { stub: content };
  if (how === "delete" || how === "apply") return { [how]: content };
  throw new Error(`an input of an unknown kind: ${how}`);
}
