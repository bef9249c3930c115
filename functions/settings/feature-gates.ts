import { z } from "zod";
import { defaultGates, type FeatureGates, type GateName } from "../../lib/core/feature-gates.ts";
import { isJsonObject } from "../../lib/core/json.ts";
import { nearestName } from "./nearest-name.ts";

/** What users read about a gate. */
interface GateText {
  readonly flux: boolean;
  /** What it does, a sentence or two. */
  readonly description: string;
  /** The only value that Sluice takes, where it has no choice, and why as a part of a sentence. */
  readonly only?: { readonly value: boolean; readonly why: string };
}

const always = (value: boolean, why: string) => ({ value, why });

/** Feature gates of Flux's kustomize-controller, and those that its source- and notification-controller share with it. */
export const gateTexts: Readonly<Record<string, GateText>> = {
  AdditiveCELDependencyCheck: {
    flux: false,
    description: "A dependency with `readyExpr` must also pass the built-in check.",
  },
  CacheSecretsAndConfigMaps: {
    flux: false,
    description: "Reads ConfigMaps and Secrets from a cache.",
    only: always(false, "ConfigMaps and Secrets are read from the API server in each run"),
  },
  CancelHealthCheckOnNewRevision: {
    flux: false,
    description: "A new revision ends the wait for the health of an older one.",
  },
  DirectSourceFetch: {
    flux: false,
    description: "Reads sources from the API server and not from a cache.",
    only: always(true, "sources are read from the API server in each run"),
  },
  DisableChartDigestTracking: {
    flux: false,
    description:
      "A new digest of an OCIRepository or ExternalArtifact does not upgrade a HelmRelease if the version of the chart is the same.",
  },
  DisableConfigWatchers: {
    flux: false,
    description: "A change of a ConfigMap or Secret starts no run, whatever `watch-configs-label-selector` says.",
  },
  DisableFailFastBehavior: {
    flux: false,
    description: "A failed object does not end the wait for the others.",
  },
  DisableStatusPollerCache: {
    flux: true,
    description: "Health checks read each object, and do not list its kind.",
    only: always(true, "health checks read each object from the API server"),
  },
  ExternalArtifact: {
    flux: false,
    description:
      "A Kustomization may name an ExternalArtifact as its source. An ArtifactGenerator or another program makes such an artifact.",
  },
  GroupChangeLog: {
    flux: false,
    description: "Groups the changed objects of a run by kind in the log.",
    only: always(false, "a log line lists the changed objects of a run one by one"),
  },
  MigrateAPIVersion: {
    flux: false,
    description:
      "An apply first moves all managed fields of the object to the API version that it applies, also those of other managers. Use it if the API server refuses applies with `field not declared in schema` after a definition got a version with new defaults.",
  },
  ObjectLevelWorkloadIdentity: {
    flux: false,
    description:
      "`spec.decryption.serviceAccountName` of a Kustomization may name a service account whose identity decrypts. The ConfigMap of `spec.kubeConfig.configMapRef` may name one that logs in to the cluster. Sources do not use such an identity: `spec.serviceAccountName` with a provider is refused also with the gate.",
  },
  StrictPostBuildSubstitutions: {
    flux: true,
    description:
      "A variable without a value and a default fails the build. With the gate off it is replaced by empty text.",
  },
} satisfies Readonly<Record<GateName, GateText>> & Readonly<Record<string, GateText>>;

/**
 * The gates of an installation: a mapping of names to true or false, or Flux's text `Name=true,Other=false`. A gate that is not
 * known, or that has a value Sluice does not take, is a fault.
 */
export const FeatureGateSettings = z
  .custom<string | Readonly<Record<string, boolean>>>(
    (value) => typeof value === "string" || isJsonObject(value),
    "must be a mapping of gates to true or false, or text such as ExternalArtifact=true",
  )
  .transform((given, context): FeatureGates => {
    const values: Record<string, unknown> = typeof given === "string" ? fromText(given) : given;
    for (const [name, value] of Object.entries(values)) {
      const message = faultOf(name, value);
      if (message !== undefined) context.addIssue({ code: "custom", message, path: [name] });
    }
    return { ...defaultGates, ...Object.fromEntries(Object.entries(values).filter(isHonoured)) };
  });

/** The gates of Flux's text form; as in Flux the last one of a name counts. */
function fromText(text: string): Readonly<Record<string, unknown>> {
  const pairs = text.split(",").map((pair) => pair.trim());
  return Object.fromEntries(
    pairs
      .filter((pair) => pair !== "")
      .map((pair) => {
        const [name = "", ...value] = pair.split("=");
        return [name.trim(), booleanOf(value.join("=").trim())];
      }),
  );
}

/** As Go's ParseBool reads it; undefined for any other text. */
function booleanOf(text: string): boolean | undefined {
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

function faultOf(name: string, value: unknown): string | undefined {
  if (!Object.hasOwn(gateTexts, name)) {
    const near = nearestName(name, Object.keys(gateTexts));
    const mend = near === undefined ? "remove it, or see docs/settings.md for the settings" : `did you mean ${near}?`;
    return `is not a feature gate: ${mend}`;
  }
  if (typeof value !== "boolean") return "must be true or false";
  const only = gateTexts[name]?.only;
  return only === undefined || only.value === value ? undefined : `can only be ${only.value}: ${only.why}`;
}

function isHonoured(entry: readonly [string, unknown]): entry is [GateName, boolean] {
  return Object.hasOwn(defaultGates, entry[0]);
}
