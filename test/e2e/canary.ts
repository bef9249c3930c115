import { createHash } from "node:crypto";
import { isJsonObject } from "../../lib/core/json.ts";
import type { Manifest } from "../../lib/core/manifest.ts";

/** How it begins: letters and digits that no quoting, escaping or URL changes, and that a cut text still has. */
const stem = "c4n4ry";
/** The value of every Secret of a story. Nothing that Sluice says or keeps may have it in any form. */
export const canary = `${stem}+5ecret/of-the=mine`;

/** A text that users without access to Secrets can read. */
export interface Told {
  /** Such as `status of Kustomization/app`. */
  readonly where: string;
  readonly text: string;
}

/** The Secret with the canary among its values; any other object, and a Secret with values that are none, as it is. */
export function withCanary(manifest: Manifest): Manifest {
  const { kind, data = {}, stringData = {} } = manifest;
  if (kind !== "Secret" || !isJsonObject(data) || !isJsonObject(stringData)) return manifest;
  return { ...manifest, stringData: { ...stringData, canary } };
}

/**
 * Where the canary is shown: in plain text, in base64, in hexadecimal digits, or as a digest by which it can be guessed.
 *
 * @param guessable texts with the canary in them whose plain SHA-256 gives it away as well
 */
export function leaks(told: Iterable<Told>, guessable: readonly string[] = []): readonly string[] {
  const forms = [...formsOf(), ...guessable.flatMap((text) => digestsOf("a text with the canary", text))];
  return [...told].flatMap(({ where, text }) =>
    forms.filter(({ pattern }) => text.includes(pattern)).map(({ name }) => `${where} has ${name}`),
  );
}

interface Form {
  readonly name: string;
  readonly pattern: string;
}

function formsOf(): readonly Form[] {
  const base64 = [0, 1, 2].map((before) => ({ name: "the canary in base64", pattern: base64At(before) }));
  const hex = Buffer.from(stem).toString("hex");
  return [
    { name: "the canary", pattern: stem },
    ...base64,
    { name: "the canary in hexadecimal digits", pattern: hex },
    { name: "the canary in hexadecimal digits", pattern: hex.toUpperCase() },
    ...digestsOf("the canary", canary),
    ...digestsOf("the canary in base64", Buffer.from(canary).toString("base64")),
  ];
}

/** What base64 makes of the stem after so many bytes modulo three, without the letters that its neighbours are in too. */
function base64At(before: number): string {
  const text = Buffer.from(`${"x".repeat(before)}${stem}`)
    .toString("base64")
    .replaceAll("=", "");
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + stem.length) * 8) / 6));
}

function digestsOf(name: string, text: string): readonly Form[] {
  const digest = createHash("sha256").update(text).digest();
  return [
    { name: `the digest of ${name}`, pattern: digest.toString("hex") },
    { name: `the digest of ${name}`, pattern: digest.toString("base64") },
  ];
}

interface Shown {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** The statuses of these objects, and all of an Event. Specs are their author's own. */
export function toldByObjects(objects: readonly Shown[]): readonly Told[] {
  return objects.map((object) => ({
    where: `${object.kind}/${object.metadata.name}`,
    text: JSON.stringify(object.kind === "Event" ? object : (object["status"] ?? null)),
  }));
}
