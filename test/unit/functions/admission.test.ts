import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AdmissionDeps, admissionHandler, hintBurst, hintsPerSecond } from "../../../functions/admission.ts";
import { admissionPath, clusterOfPath, maxPathChars } from "../../../lib/admission/admission-path.ts";
import { maxNameChars, maxReviewBytes } from "../../../lib/admission/admission-review.ts";
import type { Look } from "../../../lib/core/ports/wake-ups.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { checkedName, webhookAnswers } from "../../../lib/definitions/admission-webhook.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const Answer = z.looseObject({ response: z.json() });
const secret = new Secret("0123456789abcdef".repeat(4));
const cluster = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const kind = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };

/** The review of an update of Kustomization `web`, with these fields of its request. */
function review(request: object = {}): string {
  const object = {
    metadata: { name: "web", uid: "u", resourceVersion: "7", generation: 2 },
    spec: { password: "hunter2" },
  };
  const asked = { kind, namespace: "apps", name: "web", operation: "UPDATE", object, oldObject: object, ...request };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "r", ...asked },
  });
}

function admissionWorld(deps: Partial<AdmissionDeps> = {}) {
  const clock = steppedClock();
  const sent: { look: Look; delayMs: number }[] = [];
  const log = recordedLog();
  const metrics = recordedMetrics();
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      wake = () => (clock.pass(ms), resolve());
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  let wake = (): void => undefined;
  const handle = admissionHandler({
    secret,
    kinds: [kind, { group: "", kind: "Secret" }],
    looks: { send: async (look, delayMs) => void sent.push({ look, delayMs }) },
    ...{ metrics, log, clock: { ...clock, sleep } },
    ...deps,
  });
  const call = async (body: string | Uint8Array, path = admissionPath(secret, cluster), method = "POST") => {
    const answer = await handle({ method, path, body: typeof body === "string" ? Buffer.from(body) : body }, never);
    return answer.status === 200 ? Answer.parse(JSON.parse(answer.body)).response : answer.status;
  };
  return { call, clock, sent, log, metrics, late: () => wake() };
}

const key = formatWorkKey({ ...keyOf("web"), cluster });
const yes = { uid: "r", allowed: true };

describe("the admission webhook", () => {
  test("allows a change and sends a hint: the object's key and its old state, but none of its content", async () => {
    const { call, sent, log, metrics } = admissionWorld();
    expect(await call(review())).toEqual(yes);
    expect(sent).toEqual([{ look: { key, tries: 0, before: { uid: "u", resourceVersion: "7" } }, delayMs: 1_000 }]);
    expect(JSON.stringify([sent, log.lines, metrics.recorded])).not.toContain("hunter2");
  });

  test.each([
    {
      name: "a creation, which has no old state",
      request: { operation: "CREATE", oldObject: null },
      look: { key, tries: 0 },
    },
    {
      name: "a creation under a generated name",
      request: { operation: "CREATE", oldObject: null, name: "" },
      look: { key, tries: 0 },
    },
    {
      name: "a deletion",
      request: { operation: "DELETE", object: null },
      look: { key, tries: 0, before: { uid: "u", resourceVersion: "7" } },
    },
    {
      name: "a Secret",
      request: { kind: { group: "", version: "v1", kind: "Secret" } },
      look: { key: `${cluster}//Secret/apps/web`, tries: 0, before: { uid: "u", resourceVersion: "7" } },
    },
  ])("sends a hint for $name", async ({ request, look }) => {
    const { call, sent } = admissionWorld();
    expect(await call(review(request))).toEqual(yes);
    expect(sent.map((one) => one.look)).toEqual([look]);
  });

  test.each<{ name: string; body: string; uid?: string }>([
    { name: "a dry run", body: review({ dryRun: true }) },
    { name: "a status", body: review({ subResource: "status" }) },
    { name: "another kind", body: review({ kind: { ...kind, kind: "Pod" } }) },
    { name: "a kind of that name in another group", body: review({ kind: { ...kind, group: "example.com" } }) },
    { name: "another operation", body: review({ operation: "CONNECT" }) },
    { name: "an object without a name", body: review({ name: "", object: null }) },
    { name: "an invalid name", body: review({ name: "a/b" }) },
    { name: "a name that is too long", body: review({ name: "n".repeat(maxNameChars + 1) }) },
    { name: "no JSON", body: "{", uid: "" },
    { name: "no review", body: "[1]", uid: "" },
    { name: "nothing", body: "", uid: "" },
    { name: "deep nonsense", body: "[".repeat(1_000_000), uid: "" },
    { name: "a body over the limit", body: review().padEnd(maxReviewBytes + 1), uid: "" },
  ])("allows $name without a hint", async ({ body, uid = "r" }) => {
    const { call, sent } = admissionWorld();
    expect(await call(body)).toEqual({ uid, allowed: true });
    expect(sent).toEqual([]);
  });

  test("reads a review up to the size limit, and a name up to its own", async () => {
    const { call, sent } = admissionWorld();
    expect(await call(review().padEnd(maxReviewBytes))).toEqual(yes);
    expect(await call(review({ name: "n".repeat(maxNameChars) }))).toEqual(yes);
    expect(sent).toHaveLength(2);
  });

  test("reports that it is reachable if a dry run asks for that", async () => {
    const { call, sent } = admissionWorld();
    expect(await call(review({ dryRun: true, name: checkedName }))).toEqual({ ...yes, warnings: [webhookAnswers] });
    expect(sent).toEqual([]);
  });

  test("answers at no other path and to no other method", async () => {
    const { call, sent } = admissionWorld();
    const path = admissionPath(secret, cluster);
    const [, , token = "", encoded = ""] = path.split("/");
    const otherToken = admissionPath(new Secret("f".repeat(64)), cluster);
    const otherCluster = `/admission/${token}/${Buffer.from("home").toString("base64url")}`;
    const paths = [
      "/",
      "/admission",
      `${path}/`,
      `${path}?a`,
      otherToken,
      otherCluster,
      `/admission/${"0".repeat(64)}/${encoded}`,
    ];
    for (const one of paths) expect([one, await call(review(), one)]).toEqual([one, 404]);
    expect(await call(review(), path, "GET")).toBe(404);
    expect(sent).toEqual([]);
    expect(clusterOfPath(secret, path.padEnd(maxPathChars + 1, "A"))).toBeUndefined();
    expect(clusterOfPath(secret, admissionPath(secret, "a/b"))).toBeUndefined();
    expect(clusterOfPath(secret, admissionPath(secret, "c".repeat(253)))).toBe("c".repeat(253));
  });

  test("allows a change whose hint fails, and does not retry", async () => {
    const { call, metrics } = admissionWorld({ looks: { send: () => Promise.reject(new Error("throttled")) } });
    expect(await call(review())).toEqual(yes);
    expect(metrics.recorded).toHaveLength(1);
  });

  test("answers in time even if the queue does not, and drops the hint", async () => {
    let stopped: AbortSignal | undefined;
    const looks = {
      send: (_: Look, __: number, signal: AbortSignal) => ((stopped = signal), new Promise<never>(() => undefined)),
    };
    const { call, late, metrics } = admissionWorld({ looks });
    const answering = call(review());
    await expect.poll(() => stopped).toBeDefined();
    late();
    expect(await answering).toEqual(yes);
    expect([stopped?.aborted, metrics.recorded.length]).toEqual([true, 1]);
  });

  test("drops the hints of a flood, allows all changes, and sends hints again a second later", async () => {
    const { call, clock, sent, metrics } = admissionWorld();
    for (let count = 0; count < hintBurst + 10; count++) expect(await call(review())).toEqual(yes);
    expect([sent.length, metrics.recorded.length]).toEqual([hintBurst, 10]);
    clock.pass(1_000);
    for (let count = 0; count < hintBurst; count++) await call(review());
    expect(sent).toHaveLength(hintBurst + hintsPerSecond);
  });
});
