import { declaredNotificationProvider } from "../../api/kinds/notification-provider.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const notificationProviderKind: Kind = {
  ...declaredNotificationProvider,
  flow: (parts) =>
    loadedOnce(async () =>
      (await import("../notification-provider/notification-provider-flow.ts")).notificationProviderFlow(parts),
    ),
  // It has no status for them.
  failing: (before) => before,
};
