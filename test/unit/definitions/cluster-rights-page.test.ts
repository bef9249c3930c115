import { expect, test } from "vitest";
import { stringify } from "yaml";
import { canaryRights } from "../../../lib/definitions/canary-rights.ts";
import {
  clusterRights,
  definitionsAlone,
  type Holder,
  rightsManifests,
} from "../../../lib/definitions/cluster-rights.ts";
import type { Right } from "../../../lib/definitions/right.ts";

/** `docs/cluster-rights.md`, as the code has it. */
function page(): string {
  return `${intro}

## What the reconcile function does

${table(clusterRights["sluice-reconcile"])}

## What the receiver function does

${table(clusterRights["sluice-receiver"])}

## What the notify function does

${table(clusterRights["sluice-notify"])}

## What the configuration function does

${table(clusterRights["sluice-configuration"])}

## What the definitions function does

It has all of the above too: Kubernetes lets users grant only rights that they have. It holds in addition

${table(definitionsAlone)}

## What a step of a Canary does

In the namespace of the Canary, as the service account that \`default-service-account\` names, or else as reconcile

${table(canaryRights)}

## Without AmazonEKSClusterAdminPolicy for the definitions function

${manifestsIntro}

\`\`\`yaml
${manifests("sluice-definitions")}
\`\`\`
`;
}

const intro = `# What Sluice may do in a cluster
<!-- Made from lib/definitions/cluster-rights.ts by its test: \`vitest run test/unit/definitions -u\` writes it again. -->

Five functions reach a cluster. \`SluiceCluster\` lets each in by an access entry of EKS with a Kubernetes group.
Nothing else has rights, and no credential is stored: a token is signed for each connection and lasts 15
minutes.

| function | when it runs | group | rights |
| --- | --- | --- | --- |
| reconcile | at each push, change and interval | \`sluice-reconcile\` | with \`rights: "namespaces"\` those of its list; with \`"clusterAdmin"\` the policy AmazonEKSClusterAdminPolicy as well |
| receiver | at each webhook, where there are \`webhooks\` | \`sluice-receiver\` | those of its list |
| notify | at each notification, where there are \`notifications\` | \`sluice-notify\` | those of its list |
| definitions | when the stack is deployed | \`sluice-definitions\` | by default the policy AmazonEKSClusterAdminPolicy |
| configuration | when a \`SluiceConfiguration\` is deployed or its login is rotated | \`sluice-configuration\` | those of its list |

With \`rights: "clusterAdmin"\` Sluice applies everything that a push contains with its own rights, unless the
Kustomization names a service account. With \`rights: "namespaces"\` reconcile has no policy, only its list below:
what is applied, pruned and checked is done as the service account that the Kustomization or the setting
\`default-service-account\` names, always one of the Kustomization's own namespace. So a tenant gets as far as the
accounts in his namespaces do.

The ClusterRole of reconcile allows it to impersonate the service accounts of all namespaces, so an attacker who
controls the reconcile function can act as any of them. To limit this to some namespaces, an administrator creates a
Role with the verb \`impersonate\` and a RoleBinding for the group in each of them, and removes the verb from the
ClusterRole. Each deployment adds the verb to the ClusterRole again, so it has to be removed after each deployment.

The lists below are what the functions need for themselves, without what pushes contain. The definitions
function installs those of the others as ClusterRoles and Roles of their names. Tests run each function on a
real API server with exactly these rights. For the definitions function, another takes every verb away in turn
and checks that something is denied (test/e2e/definitions/real.test.ts).

A Canary names no service account. Its steps are taken as the account that \`default-service-account\` names, in the
namespace of the Canary: it needs [these rights](#what-a-step-of-a-canary-does). Without that setting they are taken as
reconcile, which has them with \`"clusterAdmin"\` only: with \`"namespaces"\` the Events of the Canary say what is
forbidden. MetricTemplates and AlertProviders are read with the same rights.

To reach Services of the cluster, functions need \`services/proxy\` in their namespaces: reconcile for the [servers that
Canaries ask](canary-servers.md#servers-in-the-cluster), notify for [receivers of
notifications](notifications.md#a-receiver-in-the-cluster). No list has that right: an administrator applies the Roles
of these pages.

A cluster must know access entries: authentication mode \`API\` or \`API_AND_CONFIG_MAP\`.

## A cluster of another account or region

EKS describes a cluster only to its own account, and access entries are made beside the cluster. So each function
assumes a role of the cluster's account. \`SluiceClusterRoles\`, in a stack of the cluster's account and region, makes
one for each function: it trusts the role of that function alone, may call \`eks:DescribeCluster\` on that cluster
alone, and has the access entry with the group and the policy of the table above.

\`\`\`typescript
const there = new Stack(app, "Far", { env: { account: "210987654321", region: "eu-west-1" } });
const roles = new SluiceClusterRoles(there, "Roles", {
  clusterArn: "arn:aws:eks:eu-west-1:210987654321:cluster/far",
  rights: "clusterAdmin",
  sluice,
});
sluice.addCluster("Far", { clusterArn: "arn:aws:eks:eu-west-1:210987654321:cluster/far", rights: "clusterAdmin", roles });
\`\`\`

- The stack of the cluster's account is deployed first; \`cdk deploy --all\` does so. The functions then have role names
  that are known at synth: an installation that is there already gets new roles once, and its access entries follow.
- With \`configurations: true\` there is also a role for the function configuration, which a \`SluiceConfiguration\` in
  that cluster needs.
- In another app, \`functionRoles\` in place of \`sluice\` names the roles of the functions by their ARNs (each is the
  \`Role\` of its function in the Sluice's stack), and \`addCluster\` gets \`roles: { reconcile, receiver, notify,
  definitions, configuration }\` with the ARNs that the construct has made.
- \`role\` in place of \`roles\` is one role for all, made by hand, with the access entry of all groups. It is refused with
  \`webhooks: true\`: the receiver is open to the internet, and would enter with the rights of reconcile.`;

const manifestsIntro = `The function needs rights before it can install any, and this policy is the only one of EKS that includes definitions
and roles. So the policy is the default. An administrator who does not want it applies these manifests first, and then
sets \`definitionsRights: "group"\`, a value of the cluster in cdk.json and a property of \`addCluster\`. The manifests
name the kinds of one release of Sluice: apply them again before an upgrade.`;

function table(rights: readonly Right[]): string {
  const rows = rights.flatMap((right) =>
    right.verbs.map(({ verb, why }) => `| ${resourceOf(right)} | \`${verb}\` | ${only(right)} | ${why} |`),
  );
  return ["| resource | verb | only | why |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function resourceOf({ group, resource }: Right): string {
  const [first = resource] = resource.split("/");
  return group === "" ? `\`${resource}\`` : `\`${resource.replace(first, `${first}.${group}`)}\``;
}

function only({ names = [], namespace }: Right): string {
  const where = namespace === undefined ? [] : [`in ${namespace}`];
  return [...names.map((name) => `\`${name}\``), ...where].join(", ");
}

function manifests(holder: Holder): string {
  return rightsManifests(holder)
    .map((manifest) => stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd())
    .join("\n---\n");
}

test("docs/cluster-rights.md is up to date with the code", async () => {
  await expect(page()).toMatchFileSnapshot("../../../docs/cluster-rights.md");
});

test("no right is granted twice, and each verb has a reason", () => {
  for (const rights of Object.values(clusterRights)) {
    const verbs = rights.flatMap((right) =>
      right.verbs.map(
        ({ verb }) => `${verb} ${right.group}/${right.resource} ${String(right.namespace)} ${String(right.names)}`,
      ),
    );
    expect(new Set(verbs).size).toBe(verbs.length);
    expect(rights.flatMap((right) => right.verbs).filter(({ why }) => why === "")).toEqual([]);
  }
});
