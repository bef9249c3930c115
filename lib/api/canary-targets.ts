/** The targets of a Canary: what it may release, and what it copies for the primary. All are served as `v1` of their group. */
export const canaryTargets = [
  { group: "apps", kind: "Deployment" },
  { group: "apps", kind: "DaemonSet" },
  { group: "", kind: "Service" },
  { group: "", kind: "ConfigMap" },
  { group: "", kind: "Secret" },
] as const;
