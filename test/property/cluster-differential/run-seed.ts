import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import { random } from "../../unit/queue/simulator/random.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "./api-server.ts";
import { firstDifference } from "./first-difference.ts";
import { type Normalised, normalise } from "./normalise.ts";
import { type Step, stepOf } from "./steps.ts";
import { baseCount, type Subject, subjectOf } from "./subjects.ts";

/** The two servers that get the same requests. */
export interface Pair {
  readonly real: ApiServer;
  readonly embedded: ApiServer;
  readonly namespace: string;
  /** Makes names of cluster-scoped things unique to this run. */
  readonly run: string;
  /** Whether controllers write to the objects of the real server meanwhile. */
  readonly withControllers: boolean;
}

export interface Found {
  readonly seed: number;
  readonly step: number;
  readonly kind: string;
  readonly operation: string;
  readonly request: ApiRequest;
  /** The first difference of the answers: its path, and the value of each server. */
  readonly path: string;
  readonly real: Json | undefined;
  readonly embedded: Json | undefined;
}

export interface SeedRun {
  readonly steps: number;
  readonly found: readonly Found[];
}

const stepsPerSeed = 8;

/**
 * Sends both servers the same requests about one object. A difference that leaves them with different objects ends the
 * sequence; one between two refusals does not.
 */
export async function runSeed(pair: Pair, seed: number): Promise<SeedRun> {
  const chance = random(seed);
  const subject = subjectOf(seed % baseCount, `${pair.run}-s${seed}`, pair.namespace, `${pair.run}.example.com`);
  const lives: { real: JsonObject | undefined; embedded: JsonObject | undefined } = {
    real: undefined,
    embedded: undefined,
  };
  const found: Found[] = [];
  let steps = 0;
  try {
    for (; steps < stepsPerSeed; steps++) {
      const step = stepOf(chance.int(0, 2 ** 30), subject, steps === 0, pair.withControllers && subject.isControlled);
      const [real, embedded] = await Promise.all([
        ask(pair.real, step, lives.real),
        ask(pair.embedded, step, lives.embedded),
      ]);
      const [a, b] = [normalise(real.answer, pair.withControllers), normalise(embedded.answer, pair.withControllers)];
      const difference = firstDifference({ message: messageOf(a), ...a }, { message: messageOf(b), ...b });
      if (difference !== undefined) {
        found.push({
          seed,
          step: steps,
          kind: subject.kind,
          operation: step.name,
          request: real.request,
          ...difference,
        });
        if (a.status < 400 || b.status < 400) break;
      }
      lives.real = await readLive(pair.real, subject);
      lives.embedded = await readLive(pair.embedded, subject);
    }
  } finally {
    await Promise.all([remove(pair.real, subject), remove(pair.embedded, subject)]);
  }
  return { steps, found };
}

async function ask(
  server: ApiServer,
  step: Step,
  live: JsonObject | undefined,
): Promise<{ readonly request: ApiRequest; readonly answer: ApiAnswer }> {
  const request = step.request(live);
  return { request, answer: await server.send(request) };
}

function messageOf({ status, body }: Normalised): string {
  return isJsonObject(body) && typeof body["message"] === "string" ? body["message"] : `status ${status}`;
}

/** The object as it is now, its fields in an order that both servers share. */
async function readLive(server: ApiServer, subject: Subject): Promise<JsonObject | undefined> {
  const { status, body } = await server.send({ method: "GET", path: `${subject.collection}/${subject.name}` });
  if (status !== 200) return undefined;
  const live: Json = JSON.parse(canonicalJson(body));
  return isJsonObject(live) ? live : undefined;
}

async function remove(server: ApiServer, { collection, name, kind }: Subject): Promise<void> {
  const path = `${collection}/${name}`;
  const { status } = await server.send({
    method: "DELETE",
    path,
    body: { propagationPolicy: "Background", gracePeriodSeconds: 0 },
  });
  if (status !== 200 || kind === "Namespace") return;
  await server.send({
    method: "PATCH",
    path,
    contentType: "application/merge-patch+json",
    body: { metadata: { finalizers: null } },
  });
}
