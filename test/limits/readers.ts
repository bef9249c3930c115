import { archiveReaders } from "./readers/archives.ts";
import { bucketReaders } from "./readers/buckets.ts";
import { chartReaders } from "./readers/charts.ts";
import { clusterReaders } from "./readers/clusters.ts";
import { engineReaders } from "./readers/engine.ts";
import { generatorReaders } from "./readers/generator.ts";
import { gitReaders } from "./readers/git.ts";
import { gitKeyReaders } from "./readers/git-keys.ts";
import { helmReaders } from "./readers/helm.ts";
import { imageSetterReaders } from "./readers/image-setters.ts";
import { imageReaders } from "./readers/images.ts";
import { manifestReaders } from "./readers/manifests.ts";
import { notifyReaders } from "./readers/notify.ts";
import { receiverReaders } from "./readers/receiver.ts";
import { registryReaders } from "./readers/registries.ts";
import { signatureReaders } from "./readers/signatures.ts";
import { sopsReaders } from "./readers/sops.ts";
import type { WorstInput } from "./worst-input.ts";

/** The worst input of every reader of foreign bytes. Whoever adds a reader adds its worst input. */
export const worstInputs: readonly WorstInput[] = [
  ...archiveReaders,
  ...chartReaders,
  ...bucketReaders,
  ...clusterReaders,
  ...engineReaders,
  ...generatorReaders,
  ...gitReaders,
  ...gitKeyReaders,
  ...helmReaders,
  ...imageReaders,
  ...imageSetterReaders,
  ...manifestReaders,
  ...notifyReaders,
  ...receiverReaders,
  ...registryReaders,
  ...signatureReaders,
  ...sopsReaders,
];
