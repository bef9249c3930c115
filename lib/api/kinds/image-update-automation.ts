import { imageGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredImageUpdateAutomation = {
  group: imageGroup,
  kind: "ImageUpdateAutomation",
  plural: "imageupdateautomations",
  shortNames: ["iua", "imgupd", "imgauto"],
  categories: ["all", "fluxcd", "fluxcd-images"],
  description: "ImageUpdateAutomation writes the images that policies have chosen to a git repository.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [
    readyColumn,
    statusColumn,
    { name: "Last run", type: "string", jsonPath: ".status.lastAutomationRunTime", priority: 1 },
    ageColumn,
  ],
  schemas: async () => {
    const { ImageUpdateAutomationSpec, ImageUpdateAutomationStatus } = await import("../image-update-automation.ts");
    return { spec: ImageUpdateAutomationSpec, status: ImageUpdateAutomationStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "image-automation-controller",
  eventSource: "image-automation-controller",
  isSource: false,
  words: {
    parent: "image",
    one: "update",
    many: "update",
    aliases: [],
    plural: "ImageUpdateAutomations",
    revision: ["status", "lastPushCommit"],
    done: "committed",
    shown: [{ title: "Last run", path: ["status", "lastAutomationRunTime"] }, "suspended"],
    called: "image update automation",
  },
} as const satisfies KindDeclaration;
