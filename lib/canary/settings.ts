/** The settings of an installation for all its Canaries: Flagger's flags (reference canary 15). */
export interface CanarySettings {
  /** `-mesh-provider`: for a Canary that names none. */
  readonly meshProvider: string;
  /** `-metrics-server`: for a Canary that names none. */
  readonly metricsServer: string;
  /** `-selector-labels`: the first of them in a target's selector distinguishes its pods from others. */
  readonly selectorLabels: readonly string[];
  /** `-include-label-prefix`: which labels the primary copies from its target; `*` means all, an empty list none. */
  readonly includeLabelPrefixes: readonly string[];
  /** `-enable-config-tracking`. */
  readonly tracksConfigs: boolean;
  /** `-no-cross-namespace-refs`. */
  readonly noCrossNamespaceRefs: boolean;
  /** `-event-webhook`: for a Canary without event hooks; empty if unset. */
  readonly eventWebhook: string;
  /** `-cluster-name`: in alerts; empty if unset. */
  readonly clusterName: string;
  /** `-slack-url`, `-msteams-url` and what belongs to them: of a Canary without alerts. */
  readonly globalAlerts?: {
    readonly type: "slack" | "msteams";
    readonly address: string;
    readonly channel: string;
    readonly username: string;
    readonly token: string;
    readonly proxy: string;
  };
  /** `-ingress-annotations-prefix`. */
  readonly ingressAnnotationsPrefix: string;
  /** `-ingress-class`; empty if unset. */
  readonly ingressClass: string;
}

/** Flagger's defaults. */
export const defaultCanarySettings: CanarySettings = {
  meshProvider: "istio",
  metricsServer: "http://prometheus:9090",
  selectorLabels: ["app", "name", "app.kubernetes.io/name"],
  includeLabelPrefixes: [],
  tracksConfigs: true,
  noCrossNamespaceRefs: false,
  eventWebhook: "",
  clusterName: "",
  ingressAnnotationsPrefix: "nginx.ingress.kubernetes.io",
  ingressClass: "",
};
