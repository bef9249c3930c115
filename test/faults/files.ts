import { alarmFaults } from "./alarms.ts";
import { applyFaults } from "./apply.ts";
import { applyStatementFaults } from "./apply-statements.ts";
import { archiveFaults } from "./archives.ts";
import { awsFaults } from "./aws.ts";
import { awsServiceFaults } from "./aws-services.ts";
import { barringFaults } from "./barring.ts";
import { bootstrapFaults } from "./bootstrap.ts";
import { bucketFaults } from "./bucket.ts";
import { cachedRunFaults } from "./cached-run.ts";
import { canaryFlowFaults } from "./canary-flow.ts";
import { canaryMetricFaults } from "./canary-metrics.ts";
import { canaryRobustFaults } from "./canary-robust.ts";
import { canaryRoutesFaults } from "./canary-routes.ts";
import { canaryWakingFaults } from "./canary-waking.ts";
import { cliFaults } from "./cli.ts";
import { clusterFunctionFaults } from "./cluster-functions.ts";
import { collectFaults } from "./collect.ts";
import { combinedInputFaults } from "./combined-inputs.ts";
import { commitMessageFaults } from "./commit-message.ts";
import { decryptionFaults } from "./decryption.ts";
import { embeddedKubernetesFaults } from "./embedded-kubernetes.ts";
import type { FileFaults } from "./fault.ts";
import { flowLimitFaults } from "./flow-limits.ts";
import { flowStatementFaults } from "./flow-statements.ts";
import { flowsFaults } from "./flows.ts";
import { functionsFaults } from "./functions.ts";
import { gateFaults } from "./gate.ts";
import { generatorFaults } from "./generator.ts";
import { gitFaults } from "./git.ts";
import { gitCostFaults } from "./git-costs.ts";
import { gitRepositoryFaults } from "./git-repository.ts";
import { gitVerifyFaults } from "./git-verify.ts";
import { gitWriteFaults } from "./git-write.ts";
import { healthFaults } from "./health.ts";
import { helmActionFaults } from "./helm-actions.ts";
import { helmBadInputFaults } from "./helm-bad-input.ts";
import { helmChartFaults } from "./helm-chart.ts";
import { helmCommandFaults } from "./helm-commands.ts";
import { helmRepositoryFaults } from "./helm-repositories.ts";
import { imagePolicyFaults } from "./image-policy.ts";
import { imageRepositoryFaults } from "./image-repository.ts";
import { imageSetterFaults } from "./image-setters.ts";
import { imageUpdateAutomationFaults } from "./image-update-automation.ts";
import { infraFaults } from "./infra.ts";
import { kubeFaults } from "./kube.ts";
import { kubeAnswerFaults } from "./kube-answers.ts";
import { kustomizationFaults } from "./kustomization.ts";
import { layerFaults } from "./layers.ts";
import { leftToOthersFaults } from "./left-to-others.ts";
import { localFaults } from "./local.ts";
import { longFirstFaults } from "./long-first.ts";
import { manifestStatementFaults } from "./manifest-statements.ts";
import { manifestsFaults } from "./manifests.ts";
import { networkFaults } from "./network.ts";
import { notifyFaults } from "./notify.ts";
import { otherClusterFaults } from "./other-clusters.ts";
import { ownerFaults } from "./owners.ts";
import { pruneFaults } from "./prune.ts";
import { pullRequestFaults } from "./pull-request.ts";
import { queueFaults } from "./queue.ts";
import { queueClusterFaults } from "./queue-clusters.ts";
import { receiverFaults } from "./receiver.ts";
import { receiverFlowFaults } from "./receiver-flow.ts";
import { receiverLimitFaults } from "./receiver-limits.ts";
import { receiverLoginFaults } from "./receiver-logins.ts";
import { registryFaults } from "./registries.ts";
import { shownTextFaults } from "./shown-texts.ts";
import { signatureFaults } from "./signatures.ts";
import { sopsFaults } from "./sops.ts";
import { sopsKeyFaults } from "./sops-keys.ts";
import { sopsLimitFaults } from "./sops-limits.ts";
import { sourceLimitFaults } from "./source-limits.ts";
import { sourcesFaults } from "./sources.ts";
import { substitutionFaults } from "./substitution.ts";

/** Every list, by area. */
export const fileFaults: readonly FileFaults[] = [
  ...alarmFaults,
  ...applyFaults,
  ...awsFaults,
  ...bootstrapFaults,
  ...bucketFaults,
  ...flowsFaults,
  ...cachedRunFaults,
  ...canaryFlowFaults,
  ...canaryRoutesFaults,
  ...canaryRobustFaults,
  ...canaryMetricFaults,
  ...canaryWakingFaults,
  ...functionsFaults,
  ...gateFaults,
  ...gitFaults,
  ...collectFaults,
  ...gitCostFaults,
  ...gitRepositoryFaults,
  ...gitVerifyFaults,
  ...gitWriteFaults,
  ...otherClusterFaults,
  ...sopsKeyFaults,
  ...kubeFaults,
  ...embeddedKubernetesFaults,
  ...localFaults,
  ...longFirstFaults,
  ...commitMessageFaults,
  ...decryptionFaults,
  ...manifestsFaults,
  ...networkFaults,
  ...notifyFaults,
  ...pruneFaults,
  ...pullRequestFaults,
  ...queueFaults,
  ...queueClusterFaults,
  ...generatorFaults,
  ...imageUpdateAutomationFaults,
  ...receiverFaults,
  ...shownTextFaults,
  ...signatureFaults,
  ...sopsFaults,
  ...sourcesFaults,
  ...applyStatementFaults,
  ...flowStatementFaults,
  ...manifestStatementFaults,
  ...combinedInputFaults,
  ...imageSetterFaults,
  ...leftToOthersFaults,
  ...layerFaults,
  ...helmActionFaults,
  ...helmBadInputFaults,
  ...helmCommandFaults,
  ...helmChartFaults,
  ...helmRepositoryFaults,
  ...imagePolicyFaults,
  ...imageRepositoryFaults,
  ...infraFaults,
  ...cliFaults,
  ...kubeAnswerFaults,
  ...awsServiceFaults,
  ...clusterFunctionFaults,
  ...healthFaults,
  ...barringFaults,
  ...ownerFaults,
  ...receiverLoginFaults,
  ...receiverLimitFaults,
  ...sopsLimitFaults,
  ...sourceLimitFaults,
  ...flowLimitFaults,
  ...archiveFaults,
  ...registryFaults,
  ...receiverFlowFaults,
  ...substitutionFaults,
  ...kustomizationFaults,
];
