import type { KindDeclaration } from "./declaration.ts";
import { staticParts } from "./flagger-parts.ts";

export const declaredMetricTemplate = {
  ...staticParts,
  kind: "MetricTemplate",
  plural: "metrictemplates",
  description: "MetricTemplate is a query that Canaries check.",
  columns: [{ name: "Provider", type: "string", jsonPath: ".spec.provider.type" }],
  schemas: async () => {
    const { MetricTemplateSpec } = await import("../metric-template.ts");
    return { spec: MetricTemplateSpec };
  },
  staticMessage: "MetricTemplate is Ready",
  words: {
    one: "metrictemplate",
    many: "metrictemplates",
    aliases: [],
    plural: "MetricTemplates",
    revision: [],
    done: "is read",
    shown: [{ title: "Provider", path: ["spec", "provider", "type"] }],
  },
} as const satisfies KindDeclaration;
