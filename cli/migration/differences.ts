import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { textAt, valueAt } from "../objects/read-object.ts";
import { hasField, ofKind } from "./facts.ts";

/** What Sluice does otherwise than Flux with the objects of this cluster. */
export interface Difference {
  readonly text: string;
  /** Where it is explained: a page with its section. */
  readonly see: string;
  /** The settings that restore Flux's way; absent where there are none. */
  readonly settings?: JsonObject;
}

interface Rule extends Difference {
  /** The objects that it concerns. */
  readonly concerns: (objects: readonly LiveObject[]) => readonly LiveObject[];
}

const page = "docs/differences-from-flux.md";
const all = (kind: string) => (objects: readonly LiveObject[]) => ofKind(objects, kind);
const artifacts = (objects: readonly LiveObject[]) =>
  ["OCIRepository", "GitRepository", "Bucket"].flatMap((kind) => ofKind(objects, kind));

/** @internal Exported for its tests: each names a section that exists, and settings that do. */
export const differenceRules: readonly Rule[] = [
  {
    text: "an invalid object fails a revision before anything of it is written",
    see: `${page}#81-82-86`,
    concerns: all("Kustomization"),
  },
  {
    text: "a remote base in a kustomization.yaml is refused",
    see: `${page}#47`,
    concerns: all("Kustomization"),
  },
  {
    text: "an encrypted file with a wrong message authentication code is refused",
    see: `${page}#sops`,
    settings: { "sops-ignore-mac": true },
    concerns: (objects) => ofKind(objects, "Kustomization").filter((one) => hasField(one, "decryption")),
  },
  {
    text: "links in an artifact are followed by copy, and one that leads out of it is refused",
    see: `${page}#26`,
    settings: { "skip-links": true },
    concerns: artifacts,
  },
  {
    text: "a new revision ends the wait for the health of an older one",
    see: `${page}#113`,
    settings: { "feature-gates": { CancelHealthCheckOnNewRevision: false } },
    concerns: (objects) =>
      ofKind(objects, "Kustomization").filter(
        (one) => valueAt(one, "spec", "wait") === true || hasField(one, "healthChecks"),
      ),
  },
  {
    text: "the message of a failed health check says why it has failed, after Flux's text",
    see: `${page}#104-107`,
    settings: { "explain-health-failures": false },
    concerns: (objects) =>
      ofKind(objects, "Kustomization").filter(
        (one) => valueAt(one, "spec", "wait") === true || hasField(one, "healthChecks"),
      ),
  },
  {
    text: "a run sends 8 requests at the same time to the API server, not 4",
    see: "docs/settings.md#concurrent-ssa",
    settings: { "concurrent-ssa": 4 },
    concerns: all("Kustomization"),
  },
  {
    text: "a prune keeps what is still wanted, such as a namespace with objects of another Kustomization",
    see: `${page}#96`,
    concerns: (objects) => ofKind(objects, "Kustomization").filter((one) => valueAt(one, "spec", "prune") === true),
  },
  {
    text: "a ConfigMap may name only the clusters that the installation lists for the namespace",
    see: `${page}#123`,
    concerns: (objects) =>
      ["Kustomization", "HelmRelease"]
        .flatMap((kind) => ofKind(objects, kind))
        .filter((one) => hasField(one, "kubeConfig", "configMapRef")),
  },
  {
    text: "objects of a release are applied server-side although the HelmRelease asks for the client's way",
    see: `${page}#server-side-apply-only`,
    concerns: (objects) =>
      ofKind(objects, "HelmRelease").filter(
        (one) =>
          valueAt(one, "spec", "install", "serverSideApply") === false ||
          textAt(one, "spec", "upgrade", "serverSideApply") === "disabled",
      ),
  },
  {
    text: "an uninstall keeps objects that another release or Kustomization owns",
    see: `${page}#what-an-uninstall-deletes-61`,
    concerns: all("HelmRelease"),
  },
  {
    text: "an image automation changes only the values, and never forces a push",
    see: `${page}#image-automation`,
    concerns: all("ImageUpdateAutomation"),
  },
  {
    text: "other programs cannot post events to Sluice",
    see: `${page}#alerts-and-providers`,
    concerns: all("Alert"),
  },
  {
    text: "Canaries differ from Flagger in time, safety and alerts",
    see: "docs/differences-from-flagger.md",
    concerns: all("Canary"),
  },
];

/** What differs for these objects, without what the flags of the controllers decide already. Pure. */
export function differencesOf(objects: readonly LiveObject[], flags: ReadonlySet<string>): readonly Difference[] {
  return differenceRules
    .filter(({ concerns, settings = {} }) => concerns(objects).length > 0 && !Object.keys(settings).some(isGiven))
    .map(({ see, settings, text }) => ({ text, see, ...(settings === undefined ? {} : { settings }) }));

  function isGiven(setting: string): boolean {
    return (
      flags.has(setting) || (setting === "feature-gates" && flags.has(`${setting}.CancelHealthCheckOnNewRevision`))
    );
  }
}

/** These settings with those that restore Flux's way for these differences. */
export function restoringSettings(differences: readonly Difference[], settings: JsonObject): JsonObject {
  const restoring = Object.fromEntries(differences.flatMap((one) => Object.entries(one.settings ?? {})));
  const gates = [settings["feature-gates"], restoring["feature-gates"]].filter(isJsonObject);
  return {
    ...settings,
    ...restoring,
    ...(gates.length === 0 ? {} : { "feature-gates": Object.fromEntries(gates.flatMap((one) => Object.entries(one))) }),
  };
}
