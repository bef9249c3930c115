import type { KindDeclaration } from "./declaration.ts";
import { staticParts } from "./flagger-parts.ts";

export const declaredAlertProvider = {
  ...staticParts,
  kind: "AlertProvider",
  plural: "alertproviders",
  description: "AlertProvider is a receiver of alerts from Canaries.",
  columns: [{ name: "Type", type: "string", jsonPath: ".spec.type" }],
  schemas: async () => {
    const { AlertProviderSpec } = await import("../alert-provider.ts");
    return { spec: AlertProviderSpec };
  },
  staticMessage: "AlertProvider is Ready",
  words: {
    one: "alertprovider",
    many: "alertproviders",
    aliases: [],
    plural: "AlertProviders",
    revision: [],
    done: "is read",
    shown: [{ title: "Type", path: ["spec", "type"] }],
  },
} as const satisfies KindDeclaration;
