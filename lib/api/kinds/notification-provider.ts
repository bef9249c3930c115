import { notificationGroup } from "../names.ts";
import { ageColumn, type KindDeclaration } from "./declaration.ts";

export const declaredNotificationProvider = {
  group: notificationGroup,
  kind: "Provider",
  plural: "providers",
  shortNames: [],
  categories: ["all", "fluxcd", "fluxcd-notifications"],
  description: "Provider is where Alerts send events to.",
  versions: ["v1beta3", "v1beta2", "v1beta1"],
  columns: [ageColumn],
  schemas: async () => {
    const { NotificationProviderSpec } = await import("../notification-provider.ts");
    return { spec: NotificationProviderSpec };
  },
  statusManager: "notification-controller",
  eventSource: "notification-controller",
  isSource: false,
  isStatusless: true,
  isFinalizerFollowed: true,
  isStatic: () => true,
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
