import type { KindDeclaration } from "./declaration.ts";
import { notificationParts } from "./notification-parts.ts";

export const declaredNotificationProvider = {
  ...notificationParts,
  kind: "Provider",
  plural: "providers",
  description: "Provider is a receiver of events from Alerts.",
  schemas: async () => {
    const { NotificationProviderSpec } = await import("../notification-provider.ts");
    return { spec: NotificationProviderSpec };
  },
  staticMessage: "Provider is Ready",
  words: {
    one: "alert-provider",
    many: "alert-providers",
    aliases: [],
    plural: "Providers",
    revision: [],
    done: "is used by",
    shown: [],
  },
} as const satisfies KindDeclaration;
