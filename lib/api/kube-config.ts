import { z } from "zod";
import { LocalReference } from "./fields.ts";

const oneOfKubeConfig = "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified";
/** `spec.kubeConfig`: another cluster, by a Secret or by a ConfigMap. */
export const KubeConfig = z
  .object({
    secretRef: z
      .object({
        name: z.string().describe("Name of the Secret."),
        key: z.string().describe("Key of the kubeconfig; value, then value.yaml by default.").exactOptional(),
      })
      .describe("Secret with a kubeconfig.")
      .exactOptional(),
    configMapRef: LocalReference.describe("ConfigMap with the parameters of a cloud login.").exactOptional(),
  })
  .refine(({ secretRef, configMapRef }) => (secretRef === undefined) !== (configMapRef === undefined), oneOfKubeConfig)
  .meta({
    "x-kubernetes-validations": [
      { rule: "has(self.configMapRef) || has(self.secretRef)", message: oneOfKubeConfig },
      { rule: "!has(self.configMapRef) || !has(self.secretRef)", message: oneOfKubeConfig },
    ],
  });
