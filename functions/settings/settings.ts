import { z } from "zod";
import { isAccountName } from "../../lib/api/names.ts";
import { durationPattern, isDurationHeld, parseDuration } from "../../lib/core/duration.ts";
import { parseLabelSelector } from "../../lib/core/label-selector.ts";
import { NetworkSettings } from "../../lib/core/network/network-settings.ts";
import { CustomStageKinds, OverrideManagers } from "./apply-settings.ts";
import { canarySettingFields } from "./canary-settings.ts";
import { documented } from "./documented.ts";
import { FeatureGateSettings } from "./feature-gates.ts";
import { ServiceNamespaces } from "./service-namespaces.ts";
import { HostKeyAlgorithms, KexAlgorithms } from "./ssh-settings.ts";

/** As in Flux. */
export const defaultConfigSelector = "reconcile.fluxcd.io/watch=Enabled";

/**
 * The settings of an installation, each under the name of Flux's or Flagger's flag where there is one. All may be left out. The schema is
 * the only place that knows them: docs/settings.md and `sluice settings` are made from it.
 */
export const Settings = z
  .strictObject({
    "no-cross-namespace-refs": documented(
      {
        description:
          "For installations that several tenants share. A Kustomization whose source is in another namespace (`spec.sourceRef.namespace`) is stalled with reason `AccessDenied`. `dependsOn` and `healthChecks` may still name other namespaces. A `readyExpr` of such a dependency is refused, and so is an expression that would read such an object with Sluice's own rights. A Receiver wakes only objects of its own namespace. A Canary uses only MetricTemplates, AlertProviders and upstreams of its own namespace, and a MetricTemplate reads Keptn's objects and external metrics only there.",
        flux: "false",
        since: "0.1.0",
      },
      z.boolean("must be true or false").default(false),
    ),
    "default-service-account": documented(
      {
        description:
          "The name of the service account for a Kustomization without `spec.serviceAccountName`: Sluice applies as the account of this name in the Kustomization's namespace. If the setting is empty, Sluice applies with its own rights. For installations that several tenants share.",
        flux: "none",
        since: "0.2.0",
      },
      z
        .string("must be the name of a service account")
        .refine((name) => name === "" || isAccountName(name), "must be the name of a service account")
        .default(""),
    ),
    "sops-age-secret": documented(
      {
        description:
          "A Secret whose `*.agekey` entries decrypt for every Kustomization that has `spec.decryption` without a `secretRef`, see [SOPS](sops.md). `namespace/name`, or a name in the namespace `flux-system`.",
        flux: "none",
        since: "0.2.0",
      },
      installedObject("a Secret"),
    ),
    "sops-vault-configmap": documented(
      {
        description:
          "A ConfigMap that lists the servers of Vault or OpenBao at which service accounts log in to decrypt, see [SOPS](sops.md). `namespace/name`, or a name in the namespace `flux-system`. If it is empty, Sluice uses only a token in the decryption Secret.",
        flux: "none",
        since: "0.2.0",
      },
      installedObject("a ConfigMap"),
    ),
    "sops-ignore-mac": documented(
      {
        description:
          "With `true`, Sluice does not check the message authentication codes of encrypted files, as Flux does not. A file that was changed after its encryption is then applied, see [SOPS](sops.md). Named after the option of `sops`.",
        since: "0.2.0",
      },
      z.boolean("must be true or false").default(false),
    ),
    "default-decryption-service-account": documented(
      {
        description:
          "The name of the service account that decrypts for a Kustomization without `spec.decryption.serviceAccountName`: Sluice uses the account of this name in the Kustomization's namespace. Needs the gate `ObjectLevelWorkloadIdentity`. For installations that several tenants share.",
        flux: "none",
        since: "0.2.0",
      },
      z
        .string("must be the name of a service account")
        .refine((name) => name === "" || isAccountName(name), "must be the name of a service account")
        .default(""),
    ),
    "default-kubeconfig-service-account": documented(
      {
        description:
          "The name of the service account that logs in to the cluster of `spec.kubeConfig.configMapRef`, if the ConfigMap names none: Sluice uses the account of this name in the Kustomization's namespace. Needs the gate `ObjectLevelWorkloadIdentity`.",
        flux: "none",
        since: "0.2.0",
      },
      z
        .string("must be the name of a service account")
        .refine((name) => name === "" || isAccountName(name), "must be the name of a service account")
        .default(""),
    ),
    "explain-health-failures": documented(
      {
        description:
          "A failed health check says [why](health.md#why-a-check-has-failed), after Flux's text: messages of the first unhealthy objects, their failing containers and their newest Warning events. `false`: only Flux's text.",
        since: "0.2.0",
      },
      z.boolean("must be true or false").default(true),
    ),
    "concurrent-ssa": documented(
      {
        description: "How many requests a run sends to the API server at the same time: dry runs, applies and deletes.",
        flux: "4",
        since: "0.1.0",
      },
      wholeNumber(1, 100).default(8),
    ),
    "skip-links": documented(
      {
        description:
          "With `true`, links in the archive of an artifact are left out without an error. Flux always does so, and stores hard links as empty files; it has no flag for it. With `false`, a link is replaced by a copy of its target. A link is refused by name if its target is outside the archive, does not exist, or contains the link.",
        flux: "true",
        since: "0.2.0",
      },
      z.boolean("must be true or false").default(false),
    ),
    "helm-index-max-size": documented(
      {
        description:
          "How many bytes the index of a [Helm repository](sources/helm-repositories.md) may have, at most 50 MiB. A larger one fails with reason `Failed`.",
        flux: "52428800",
        since: "0.2.0",
      },
      wholeNumber(1, 52_428_800).default(52_428_800),
    ),
    "no-remote-bases": documented(
      {
        description:
          "Remote bases are refused with `BuildFailed`. It can only be true: builds have no network ([ADR 0014](maintainers/adr/0014-kustomize-as-webassembly.md)). Publish the base with the artifact instead.",
        flux: "false",
        since: "0.2.0",
      },
      z.literal(true, "can only be true: builds have no network, so a remote base cannot be fetched").default(true),
    ),
    "watch-all-namespaces": documented(
      {
        description:
          "Objects of all namespaces are reconciled. It can only be true: one installation [owns a cluster](cluster-owner.md) and reconciles all of it.",
        flux: "true",
        since: "0.2.0",
      },
      z.literal(true, "can only be true: an installation looks after all namespaces of a cluster").default(true),
    ),
    "requeue-dependency": documented(
      {
        description:
          "How long an object waits before it checks again a source or a dependency that is not ready. When the source or dependency becomes ready, it wakes the waiting objects at once.",
        flux: "30s",
        since: "0.2.0",
      },
      duration("1s", "24h").default("30s"),
    ),
    "interval-jitter-percentage": documented(
      {
        description:
          "The percentage by which a run comes earlier or later than `spec.interval`, at random, so that many objects with the same interval do not run at the same time.",
        flux: "5",
        since: "0.2.0",
      },
      wholeNumber(0, 99).default(5),
    ),
    "min-retry-delay": documented(
      {
        description:
          "The delay before the first retry of a failed run, for failures without a retry interval: of sources, of prunes, of an API server that does not answer. The delay doubles with each failure.",
        flux: "750ms",
        since: "0.2.0",
      },
      duration("100ms", "24h").default("750ms"),
    ),
    "max-retry-delay": documented(
      { description: "The longest delay between two such retries.", flux: "15m", since: "0.2.0" },
      duration("1s", "24h").default("15m"),
    ),
    "override-manager": documented(
      {
        description:
          "Further field managers whose edits an apply reverts, as it does with kubectl's: a list of names. Each name stands for every manager whose name begins with it. A field that such a manager has set is removed if the manifest does not have it.",
        flux: "none",
        since: "0.2.0",
      },
      OverrideManagers.default([]),
    ),
    "custom-apply-stage-kinds": documented(
      {
        description:
          "Kinds that are applied after definitions and classes and before everything else, as `group/Kind` separated by commas, `Kind` for the core group: `rbac.authorization.k8s.io/Role,ConfigMap`. For objects that must exist before the API server accepts other objects of the same artifact.",
        flux: "none",
        since: "0.2.0",
      },
      CustomStageKinds.default(""),
    ),
    "ssh-kex-algos": documented(
      {
        description:
          "The key exchanges that are offered to a git host over ssh, in the order of preference: a list, or names separated by commas. Empty: those of Go's client without the group exchange, in which a host could choose numbers that take minutes.",
        flux: "none",
        since: "0.2.0",
      },
      KexAlgorithms.default([]),
    ),
    "ssh-hostkey-algos": documented(
      {
        description:
          "The algorithms by which a git host may prove its key over ssh, in the order of preference. Empty: those of the keys in `known_hosts`.",
        flux: "none",
        since: "0.2.0",
      },
      HostKeyAlgorithms.default([]),
    ),
    "watch-configs-label-selector": documented(
      {
        description:
          "The ConfigMaps and Secrets whose changes start a run of the objects that name them, as a label selector. `sluice local` watches them; in AWS the [admission webhook](admission.md) reports a change, and without it the sweep finds the change within a minute. Only their metadata is read.",
        flux: "reconcile.fluxcd.io/watch=Enabled",
        since: "0.2.0",
      },
      z
        .string("must be text")
        .refine(
          (text) => parseLabelSelector(text) !== undefined,
          "must be a label selector that selects by labels: reconcile.fluxcd.io/watch=Enabled",
        )
        .default(defaultConfigSelector),
    ),
    "notification-service-namespaces": documented(
      {
        description:
          "The namespaces whose Services a Provider of notifications may reach through the API server (`http://name.namespace.svc:port`): a list, at most 100. With at least one entry, a Provider also reaches the Services of its own namespace. Empty: no Provider reaches a Service in this way. The function `notify` needs a right in each namespace, see [a receiver in the cluster](notifications.md#a-receiver-in-the-cluster).",
        since: "0.2.0",
      },
      ServiceNamespaces.default([]),
    ),
    "canary-service-namespaces": documented(
      {
        description:
          "The namespaces whose Services Canaries may reach through the API server, for metrics, webhooks and alerts (`http://name.namespace:port`): a list, at most 100. With at least one entry, they also reach the Services of their own namespace, and of the namespace of a MetricTemplate or AlertProvider that they name. Empty: no Canary reaches a Service. The function `reconcile` needs a right in each namespace, see [servers in the cluster](canary-servers.md).",
        since: "0.2.0",
      },
      ServiceNamespaces.default([]),
    ),
    "feature-gates": documented(
      {
        description:
          "[Feature gates](#the-feature-gates) by name: a mapping such as `{DisableFailFastBehavior: true}`, or Flux's text `DisableFailFastBehavior=true,ExternalArtifact=true`. An unknown gate is refused.",
        flux: "none",
        since: "0.2.0",
      },
      FeatureGateSettings.prefault({}),
    ),
    network: documented(
      {
        description:
          "Which of the hosts that tenants name Sluice may connect to, see [where Sluice connects to](network.md). `allow` lists hosts (`registry.example.com`, `*.example.com`, with or without `:PORT`) that may have private addresses and may be token services. It also lists ranges of addresses (`10.20.0.0/16`) that every host may have. `unlisted` says which addresses other hosts may have: `public` ones (the default in functions), `anything` (the default of `sluice local`) or none (`refused`).",
        since: "0.1.0",
      },
      NetworkSettings.prefault({}),
    ),
    ...canarySettingFields,
  })
  .refine((values) => parseDuration(values["min-retry-delay"]) <= parseDuration(values["max-retry-delay"]), {
    path: ["min-retry-delay"],
    message: "must not be longer than max-retry-delay",
  })
  .refine(
    (values) =>
      values["default-kubeconfig-service-account"] === "" || values["feature-gates"].ObjectLevelWorkloadIdentity,
    {
      path: ["default-kubeconfig-service-account"],
      message: "needs the feature gate ObjectLevelWorkloadIdentity: set it to true, or remove the setting",
    },
  )
  .refine(
    (values) =>
      values["default-decryption-service-account"] === "" || values["feature-gates"].ObjectLevelWorkloadIdentity,
    {
      path: ["default-decryption-service-account"],
      message: "needs the feature gate ObjectLevelWorkloadIdentity: set it to true, or remove the setting",
    },
  );
export type Settings = z.infer<typeof Settings>;

/** The values of an installation that sets nothing. */
export const defaultSettings: Settings = Settings.parse({});

function duration(least: string, most: string) {
  const message = `must be a duration from ${least} to ${most}, such as 45s or 1m30s`;
  // Aborts: the check of both delays reads texts that are durations.
  return z.string(message).refine(
    (text) => {
      if (!new RegExp(durationPattern).test(text) || !isDurationHeld(text)) return false;
      const ms = parseDuration(text);
      return ms >= parseDuration(least) && ms <= parseDuration(most);
    },
    { message, abort: true },
  );
}

/** The name of an object of the installation, with or without its namespace; empty for none. */
function installedObject(what: string) {
  const message = `must name ${what}: namespace/name, or a name in the namespace flux-system`;
  return z
    .string(message)
    .regex(/^$|^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\/)?[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, message)
    .default("");
}

function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
}
