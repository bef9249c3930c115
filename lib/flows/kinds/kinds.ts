import { declaredKinds } from "../../api/kinds/declared-kinds.ts";
import { alertKind } from "./alert.ts";
import { artifactGeneratorKind } from "./artifact-generator.ts";
import { bucketKind } from "./bucket.ts";
import { canaryKind } from "./canary.ts";
import { gitRepositoryKind } from "./git-repository.ts";
import { helmChartKind } from "./helm-chart.ts";
import { helmReleaseKind } from "./helm-release.ts";
import { helmRepositoryKind } from "./helm-repository.ts";
import { imagePolicyKind } from "./image-policy.ts";
import { imageRepositoryKind } from "./image-repository.ts";
import { imageUpdateAutomationKind } from "./image-update-automation.ts";
import type { Kind } from "./kind.ts";
import { kustomizationKind } from "./kustomization.ts";
import { notificationProviderKind } from "./notification-provider.ts";
import { ociRepositoryKind } from "./oci-repository.ts";
import { receiverKind } from "./receiver.ts";

/** The compiler asks for each declared kind. */
const byName: Readonly<Record<(typeof declaredKinds)[number]["kind"], Kind>> = {
  OCIRepository: ociRepositoryKind,
  GitRepository: gitRepositoryKind,
  HelmRepository: helmRepositoryKind,
  Bucket: bucketKind,
  ArtifactGenerator: artifactGeneratorKind,
  HelmChart: helmChartKind,
  Kustomization: kustomizationKind,
  HelmRelease: helmReleaseKind,
  ImageRepository: imageRepositoryKind,
  ImagePolicy: imagePolicyKind,
  ImageUpdateAutomation: imageUpdateAutomationKind,
  Receiver: receiverKind,
  Provider: notificationProviderKind,
  Alert: alertKind,
  Canary: canaryKind,
};

/** Every declared kind with its flow, in the order of the declarations. */
export const kinds: readonly Kind[] = declaredKinds.map(({ kind }) => byName[kind]);
