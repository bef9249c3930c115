import { Stack, Token } from "aws-cdk-lib";
import { type IRepository, Repository } from "aws-cdk-lib/aws-codecommit";
import { RegionInfo } from "aws-cdk-lib/region-info";
import { Construct } from "constructs";
import { allow } from "./access.ts";
import { checkOrigin, checkPulling } from "./pushes.ts";
import type { SluiceService } from "./service.ts";

export interface SluiceCodeCommitRepositoryProps {
  readonly sluice: SluiceService;
  /** An existing repository as a construct. Exactly one of `repository` and `repositoryArn` is given. */
  readonly repository?: IRepository;
  /** `arn:aws:codecommit:<region>:<account>:<name>`, an existing repository. */
  readonly repositoryArn?: string;
  /** The clusters whose objects may pull it, or their ARNs. They are added to the Sluice before. */
  readonly clusters: readonly (string | { readonly arn: string })[];
  /** The namespaces whose objects may pull it. */
  readonly namespaces: readonly string[];
  /**
   * Whether ImageUpdateAutomations of these namespaces may push commits to it; so may those of every other namespace that another
   * construct lets pull it. Default: false.
   */
  readonly canPush?: boolean;
}

/**
 * A repository of CodeCommit that GitRepositories with `provider: aws` of some namespaces may pull with a Sluice's rights, and whose
 * pushes wake it. Where it is written, ImageUpdateAutomations may push to it.
 */
export class SluiceCodeCommitRepository extends Construct {
  /** `https://git-codecommit.<region>.amazonaws.com/v1/repos/<name>`, the `url` of a GitRepository. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: SluiceCodeCommitRepositoryProps) {
    super(scope, id);
    const { canPush = false, clusters, namespaces, sluice } = props;
    const { repositoryArn, repositoryName, env } = this.named(props);
    const { account, region } = env;
    if ([account, region, repositoryName].some((value) => Token.isUnresolved(value))) {
      throw new Error(
        `${this.node.path}: the account, the region or the name of the repository is known only while the stack is deployed, and functions learn of it from a file that is written before: write repositoryArn, arn:aws:codecommit:<region>:<account>:<name>`,
      );
    }
    const own = Stack.of(sluice).account;
    if (!Token.isUnresolved(own) && own !== account) {
      throw new Error(
        `${this.node.path}: the repository "${repositoryName}" is in the account ${account} and the Sluice in ${own}, and the functions pull CodeCommit with their own roles: mirror it into ${own}, or give the GitRepository a secretRef with credentials of ${account}`,
      );
    }
    checkOrigin(
      `${this.node.path}: the repository "${repositoryName}"`,
      { account, region },
      Stack.of(sluice),
      sluice.pushesFrom,
    );
    checkPulling(this, { clusters, namespaces });
    const host = `git-codecommit.${region}.${RegionInfo.get(region).domainSuffix ?? "amazonaws.com"}`;
    const path = `${host}/v1/repos/${repositoryName}`;
    this.url = `https://${path}`;
    const arns = clusters.map((cluster) => (typeof cluster === "string" ? cluster : cluster.arn));
    for (const arn of arns) for (const namespace of namespaces) sluice.allowRepository(arn, namespace, path);
    const networks = new Set(sluice.clusters.filter(({ arn }) => arns.includes(arn)).map(({ network }) => network));
    const actions = ["codecommit:GitPull", ...(canPush ? ["codecommit:GitPush"] : [])];
    for (const network of networks) {
      sluice.reconcileRole(network).addToPrincipalPolicy(allow("", actions, [repositoryArn]));
    }
  }

  private named({ repository, repositoryArn }: SluiceCodeCommitRepositoryProps): IRepository {
    if ((repository === undefined) === (repositoryArn === undefined)) {
      throw new Error(`${this.node.path}: give exactly one of repository and repositoryArn`);
    }
    if (repository !== undefined) return repository;
    const arn = repositoryArn ?? "";
    if (!Token.isUnresolved(arn) && !/^arn:aws[\w-]*:codecommit:[a-z0-9-]+:\d{12}:[\w.-]{1,100}$/.test(arn)) {
      throw new Error(
        `${this.node.path}: "${arn}" is not a repository of CodeCommit: write arn:aws:codecommit:<region>:<account>:<name>`,
      );
    }
    return Repository.fromRepositoryArn(this, "Repository", arn);
  }
}
