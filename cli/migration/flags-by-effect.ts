/** Gates of Flux that change only how its controllers work, with the reason as a part of a sentence. */
export const gatesWithoutEffect: Readonly<Record<string, string>> = {
  AdoptLegacyReleases: "Sluice takes over from no version that adopts releases of Helm 2",
  CorrectDrift: "Flux no longer reads it: spec.driftDetection of each HelmRelease decides",
  DetectDrift: "Flux no longer reads it: spec.driftDetection of each HelmRelease decides",
  FluxStorage: "tags are always kept by the namespace and the name of the ImageRepository",
  GitAllBranchReferences: "the head of a push branch is always looked at",
  GitForcePushBranch: "a push to a branch is never forced",
  GitShallowClone: "a clone is always shallow",
  GitSparseCheckout: "files are read from git on demand",
  OOMWatch: "Sluice has no controller process",
};

/** Gates of helm-controller that change what it applies, which Sluice does not have. */
export const gatesNotHonoured: Readonly<Record<string, string>> = {
  AllowDNSLookups: "a chart cannot look up names of hosts: write the address into the values",
  DefaultToRetryOnFailure:
    "a HelmRelease without a strategy remediates: write strategy RetryOnFailure into spec.install and spec.upgrade",
  UseHelm3Defaults:
    "Sluice has the defaults of Helm 4 only: write serverSideApply: false into spec.install of each HelmRelease",
};

/** Whether Go reads the value of a flag as true. */
export const isTrue = (value: string): boolean => /^(1|t|true)$/i.test(value);

const isGiven = (value: string): boolean => value !== "";

const isAbove = (most: number) => (value: string) => Number(value) > most;

/** Flags that Sluice does not honour and that decide what is applied, with the values that do. */
export const decisive: Readonly<Record<string, (value: string) => boolean>> = {
  "helm-chart-file-max-size": isAbove(5_242_880),
  "helm-chart-max-size": isAbove(10_485_760),
  "insecure-allow-http": (value) => !isTrue(value),
  "insecure-kubeconfig-exec": isTrue,
  "insecure-kubeconfig-tls": isTrue,
  "kubeconfig-service-mesh": isGiven,
  namespace: isGiven,
  "watch-label-selector": isGiven,
};

/** Flags whose value lets its reader in, or may. */
export const secretFlags: ReadonlySet<string> = new Set([
  ...["event-webhook", "msteams-proxy-url", "msteams-url", "slack-proxy-url", "slack-token", "slack-url"],
]);

/** Settings that hold for the objects of all of these controllers, each of which has a flag of its own for them. */
export const sharedFlags: Readonly<Record<string, readonly string[]>> = {
  "default-service-account": ["helm-controller", "kustomize-controller"],
  "no-cross-namespace-refs": [
    ...["flagger", "helm-controller", "image-automation-controller", "image-reflector-controller"],
    ...["kustomize-controller", "notification-controller", "source-watcher"],
  ],
};
