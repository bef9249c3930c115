import { declaredAlert } from "./alert.ts";
import { declaredAlertProvider } from "./alert-provider.ts";
import { declaredArtifactGenerator } from "./artifact-generator.ts";
import { declaredBucket } from "./bucket.ts";
import { declaredCanary } from "./canary.ts";
import type { KindDeclaration } from "./declaration.ts";
import { declaredExternalArtifact } from "./external-artifact.ts";
import { declaredGitRepository } from "./git-repository.ts";
import { declaredHelmChart } from "./helm-chart.ts";
import { declaredHelmRelease } from "./helm-release.ts";
import { declaredHelmRepository } from "./helm-repository.ts";
import { declaredImagePolicy } from "./image-policy.ts";
import { declaredImageRepository } from "./image-repository.ts";
import { declaredImageUpdateAutomation } from "./image-update-automation.ts";
import { declaredKustomization } from "./kustomization.ts";
import { declaredMetricTemplate } from "./metric-template.ts";
import { declaredNotificationProvider } from "./notification-provider.ts";
import { declaredOciRepository } from "./oci-repository.ts";
import { declaredReceiver } from "./receiver.ts";

/** The kinds that Sluice reconciles. Sources come first: the sweep visits them before their consumers. */
export const declaredKinds = [
  declaredOciRepository,
  declaredGitRepository,
  declaredHelmRepository,
  declaredBucket,
  declaredArtifactGenerator,
  declaredHelmChart,
  declaredKustomization,
  declaredHelmRelease,
  declaredImageRepository,
  declaredImagePolicy,
  declaredImageUpdateAutomation,
  declaredReceiver,
  declaredNotificationProvider,
  declaredAlert,
  declaredCanary,
] as const satisfies readonly KindDeclaration[];

/** The kinds that only Canaries read. */
export const readByCanaries = [
  declaredMetricTemplate,
  declaredAlertProvider,
] as const satisfies readonly KindDeclaration[];

/** The kinds that are never reconciled: runs of other kinds read them. */
export const readKinds = [declaredExternalArtifact, ...readByCanaries] as const satisfies readonly KindDeclaration[];

/** The kinds whose definitions Sluice installs, including those that it only reads. */
export const definedKinds = [...declaredKinds, ...readKinds] as const satisfies readonly KindDeclaration[];
