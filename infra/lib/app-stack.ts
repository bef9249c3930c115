import { Annotations, CfnResource, RemovalPolicy, Stack } from "aws-cdk-lib";
import { SecurityGroup, Subnet, Vpc } from "aws-cdk-lib/aws-ec2";
import type { Construct } from "constructs";
import { z } from "zod";
import { someOf } from "../../lib/core/cut-text.ts";
import { SluiceBucket } from "./bucket.ts";
import { type AppContext, clustersForm, readContext } from "./context.ts";
import { furtherNetworkUsd } from "./network-cost.ts";
import type { SluiceNetwork } from "./networks.ts";
import { SluiceObservability } from "./observability.ts";
import { sluiceOutputs } from "./outputs.ts";
import { placeOfStack } from "./place-of-stack.ts";
import { SluiceRepository } from "./repository.ts";
import { defaultNetwork } from "./service.ts";
import { Sluice } from "./sluice.ts";

/** CloudFormation's limit, which a stack cannot raise. */
const maxResources = 500;

export interface SluiceStackProps {
  /**
   * The command of the CDK that the app runs for, where it compares with a deployed stack or changes it. It is refused while the context
   * has no clusters: it would use the stack of another account, or drop all clusters. Default: unknown, then there is a warning.
   */
  readonly command?: string;
  /** The account of the credentials of the CDK, if it has any. Default: unknown. */
  readonly credentials?: string;
}

/** All of Sluice in one stack, with its alarms, configured by the installation in the context alone. */
export class SluiceStack extends Stack {
  readonly sluice: Sluice;

  constructor(scope: Construct, id: string, { command, credentials }: SluiceStackProps = {}) {
    const context = readContext(z.record(z.string(), z.unknown()).parse(scope.node.getAllContext()));
    const { isGiven, clusters, repositories, buckets, webhooks, notifications, admission, allowDrops } = context;
    const { emails, pageEmails, settings, ticketEmails } = context;
    if (!isGiven && command !== undefined) {
      throw new Error(
        `cdk ${command} needs the installation, and the context names no clusters: write them into the "context" of cdk.json, ${clustersForm}`,
      );
    }
    const place = placeOfStack(context);
    const [account, region] = place === undefined ? [] : place.split("/");
    super(scope, id, {
      description: "Sluice: GitOps for Amazon EKS with no controllers to run",
      ...(account === undefined ? {} : { env: { account, region } }),
    });
    this.sluice = new Sluice(this, "Sluice", {
      networks: networksOf(this, context),
      removalPolicy: RemovalPolicy[context.removalPolicy],
      ...{ webhooks, notifications, admission, allowDrops, settings },
    });
    // Also before there is a cluster: roles in another account trust those of the functions, which the outputs name.
    const installing = this.sluice.emulated ? [] : Object.keys(this.sluice.wakeUpQueues);
    for (const network of installing) this.sluice.functionFor("definitions", network);
    const watch = new SluiceObservability(this, "Watch", { sluice: this.sluice, emails, pageEmails, ticketEmails });
    if (!isGiven) {
      Annotations.of(this).addWarningV2(
        "sluice:noClusters",
        `the context of cdk.json names no clusters, so this installation has none: write ${clustersForm}`,
      );
    }
    if (place !== undefined && context.environment === undefined) {
      Annotations.of(this).addWarningV2(
        "sluice:noEnvironment",
        `the stack is deployed where its clusters without roles are, or its first repository, so a changed list could deploy a second one elsewhere: write "environment": "aws://${place}" into the context of cdk.json`,
      );
    }
    const [wanted] = place?.split("/") ?? [];
    if (credentials !== undefined && wanted !== undefined && credentials !== wanted) {
      Annotations.of(this).addWarningV2(
        "sluice:otherAccount",
        `the stack is deployed to ${place}, and your credentials are of the account ${credentials}: use credentials of ${wanted}. If the stack should be in ${credentials}, write "environment": "aws://${credentials}/<region>", and the roles of each cluster that is elsewhere (docs/deploy.md)`,
      );
    }
    this.node.addValidation({ validate: () => tooManyResources(this, context) });
    for (const { arn, rights = "namespaces", securityGroup, ...cluster } of clusters) {
      // By the whole ARN, so that a cluster keeps its resources wherever it stands in the list.
      const id = arn.split(":").slice(3).join("-").replace("cluster/", "");
      const clusterSecurityGroup =
        securityGroup === undefined
          ? undefined
          : SecurityGroup.fromSecurityGroupId(this, `Endpoint-${id}`, securityGroup);
      this.sluice.addCluster(id, { clusterArn: arn, rights, clusterSecurityGroup, ...cluster });
    }
    const used = clusters.map(({ network }) => network);
    const unused = Object.keys(context.networks).filter((name) => !used.includes(name));
    if (unused.length > 0) {
      Annotations.of(this).addWarningV2(
        "sluice:unusedNetworks",
        `no cluster is in ${someOf(unused)}, and each network has functions and a queue of its own, ${costOfNetwork}: remove it from networks, or name it as the network of a cluster`,
      );
    }
    // The functions of the network "default" are made in any case.
    const further = Object.keys(context.networks).filter((name) => name !== defaultNetwork && used.includes(name));
    if (further.length > 0) {
      Annotations.of(this).addInfo(
        `${someOf(further)} in networks: each has functions and a queue of its own, ${costOfNetwork}, beside its NAT gateway or VPC endpoints (docs/cost.md)`,
      );
    }
    const unsaid = clusters.filter(({ rights }) => rights === undefined).map(({ arn }) => arn);
    if (unsaid.length > 0) {
      Annotations.of(this).addWarningV2(
        "sluice:defaultRights",
        `no rights are written for ${someOf(unsaid)}, so Sluice applies there only as the service accounts that Kustomizations name: write "rights": "namespaces" or "clusterAdmin" beside the ARN`,
      );
    }
    // An installation whose last cluster has left keeps its repositories in the context, and its place beside them.
    const pulled = clusters.length === 0 ? [] : repositories;
    for (const { arn, clusters: pulling = clusters.map((cluster) => cluster.arn), namespaces } of pulled) {
      // By the whole ARN, since names may be equal in two regions. It makes no resource, so its id may change.
      new SluiceRepository(this, `Repository-${arn.split(":").slice(3).join("-").replaceAll("/", "+")}`, {
        sluice: this.sluice,
        repositoryArn: arn,
        clusters: pulling,
        namespaces,
      });
    }
    for (const { arn, clusters: reading = clusters.map((cluster) => cluster.arn), namespaces } of buckets) {
      new SluiceBucket(this, `Bucket-${arn.split(":::")[1]}`, {
        ...{ sluice: this.sluice, bucketArn: arn, clusters: reading, namespaces },
      });
    }
    sluiceOutputs(this, this.sluice, watch);
  }
}

const costOfNetwork = `about $${furtherNetworkUsd} a month at rest`;

/** Asked when all is made, also what the CDK makes by itself: clusters, networks, security groups, roles and repositories all count. */
function tooManyResources(stack: Stack, { clusters, networks }: AppContext): string[] {
  const all = stack.node.findAll().filter((one) => CfnResource.isCfnResource(one) && Stack.of(one) === stack);
  if (all.length <= maxResources) return [];
  return [
    `${all.length} resources are too many for one stack, which CloudFormation limits to ${maxResources}: ${clusters.length} clusters have two to five each, ${Object.keys(networks).length} networks some twenty each, beside about a hundred of the Sluice itself. Give fewer clusters, and deploy a second installation for the others, or write an app of your own with SluiceCluster in several stacks`,
  ];
}

/** The networks of the context, by name. What they name exists already. */
function networksOf(scope: Construct, { networks }: AppContext): Readonly<Record<string, SluiceNetwork>> {
  return Object.fromEntries(
    Object.entries(networks).map(([name, { egress, subnetIds, vpcId }]) => {
      // The zones of its subnets are not asked for: functions are placed by subnets alone.
      const vpc = Vpc.fromVpcAttributes(scope, `Vpc-${name}`, { vpcId, availabilityZones: ["unknown"] });
      const subnets = subnetIds.map((id) => {
        const subnet = Subnet.fromSubnetId(scope, `${name}-${id}`, id);
        Annotations.of(subnet).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId", "Nothing is routed here");
        return subnet;
      });
      return [name, { vpc, subnets: { subnets }, endpointsElsewhere: egress === "endpoints" }];
    }),
  );
}
