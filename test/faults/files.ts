import { alarmFaults } from "./alarms.ts";
import { applyFaults } from "./apply.ts";
import { applyStatementFaults } from "./apply-statements.ts";
import { awsFaults } from "./aws.ts";
import { bootstrapFaults } from "./bootstrap.ts";
import { bucketFaults } from "./bucket.ts";
import { cachedRunFaults } from "./cached-run.ts";
import { canaryFlowFaults } from "./canary-flow.ts";
import { canaryRoutesFaults } from "./canary-routes.ts";
import { canaryMetricFaults } from "./canary-metrics.ts";
import { canaryRobustFaults } from "./canary-robust.ts";
import { canaryWakingFaults } from "./canary-waking.ts";
import { collectFaults } from "./collect.ts";
import { combinedInputFaults } from "./combined-inputs.ts";
import { commitMessageFaults } from "./commit-message.ts";
import { decryptionFaults } from "./decryption.ts";
import { embeddedKubernetesFaults } from "./embedded-kubernetes.ts";
import type { FileFaults } from "./fault.ts";
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
import { helmActionFaults } from "./helm-actions.ts";
import { helmChartFaults } from "./helm-chart.ts";
import { helmCommandFaults } from "./helm-commands.ts";
import { helmRepositoryFaults } from "./helm-repositories.ts";
import { imagePolicyFaults } from "./image-policy.ts";
import { imageRepositoryFaults } from "./image-repository.ts";
import { imageSetterFaults } from "./image-setters.ts";
import { imageUpdateAutomationFaults } from "./image-update-automation.ts";
import { infraFaults } from "./infra.ts";
import { kubeFaults } from "./kube.ts";
import { layerFaults } from "./layers.ts";
import { leftToOthersFaults } from "./left-to-others.ts";
import { limitFaults } from "./limits.ts";
import { localFaults } from "./local.ts";
import { manifestStatementFaults } from "./manifest-statements.ts";
import { manifestsFaults } from "./manifests.ts";
import { neighbourFaults } from "./neighbours.ts";
import { networkFaults } from "./network.ts";
import { notifyFaults } from "./notify.ts";
import { otherClusterFaults } from "./other-clusters.ts";
import { pruneFaults } from "./prune.ts";
import { pullRequestFaults } from "./pull-request.ts";
import { queueFaults } from "./queue.ts";
import { queueClusterFaults } from "./queue-clusters.ts";
import { receiverFaults } from "./receiver.ts";
import { shownTextFaults } from "./shown-texts.ts";
import { signatureFaults } from "./signatures.ts";
import { sopsFaults } from "./sops.ts";
import { sopsKeyFaults } from "./sops-keys.ts";
import { sourcesFaults } from "./sources.ts";

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
  ...neighbourFaults,
  ...imageSetterFaults,
  ...leftToOthersFaults,
  ...limitFaults,
  ...layerFaults,
  ...helmActionFaults,
  ...helmCommandFaults,
  ...helmChartFaults,
  ...helmRepositoryFaults,
  ...imagePolicyFaults,
  ...imageRepositoryFaults,
  ...infraFaults,
];
