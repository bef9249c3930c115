import type { ChartFiles } from "../local/demo/push-chart.ts";

/**
 * The charts of the benches, as charts of the field are written: helpers, `tpl`, `toYaml`, a look-up and hooks. Of the two big ones, each
 * component has a Deployment, a ConfigMap, a Service, a ServiceAccount, a ClusterRole and its binding.
 */
export const version = "1.2.3";

function chartYaml(name: string, more = ""): string {
  return `apiVersion: v2\nname: ${name}\nversion: ${version}\nappVersion: "4.5"\n${more}`;
}

function helpers(chart: string): string {
  return `{{- define "${chart}.fullname" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "${chart}.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "${chart}.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{ include "${chart}.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.extraLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}
`;
}

/** Two objects: a ConfigMap and a Service. `values.greeting` changes the ConfigMap. */
export const smallChart: ChartFiles = new Map([
  ["Chart.yaml", chartYaml("small")],
  ["values.yaml", "port: 80\ngreeting: hello\n"],
  ["templates/_helpers.tpl", helpers("small")],
  [
    "templates/configmap.yaml",
    object("small", "v1", "ConfigMap", "data:\n  greeting: {{ .Values.greeting | quote }}\n"),
  ],
  [
    "templates/service.yaml",
    object(
      "small",
      "v1",
      "Service",
      `spec:\n  selector:\n    {{- include "small.selectorLabels" . | nindent 4 }}\n  ports: [{ port: {{ .Values.port }} }]\n`,
    ),
  ],
]);

function object(chart: string, apiVersion: string, kind: string, rest: string): string {
  return `apiVersion: ${apiVersion}
kind: ${kind}
metadata:
  name: {{ include "${chart}.fullname" . }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
${rest}`;
}

/** 61 objects, two hooks that are Jobs, and a test. */
export const hookedChart: ChartFiles = new Map([
  ["Chart.yaml", chartYaml("hooked", `kubeVersion: ">=1.25.0-0"\n`)],
  ["values.yaml", componentValues(10)],
  ["values.schema.json", JSON.stringify(valuesSchema())],
  ...componentTemplates("hooked", ""),
]);

const subcharts = { agent: 16, store: 14, view: 12 } as const;

/** 333 objects: 281 and 12 hooks and tests of a chart and its three subcharts, and 40 definitions of 37 kB. */
export const largeChart: ChartFiles = new Map([
  ["Chart.yaml", chartYaml("large", dependencies())],
  [
    "values.yaml",
    `${componentValues(4)}${Object.keys(subcharts)
      .map((name) => `${name}: { enabled: true }\n`)
      .join("")}`,
  ],
  ...componentTemplates("large", ""),
  [
    "templates/imported.yaml",
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-imported }\ndata:\n  agent: {{ .Values.agentExported | toJson | quote }}\n`,
  ],
  ...Object.entries(subcharts).flatMap(([name, count]) => subchart(name, count)),
  ...Array.from({ length: 40 }, (_, index) => definition(index)),
]);

function dependencies(): string {
  const each = Object.keys(subcharts).map(
    (name) =>
      `  - { name: ${name}, version: ${version}, condition: ${name}.enabled, import-values: [{ child: exported, parent: ${name}Exported }] }\n`,
  );
  return `dependencies:\n${each.join("")}`;
}

function subchart(name: string, count: number): readonly (readonly [string, string])[] {
  const at = `charts/${name}/`;
  return [
    [`${at}Chart.yaml`, chartYaml(name)],
    [`${at}values.yaml`, `${componentValues(count)}exported: { from: ${name}, port: 1234567 }\n`],
    ...componentTemplates(name, at),
  ];
}

function componentValues(count: number): string {
  function component(index: number): string {
    return `  c${index}:
    enabled: true
    replicas: ${1 + (index % 3)}
    image: { repository: acme/c${index} }
    annotations: { owner: "{{ .Release.Name }}-team" }
    args: { name: "{{ .Release.Name }}", level: 4, cache: true, election-id: lead-${index} }
    ports: [{ name: http, port: ${8000 + 10 * index} }, { name: metrics, port: ${8001 + 10 * index} }]
    resources: { requests: { cpu: 100m, memory: 90Mi }, limits: { memory: 256Mi } }
    settings: { keepalive: "75", body: 8m, big: 1000000, ratio: 0.5, on: true }
    rules:
      - { apiGroups: [""], resources: [pods, services, secrets, endpoints], verbs: [get, list, watch] }
      - { apiGroups: [networking.k8s.io], resources: [ingresses], verbs: [get, list, watch, update] }
`;
  }
  const all = Array.from({ length: count }, (_, index) => component(index));
  return `extraLabels: { team: edge }\npodSecurityContext: { runAsNonRoot: true, fsGroup: 2000 }\ncomponents:\n${all.join("")}`;
}

function valuesSchema(): unknown {
  const port = {
    type: "object",
    required: ["name", "port"],
    properties: { port: { type: "integer", maximum: 65_535 } },
  };
  const properties = { replicas: { type: "integer", minimum: 0 }, ports: { type: "array", items: port } };
  const component = { type: "object", required: ["image", "ports"], properties };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["components"],
    properties: { components: { type: "object", additionalProperties: component } },
  };
}

function componentTemplates(chart: string, at: string): readonly (readonly [string, string])[] {
  const template = (name: string, text: string): readonly [string, string] => [`${at}templates/${name}`, text];
  return [
    template("_helpers.tpl", helpers(chart)),
    template("deployments.yaml", forEach(chart, "apps/v1", "Deployment", deploymentSpec(chart))),
    template("configmaps.yaml", forEach(chart, "v1", "ConfigMap", configData())),
    template("services.yaml", forEach(chart, "v1", "Service", serviceSpec(chart))),
    template("accounts.yaml", forEach(chart, "v1", "ServiceAccount", "")),
    template("roles.yaml", forEach(chart, "rbac.authorization.k8s.io/v1", "ClusterRole", rules())),
    template("bindings.yaml", forEach(chart, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", subjects(chart))),
    template("secret.yaml", secret(chart)),
    template("hooks.yaml", [hook(chart, "create", "pre"), hook(chart, "patch", "post")].join("---\n")),
    template("tests/test.yaml", testPod(chart)),
    template("NOTES.txt", "{{ .Chart.Name }} runs as {{ .Release.Name }} revision {{ .Release.Revision }}\n"),
    [
      `${at}files/config.tpl`,
      `component: {{ .name }}\n{{ range $k, $v := .c.settings }}{{ $k }}: {{ $v | quote }}\n{{ end }}`,
    ],
  ];
}

function forEach(chart: string, apiVersion: string, kind: string, rest: string): string {
  return `{{- range $name, $c := .Values.components }}
{{- if $c.enabled }}
---
apiVersion: ${apiVersion}
kind: ${kind}
metadata:
  name: {{ include "${chart}.fullname" $ }}-{{ $name }}
  labels:
    {{- include "${chart}.labels" $ | nindent 4 }}
    app.kubernetes.io/component: {{ $name }}
  annotations:
    {{- tpl (toYaml $c.annotations) $ | nindent 4 }}
${rest}
{{- end }}
{{- end }}
`;
}

function deploymentSpec(chart: string): string {
  return `spec:
  replicas: {{ $c.replicas }}
  selector:
    matchLabels:
      {{- include "${chart}.selectorLabels" $ | nindent 6 }}
      app.kubernetes.io/component: {{ $name }}
  template:
    metadata:
      annotations:
        checksum/config: {{ include (print $.Template.BasePath "/configmaps.yaml") $ | sha256sum }}
      labels:
        {{- include "${chart}.selectorLabels" $ | nindent 8 }}
        app.kubernetes.io/component: {{ $name }}
    spec:
      serviceAccountName: {{ include "${chart}.fullname" $ }}-{{ $name }}
      securityContext: {{- toYaml $.Values.podSecurityContext | nindent 8 }}
      containers:
        - name: {{ $name }}
          image: "registry.example/{{ $c.image.repository }}:{{ $c.image.tag | default $.Chart.AppVersion }}"
          args:
            {{- range $k, $v := $c.args }}
            - --{{ $k }}={{ tpl (toString $v) $ }}
            {{- end }}
          ports:
            {{- range $c.ports }}
            - { name: {{ .name }}, containerPort: {{ .port }} }
            {{- end }}
          resources: {{- toYaml $c.resources | nindent 12 }}`;
}

function configData(): string {
  return `data:
  config.yaml: |
    {{- tpl ($.Files.Get "files/config.tpl") (dict "c" $c "name" $name "Values" $.Values "Template" $.Template) | nindent 4 }}
  settings.json: {{ $c.settings | toPrettyJson | quote }}`;
}

function serviceSpec(chart: string): string {
  return `spec:
  selector:
    {{- include "${chart}.selectorLabels" $ | nindent 4 }}
    app.kubernetes.io/component: {{ $name }}
  ports:
    {{- range $c.ports }}
    - { name: {{ .name }}, port: {{ .port }}, targetPort: {{ .name }} }
    {{- end }}`;
}

function rules(): string {
  return `rules:
  {{- range $c.rules }}
  - apiGroups: {{ .apiGroups | toJson }}
    resources: {{ .resources | toJson }}
    verbs: {{ .verbs | toJson }}
  {{- end }}`;
}

function subjects(chart: string): string {
  const name = `{{ include "${chart}.fullname" $ }}-{{ $name }}`;
  return `roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${name} }
subjects: [{ kind: ServiceAccount, name: ${name}, namespace: {{ $.Release.Namespace }} }]`;
}

function secret(chart: string): string {
  return `{{- $name := printf "%s-credentials" (include "${chart}.fullname" .) }}
{{- $old := lookup "v1" "Secret" .Release.Namespace $name }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ $name }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
data:
  password: {{ if $old }}{{ index $old.data "password" }}{{ else }}{{ "changeme" | b64enc }}{{ end }}
`;
}

function hook(chart: string, name: string, when: "pre" | "post"): string {
  return `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "${chart}.fullname" . }}-admission-${name}
  annotations:
    helm.sh/hook: ${when}-install,${when}-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  template:
    spec:
      restartPolicy: OnFailure
      containers: [{ name: ${name}, image: "registry.example/certgen:1", args: [${name}] }]
`;
}

function testPod(chart: string): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: {{ include "${chart}.fullname" . }}-test
  annotations: { helm.sh/hook: test }
spec:
  restartPolicy: Never
  containers: [{ name: t, image: "registry.example/curl:1" }]
`;
}

function definition(index: number): readonly [string, string] {
  const names = { kind: `Thing${index}`, plural: `things${index}`, singular: `thing${index}` };
  const openAPIV3Schema = { type: "object", properties: { spec: schemaTree(3) } };
  const manifest = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things${index}.monitoring.example` },
    spec: {
      ...{ group: "monitoring.example", scope: "Namespaced", names },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
  return [`crds/crd-${index}.yaml`, `${JSON.stringify(manifest, null, 2)}\n`];
}

function schemaTree(depth: number): unknown {
  if (depth === 0) {
    return {
      type: "string",
      description: "what the controller writes here is described in its handbook, at some length",
    };
  }
  const properties = Object.fromEntries(
    ["selector", "template", "affinity", "volumes", "env"].map((key) => [key + depth, schemaTree(depth - 1)]),
  );
  return { type: "object", description: `level ${depth} of the tree`, properties };
}
