import type { KindDeclaration } from "./declaration.ts";
import { notificationParts } from "./notification-parts.ts";

export const declaredAlert = {
  ...notificationParts,
  kind: "Alert",
  plural: "alerts",
  description: "Alert sends events of objects to a Provider.",
  schemas: async () => {
    const { AlertSpec } = await import("../alert.ts");
    return { spec: AlertSpec };
  },
  staticMessage: "Alert is Ready",
  words: {
    one: "alert",
    many: "alerts",
    aliases: [],
    plural: "Alerts",
    revision: [],
    done: "follows",
    shown: ["suspended"],
  },
} as const satisfies KindDeclaration;
