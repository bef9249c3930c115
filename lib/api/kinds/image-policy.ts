import { barredAnnotation, imageGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredImagePolicy = {
  group: imageGroup,
  kind: "ImagePolicy",
  plural: "imagepolicies",
  shortNames: ["imgpol", "imagepol"],
  categories: ["all", "fluxcd", "fluxcd-images"],
  description: "ImagePolicy chooses a tag of an ImageRepository.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [
    { name: "Image", type: "string", jsonPath: ".status.latestRef.name" },
    { name: "Tag", type: "string", jsonPath: ".status.latestRef.tag" },
    readyColumn,
    statusColumn,
    ageColumn,
  ],
  schemas: async () => {
    const { ImagePolicySpec, ImagePolicyStatus } = await import("../image-policy.ts");
    return { spec: ImagePolicySpec, status: ImagePolicyStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "image-reflector-controller",
  eventSource: "image-reflector-controller",
  isSource: false,
  followedAnnotations: [barredAnnotation],
  words: {
    parent: "image",
    one: "policy",
    many: "policy",
    aliases: [],
    plural: "ImagePolicies",
    revision: ["status", "latestRef", "tag"],
    done: "chosen",
    shown: [
      { title: "Image", path: ["status", "latestRef", "name"] },
      { title: "Tag", path: ["status", "latestRef", "tag"] },
    ],
  },
} as const satisfies KindDeclaration;
