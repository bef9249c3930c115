import { declaredArtifactGenerator } from "../../api/kinds/artifact-generator.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const artifactGeneratorKind: Kind = {
  ...declaredArtifactGenerator,
  flow: (parts) =>
    loadedOnce(async () =>
      (await import("../artifact-generator/artifact-generator-flow.ts")).artifactGeneratorFlow(parts),
    ),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
