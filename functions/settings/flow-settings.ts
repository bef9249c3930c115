import { parseDuration } from "../../lib/core/duration.ts";
import type { FlowParts } from "../../lib/flows/kinds/kind.ts";
import type { InstalledObject, KeyParts } from "../../lib/sops/keys/key-parts.ts";
import { applyRulesOf } from "./apply-settings.ts";
import { canarySettingsOf } from "./canary-settings.ts";
import type { Settings } from "./settings.ts";
import { sshAlgorithmsOf } from "./ssh-settings.ts";

/** What the settings of an installation say to its flows. */
export function flowSettings(
  values: Settings,
): Pick<
  FlowParts,
  | "sopsIgnoreMac"
  | "applyRules"
  | "canarySettings"
  | "defaultKubeconfigAccount"
  | "defaultServiceAccount"
  | "explainHealthFailures"
  | "gates"
  | "helmIndexMaxBytes"
  | "noCrossNamespaceRefs"
  | "skipLinks"
  | "sshAlgorithms"
  | "timing"
> {
  return {
    noCrossNamespaceRefs: values["no-cross-namespace-refs"],
    skipLinks: values["skip-links"],
    helmIndexMaxBytes: values["helm-index-max-size"],
    sshAlgorithms: sshAlgorithmsOf(values),
    defaultServiceAccount: values["default-service-account"],
    defaultKubeconfigAccount: values["default-kubeconfig-service-account"],
    sopsIgnoreMac: values["sops-ignore-mac"],
    explainHealthFailures: values["explain-health-failures"],
    gates: values["feature-gates"],
    applyRules: applyRulesOf(values),
    canarySettings: canarySettingsOf(values),
    timing: {
      jitterPercentage: values["interval-jitter-percentage"],
      requeueDependencyMs: parseDuration(values["requeue-dependency"]),
      retryDelay: {
        minMs: parseDuration(values["min-retry-delay"]),
        maxMs: parseDuration(values["max-retry-delay"]),
      },
    },
  };
}

/** Flux runs in this namespace, and looks for the objects that its flags name there. */
const runtimeNamespace = "flux-system";

/** What the settings say about the keys of encrypted manifests. */
export function keySettings(values: Settings): Pick<KeyParts, "ageSecret" | "defaultAccount" | "vaultConfigMap"> {
  return {
    ageSecret: installedObject(values["sops-age-secret"]),
    vaultConfigMap: installedObject(values["sops-vault-configmap"]),
    defaultAccount: values["default-decryption-service-account"],
  };
}

function installedObject(text: string): InstalledObject | undefined {
  if (text === "") return undefined;
  const [first = "", second] = text.split("/");
  return second === undefined ? { namespace: runtimeNamespace, name: first } : { namespace: first, name: second };
}

/** Which ConfigMaps and Secrets start runs; undefined for none. */
export function configSelector(values: Settings): string | undefined {
  return values["feature-gates"].DisableConfigWatchers ? undefined : values["watch-configs-label-selector"];
}
