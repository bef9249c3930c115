import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";

/** Made from the recordings of real Flagger by `write-fixtures.ts`. */
const fixtures = join(import.meta.dirname, "../../fixtures/flux-canary");

const AnyObject = z.custom<JsonObject>(isJsonObject);
const Named = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const Manifest = Named.extend({
  apiVersion: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
});

const Answer = z.strictObject({
  status: z.int().exactOptional(),
  body: z.string().exactOptional(),
  delay: z.number().exactOptional(),
  destroy: z.boolean().exactOptional(),
});
export type Answer = z.infer<typeof Answer>;

/** The first rule whose `match` is in the query counts. */
const Rule = z.strictObject({
  match: z.string(),
  value: z.string().exactOptional(),
  result: z.array(AnyObject).exactOptional(),
  answer: Answer.exactOptional(),
});
export type Rule = z.infer<typeof Rule>;

const Action = z.union([
  z.strictObject({ apply: Manifest }),
  z.strictObject({ delete: Manifest }),
  /** A merge patch of KIND/NAME. */
  z.strictObject({ patch: z.string(), body: AnyObject }),
  z.strictObject({ stub: z.strictObject({ hook: z.string(), answer: Answer }) }),
  z.strictObject({ stub: z.strictObject({ prometheus: z.array(Rule) }) }),
]);
export type Action = z.infer<typeof Action>;

const Told = z.strictObject({ type: z.enum(["Normal", "Warning"]), message: z.string() });
export type Told = z.infer<typeof Told>;

const Recording = z.strictObject({
  steps: z.array(
    z.strictObject({
      step: z.string(),
      do: z.array(Action),
      flagger: z.strictObject({
        canaries: z.array(AnyObject),
        objects: z.array(Named),
        unchanged: z.array(z.string()),
        gone: z.array(z.string()),
        events: z.array(Told),
        requests: z.array(AnyObject),
      }),
    }),
  ),
});

/** What a step left: all objects of the namespace, and the events and requests that are new. */
export interface Left {
  readonly canaries: readonly JsonObject[];
  /** By KIND/NAME. */
  readonly objects: Readonly<Record<string, unknown>>;
  readonly events: readonly Told[];
  readonly requests: readonly JsonObject[];
}

export interface Step {
  readonly step: string;
  readonly do: readonly Action[];
  readonly left: Left;
}

/** A recorded scenario of real Flagger, in the namespace of its name. */
export interface Recording {
  readonly name: string;
  readonly steps: readonly Step[];
}

export async function readRecordings(): Promise<readonly Recording[]> {
  const files = (await readdir(fixtures)).filter((file) => file.endsWith(".json")).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const { steps } = Recording.parse(JSON.parse(await readFile(join(fixtures, file), "utf8")));
      return { name: file.replace(/\.json$/, ""), steps: asSluiceTakes(wholeSteps(steps)) };
    }),
  );
}

/** A recorded step shows of the objects only those that differ from the step before. */
function wholeSteps(steps: z.infer<typeof Recording>["steps"]): readonly Step[] {
  const objects = new Map<string, unknown>();
  return steps.map(
    ({ step, do: actions, flagger: { canaries, objects: changed, unchanged, gone, events, requests } }) => {
      for (const object of changed) objects.set(`${object.kind}/${object.metadata.name}`, object);
      for (const name of gone) objects.delete(name);
      const unknown = unchanged.filter((name) => !objects.has(name));
      if (unknown.length > 0) throw new Error(`${step} leaves unchanged what was never there: ${unknown.join(", ")}`);
      return { step, do: actions, left: { canaries, objects: Object.fromEntries(objects), events, requests } };
    },
  );
}

/** Flagger first notes that a Canary is new, and looks at it some seconds later; Sluice does both at once. */
function asSluiceTakes([noted, first, ...others]: readonly Step[]): readonly Step[] {
  if (noted === undefined || first === undefined) throw new Error("a recording has two steps or more");
  return [{ ...first, do: [...noted.do, ...first.do] }, ...others];
}
