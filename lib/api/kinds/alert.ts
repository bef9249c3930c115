import { notificationGroup } from "../names.ts";
import { ageColumn, type KindDeclaration } from "./declaration.ts";

export const declaredAlert = {
  group: notificationGroup,
  kind: "Alert",
  plural: "alerts",
  shortNames: [],
  categories: ["all", "fluxcd", "fluxcd-notifications"],
  description: "Alert sends events of objects to a Provider.",
  versions: ["v1beta3", "v1beta2", "v1beta1"],
  columns: [ageColumn],
  schemas: async () => {
    const { AlertSpec } = await import("../alert.ts");
    return { spec: AlertSpec };
  },
  statusManager: "notification-controller",
  eventSource: "notification-controller",
  isSource: false,
  isStatusless: true,
  isFinalizerFollowed: true,
  isStatic: () => true,
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
