/** Each gate with its default value. All but `CancelHealthCheckOnNewRevision` are as in Flux. */
export const defaultGates = {
  /** `readyExpr` and the built-in check both have to hold. */
  AdditiveCELDependencyCheck: false,
  /** A new revision ends the wait for the health of an older one. Flux's default is false. */
  CancelHealthCheckOnNewRevision: true,
  /** The digest of an artifact is not part of the version of its chart, so that a new digest alone upgrades no release. */
  DisableChartDigestTracking: false,
  /** A change of a ConfigMap or Secret starts no run. */
  DisableConfigWatchers: false,
  /** A failed object does not end the wait for the others. */
  DisableFailFastBehavior: false,
  /** A Kustomization may name an ExternalArtifact as its source. */
  ExternalArtifact: false,
  /** Managed fields of an older API version are moved to the one that is applied. */
  MigrateAPIVersion: false,
  /** An object may name a service account whose cloud identity is used. */
  ObjectLevelWorkloadIdentity: false,
  /** A variable without value fails the build. */
  StrictPostBuildSubstitutions: true,
} as const satisfies Readonly<Record<string, boolean>>;

/** A feature gate of Flux that changes what Sluice does. */
export type GateName = keyof typeof defaultGates;

/** Whether each gate is on in this installation. */
export type FeatureGates = Readonly<Record<GateName, boolean>>;
