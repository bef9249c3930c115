import type { Layer } from "../check-layers.ts";

/** The adapters to hosts, clusters and AWS. */
export const adapterLayers: readonly Layer[] = [
  {
    folder: "lib/http",
    imports: ["lib/core", "lib/core/network", "lib/core/ports"],
    why: "Adapter: requests and connections to hosts that objects name, by the network policy.",
  },
  {
    folder: "lib/kube",
    imports: ["lib/core", "lib/core/network", "lib/core/ports", "lib/http"],
    why: "Adapter: the Kubernetes API. It connects as `lib/http` does.",
  },
  {
    folder: "lib/aws",
    imports: ["lib/core", "lib/core/ports", "lib/notify"],
    why: "Adapter: the AWS SDK. It turns faults into those of the ports.",
  },
  {
    folder: "lib/aws/s3",
    imports: ["lib/core", "lib/core/ports", "lib/aws"],
    why: "Adapter: artifacts in S3.",
  },
  {
    folder: "lib/aws/dynamodb",
    imports: ["lib/core", "lib/core/ports", "lib/queue", "lib/apply", "lib/aws"],
    why: "Adapter: the state in DynamoDB. Work items and pages of an inventory have the form that `lib/queue` and `lib/apply` define.",
  },
  {
    folder: "lib/aws/ecr",
    imports: ["lib/core", "lib/core/ports", "lib/aws"],
    why: "Adapter: logins to ECR.",
  },
  {
    folder: "lib/aws/codecommit",
    imports: ["lib/core", "lib/core/ports", "lib/sources/git", "lib/aws"],
    why: "Adapter: logins to CodeCommit, whose host names belong to git.",
  },
  {
    folder: "lib/aws/eks",
    imports: ["lib/core", "lib/core/ports", "lib/kube", "lib/aws"],
    why: "Adapter: clusters of EKS, as configurations of `lib/kube`.",
  },
];
