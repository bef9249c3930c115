import { z } from "zod";
import { withoutMends } from "../../doubles/without-mends.ts";

const Anything = z.record(z.string(), z.unknown());

/**
 * An object or event without what differs from run to run: times, addresses, durations, and the digests of the pushed image
 * and its archive, which hold compressed bytes of another implementation. The digest in a history entry stays: it is over
 * the built text, and has to be Flux's where it is not under a key.
 */
export function comparable(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => comparable(item, key));
    if (key === "managedFields") return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    // Controllers report different objects at the same time; the events of one object are in order.
    return key === "events" && items.every((item) => Told.safeParse(item).success)
      ? items.filter(isTold).toSorted((a, b) => compareText(aboutOf(a), aboutOf(b)))
      : items;
  }
  if (typeof value === "string") return comparableText(value);
  const fields = Anything.safeParse(value);
  if (!fields.success) return value;
  const kept = Object.entries(fields.data).filter(
    ([name]) => !dropped.has(name) && !(artifacts.has(key) && ofArchive.has(name)),
  );
  return Object.fromEntries(kept.map(([name, field]) => [name, comparable(field, name)]));
}

const Told = z.object({ object: z.string(), type: z.string(), reason: z.string() });

function aboutOf(event: unknown): string {
  return Told.parse(event).object;
}

/**
 * Leaves out events that the notification controller does not send: that nothing is new (each checks at its own times, so not
 * equally often), housekeeping, and a failure that is reported twice.
 */
function isTold(event: unknown): boolean {
  const { type, reason } = Told.parse(event);
  if (reason === "ArtifactUpToDate" || reason === "GarbageCollectionSucceeded") return false;
  return !(type === "Normal" && reason === "AuthenticationFailed");
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

const dropped = new Set([
  "creationTimestamp",
  "fieldsType",
  "fieldsV1",
  "firstReconciled",
  "lastReconciled",
  "lastReconciledDuration",
  "lastTransitionTime",
  "lastUpdateTime",
  "org.opencontainers.image.created",
  "resourceVersion",
  "source.toolkit.fluxcd.io/digest",
  "time",
  "uid",
]);
const artifacts = new Set(["artifact", "includedArtifacts"]);
/** Sluice serves no artifacts over HTTP; the rest depends on how well the archive is compressed. */
const ofArchive = new Set(["digest", "size", "url"]);

function comparableText(text: string): string {
  return (
    withoutMends(text)
      .replace(/@sha256:[0-9a-f]{64}/g, "@sha256:<digest>")
      .replace(/^hmac-sha256:[0-9a-f]{64}$/, "hmac-sha256:<keyed>")
      .replace(/sha256:[0-9a-f]{64}\.tar\.gz/g, "sha256:<digest>.tar.gz")
      .replace(/oci:\/\/127\.0\.0\.1:\d+/g, "oci://<registry>")
      .replace(/^http:\/\/[^/]+\//, "http://<artifacts>/")
      .replace(/127\.0\.0\.1:\d+(?=\/(v2|golden-))/g, "<registry>")
      // What follows are the registry's own words.
      .replace(/(MANIFEST_UNKNOWN: manifest unknown); .*$/, "$1")
      // Flux names files by the folder that it unpacked the artifact in, Sluice by their path in the artifact.
      .replaceAll("<tmp>/", "")
      .replace(/(finished in|passed in|failed after) [0-9a-zµ.]+/g, "$1 <duration>")
  );
}
