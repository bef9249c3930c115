import { notificationGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredReceiver = {
  group: notificationGroup,
  kind: "Receiver",
  plural: "receivers",
  shortNames: [],
  categories: ["all", "fluxcd", "fluxcd-notifications"],
  description: "Receiver lets a webhook ask for a run of objects.",
  versions: ["v1"],
  columns: [ageColumn, readyColumn, statusColumn],
  schemas: async () => {
    const { ReceiverSpec, ReceiverStatus } = await import("../receiver.ts");
    return { spec: ReceiverSpec, status: ReceiverStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "notification-controller",
  eventSource: "notification-controller",
  isSource: false,
  words: {
    one: "receiver",
    many: "receivers",
    aliases: [],
    plural: "Receivers",
    revision: ["status", "webhookPath"],
    done: "listens at",
    shown: ["suspended"],
  },
} as const satisfies KindDeclaration;
