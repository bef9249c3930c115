import { notificationGroup } from "../names.ts";
import { ageColumn, type KindDeclaration } from "./declaration.ts";

/** The common parts of Alert and Provider: both have no status and are always ready. */
export const notificationParts = {
  group: notificationGroup,
  shortNames: [],
  categories: ["all", "fluxcd", "fluxcd-notifications"],
  versions: ["v1beta3", "v1beta2", "v1beta1"],
  columns: [ageColumn],
  statusManager: "notification-controller",
  eventSource: "notification-controller",
  isSource: false,
  isStatusless: true,
  isFinalizerFollowed: true,
  isStatic: () => true,
} as const satisfies Partial<KindDeclaration>;
