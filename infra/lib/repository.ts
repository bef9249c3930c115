import { Duration, RemovalPolicy, Stack, Token } from "aws-cdk-lib";
import { type IRepository, Repository, RepositoryEncryption, TagMutability, TagStatus } from "aws-cdk-lib/aws-ecr";
import { RegionInfo } from "aws-cdk-lib/region-info";
import { Construct } from "constructs";
import { allow } from "./access.ts";
import { checkOrigin, checkPulling } from "./pushes.ts";
import type { SluiceService } from "./service.ts";

export interface SluiceRepositoryProps {
  readonly sluice: SluiceService;
  /** An existing repository. Exactly one of `repository`, `repositoryArn` and `newRepositoryName` is given. */
  readonly repository?: IRepository;
  /**
   * `arn:aws:ecr:<region>:<account>:repository/<name>`, an existing repository. In another account, its own policy has to let the
   * Sluice's reconcile roles pull (`pullActions`), and its pushes come by `pushesFrom`.
   */
  readonly repositoryArn?: string;
  /** The name of a repository that is made here, and retained when the stack is deleted. */
  readonly newRepositoryName?: string;
  /** The clusters whose objects may pull it, or their ARNs. They are added to the Sluice before. */
  readonly clusters: readonly (string | { readonly arn: string })[];
  /** The namespaces whose objects may pull it. */
  readonly namespaces: readonly string[];
  /** For a new repository: when an image whose tag has moved is removed. Default: 30 days. */
  readonly untaggedExpiry?: Duration;
  /** For a new repository: how many images it keeps, 1 or more. Default: all. */
  readonly maxImages?: number;
  /** For a new repository: whether pushed images are scanned; artifacts of manifests have nothing to scan. Default: true. */
  readonly scanOnPush?: boolean;
  /** For a new repository: whether tags can never move. Default: false, since a tag like `latest` is moved by each push. */
  readonly immutableTags?: boolean;
}

/** What pulling an artifact and listing its tags needs, of one repository. */
export const pullActions = [
  "ecr:BatchCheckLayerAvailability",
  "ecr:BatchGetImage",
  "ecr:GetDownloadUrlForLayer",
  "ecr:ListImages",
];

/** A repository of ECR whose pushes wake a Sluice, and that objects of some namespaces may pull with its rights. */
export class SluiceRepository extends Construct {
  readonly repository: IRepository;
  /** `<account>.dkr.ecr.<region>.amazonaws.com/<name>`: after `oci://`, the `url` of an OCIRepository. */
  readonly uri: string;

  constructor(scope: Construct, id: string, props: SluiceRepositoryProps) {
    super(scope, id);
    const { sluice, clusters, namespaces } = props;
    this.repository = this.named(props);
    const { account, region } = this.repository.env;
    const { repositoryName } = this.repository;
    if ([account, region, repositoryName].some((value) => Token.isUnresolved(value))) {
      throw new Error(
        `${this.node.path}: the account, the region or the name of the repository is known only while the stack is deployed, and functions learn of it from a file that is written before: give the stack an env with account and region, or write repositoryArn`,
      );
    }
    checkOrigin(
      `${this.node.path}: the repository "${repositoryName}"`,
      { account, region },
      Stack.of(sluice),
      sluice.pushesFrom,
    );
    checkPulling(this, { clusters, namespaces });
    this.uri = `${account}.dkr.ecr.${region}.${RegionInfo.get(region).domainSuffix ?? "amazonaws.com"}/${repositoryName}`;
    const arns = clusters.map((cluster) => (typeof cluster === "string" ? cluster : cluster.arn));
    for (const arn of arns) for (const namespace of namespaces) sluice.allowRepository(arn, namespace, this.uri);
    const networks = new Set(sluice.clusters.filter(({ arn }) => arns.includes(arn)).map(({ network }) => network));
    for (const role of [...networks].map((network) => sluice.reconcileRole(network))) {
      role.addToPrincipalPolicy(allow("", pullActions, [this.repository.repositoryArn]));
      // There is no finer one: it is of a whole registry.
      role.addToPrincipalPolicy(allow("", ["ecr:GetAuthorizationToken"], ["*"]));
    }
  }

  private named(props: SluiceRepositoryProps): IRepository {
    const { repository, repositoryArn, newRepositoryName } = props;
    const given = [repository, repositoryArn, newRepositoryName].filter((value) => value !== undefined);
    if (given.length !== 1) {
      throw new Error(
        `${this.node.path} names ${given.length} repositories: give exactly one of repository, repositoryArn and newRepositoryName`,
      );
    }
    if (repository !== undefined) return repository;
    if (newRepositoryName !== undefined) return this.make(newRepositoryName, props);
    const arn = repositoryArn ?? "";
    if (
      !Token.isUnresolved(arn) &&
      !/^arn:aws[\w-]*:ecr:[a-z0-9-]+:\d{12}:repository\/[a-z0-9][a-z0-9._/-]*$/.test(arn)
    ) {
      throw new Error(
        `${this.node.path}: "${arn}" is not a repository of ECR: write arn:aws:ecr:<region>:<account>:repository/<name>`,
      );
    }
    return Repository.fromRepositoryArn(this, "Repository", arn);
  }

  private make(repositoryName: string, props: SluiceRepositoryProps): IRepository {
    const { untaggedExpiry = Duration.days(30), maxImages, scanOnPush = true, immutableTags = false } = props;
    const made = new Repository(this, "Repository", {
      repositoryName,
      imageScanOnPush: scanOnPush,
      imageTagMutability: immutableTags ? TagMutability.IMMUTABLE : TagMutability.MUTABLE,
      encryption: RepositoryEncryption.AES_256,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        {
          description: "images without a tag",
          tagStatus: TagStatus.UNTAGGED,
          maxImageAge: untaggedExpiry,
          rulePriority: 1,
        },
        ...(maxImages === undefined
          ? []
          : [
              { description: "the newest images", tagStatus: TagStatus.ANY, maxImageCount: maxImages, rulePriority: 2 },
            ]),
      ],
    });
    return Repository.fromRepositoryAttributes(this, "Named", {
      repositoryArn: made.repositoryArn,
      repositoryName,
    });
  }
}
