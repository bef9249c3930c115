import { imageGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredImageRepository = {
  group: imageGroup,
  kind: "ImageRepository",
  plural: "imagerepositories",
  shortNames: ["imgrepo", "imagerepo"],
  categories: ["all", "fluxcd", "fluxcd-images"],
  description: "ImageRepository keeps the tags of a repository of images.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [
    { name: "Image", type: "string", jsonPath: ".spec.image" },
    { name: "Tags", type: "integer", jsonPath: ".status.lastScanResult.tagCount" },
    readyColumn,
    statusColumn,
    { name: "Last scan", type: "string", jsonPath: ".status.lastScanResult.scanTime", priority: 1 },
    ageColumn,
  ],
  schemas: async () => {
    const { ImageRepositorySpec, ImageRepositoryStatus } = await import("../image-repository.ts");
    return { spec: ImageRepositorySpec, status: ImageRepositoryStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "image-reflector-controller",
  eventSource: "image-reflector-controller",
  isSource: false,
  words: {
    parent: "image",
    one: "repository",
    many: "repository",
    aliases: [],
    plural: "ImageRepositories",
    revision: ["status", "lastScanResult", "revision"],
    done: "scanned",
    shown: [{ title: "Last scan", path: ["status", "lastScanResult", "scanTime"] }, "suspended"],
  },
} as const satisfies KindDeclaration;
