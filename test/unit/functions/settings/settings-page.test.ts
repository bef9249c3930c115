import { expect, test } from "vitest";
import { SettingText } from "../../../../functions/settings/documented.ts";
import { gateTexts } from "../../../../functions/settings/feature-gates.ts";
import { unhonouredFlags } from "../../../../functions/settings/flux-flags.ts";
import { maxClusters, maxNetworks } from "../../../../functions/settings/installation.ts";
import { defaultSettings, Settings } from "../../../../functions/settings/settings.ts";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";

const width = 120;

function wrapped(text: string, columns = width): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + word.length >= columns) lines.push(word);
    else lines.splice(-1, 1, line === "" ? word : `${line} ${word}`);
  }
  return lines.join("\n");
}

/** People read why in docs/maintainers/adr/0026-the-id-of-a-cluster.md. */
const installationPart = `${wrapped(
  "The functions read one JSON document from S3. A deployment uploads it and puts its digest into the environment of the functions, so they refuse a document that was changed later. The CDK app checks the document at synth with the same schema (`functions/settings/installation.ts`), which names every fault and quotes no value.",
)}

\`\`\`json
{
  "version": 1,
  "clusters": [
    {
      "arn": "arn:aws:eks:eu-west-1:111122223333:cluster/prod",
      "repositories": { "apps": ["111122223333.dkr.ecr.eu-west-1.amazonaws.com/team/*"] }
    },
    {
      "arn": "arn:aws:eks:eu-north-1:444455556666:cluster/prod",
      "roles": {
        "reconcile": "arn:aws:iam::444455556666:role/sluice-reconcile",
        "receiver": "arn:aws:iam::444455556666:role/sluice-receiver"
      },
      "network": "private",
      "maxRuns": 50
    }
  ],
  "settings": { "no-cross-namespace-refs": true }
}
\`\`\`

| key of a cluster | what | default |
| --- | --- | --- |
| \`arn\` | its ARN, which is its [id](maintainers/adr/0026-the-id-of-a-cluster.md) in every key, log line and metric; each cluster once, ${maxClusters} at most | required |
| \`roles\` | by function (\`reconcile\`, with webhooks \`receiver\`, with notifications \`notify\`), the role in the cluster's account that the function assumes to describe the cluster and to sign its token | none: the function's own role |
| \`role\` | instead of \`roles\`, one role for all functions; the app refuses it with webhooks | none |
| \`network\` | letters, digits and hyphens, 32 at most. The clusters of a network share a reconcile function and a queue; ${maxNetworks} networks at most | \`default\` |
| \`maxRuns\` | runs of objects of this cluster at the same time, 1 to 1000 | 20 |
| \`repositories\` | by namespace, the repositories of ECR and CodeCommit (\`git-codecommit.<region>.amazonaws.com/v1/repos/<name>\`) that its sources may pull with the identity of the installation; a \`*\` at the end stands for anything | none |
| \`buckets\` | by namespace, the buckets of S3 that its Buckets may read with the identity of the installation, each by its whole name; 100 at most | none |
| \`decryptionKeys\` | by namespace, the KMS keys that decrypt SOPS data keys for its Kustomizations with the identity of the installation, each in full and as the encrypted files name it: \`arn:aws:kms:<region>:<account>:key/<id>\`, \`…:alias/<name>\`, either with \`+arn:aws:iam::<account>:role/<name>\`; 100 at most | none |
| \`targets\` | by namespace, the other clusters of EKS that its Kustomizations may apply to by [\`spec.kubeConfig.configMapRef\`](other-clusters.md#eks-by-a-configmap), each in full and once: \`arn:aws:eks:<region>:<account>:cluster/<name>\`, with \`+arn:aws:iam::<account>:role/<name>\` if Sluice assumes a role of the cluster's account to log in; 100 at most | none |
| \`notificationTargets\` | by namespace, the topics, buses and queues that its Providers of the types \`sns\`, \`eventbridge\` and \`sqs\` may send to with the identity of the installation, each in full: \`arn:aws:sns:<region>:<account>:<topic>\`, \`arn:aws:events:<region>:<account>:event-bus/<name>\`, \`arn:aws:sqs:<region>:<account>:<queue>\`; 100 at most | none |
| \`cloudWatchRegions\` | by namespace, the regions whose CloudWatch its MetricTemplates of the type \`cloudwatch\` read with the identity of the installation; 100 at most | none |

${[
  ["SLUICE_INSTALLATION_BUCKET", "the bucket of the document"],
  ["SLUICE_INSTALLATION_KEY", "its key there"],
  ["SLUICE_INSTALLATION_DIGEST", "`sha256:<hexadecimal>` of its bytes"],
  ["SLUICE_QUEUE_URLS", '`{"<network>": "<URL of its queue of wake-ups>"}`'],
  ["SLUICE_NETWORK", "the network whose clusters a reconcile function serves; default `default`"],
]
  .map(([name, what]) => `- \`${name}\`: ${what}`)
  .join("\n")}`;

const gatesPart = [
  "| gate | default | Flux's | what it does |\n| --- | --- | --- | --- |",
  ...Object.entries(gateTexts).map(([name, { flux, description, only }]) => {
    const held = only?.value ?? new Map<string, boolean>(Object.entries(defaultGates)).get(name);
    const fixed = only === undefined ? "" : ` Can only be \`${only.value}\`: ${only.why}.`;
    return `| \`${name}\` | \`${held}\` | \`${flux}\` | ${description}${fixed} |`;
  }),
].join("\n");

/** `docs/settings.md`, as the schema has it. */
function page(): string {
  const settings = Object.entries(Settings.shape).flatMap(([key, schema]) => {
    const { description, flagger, flux, since } = SettingText.parse(schema.meta());
    if (key === "feature-gates") return [`### ${key}`, wrapped(description), `Since ${since}.`];
    const value = JSON.stringify(Object.entries(defaultSettings).find(([name]) => name === key)?.[1]);
    const [of, other] = flagger === undefined ? ["Flux", flux] : ["Flagger", flagger];
    const theirs = other === undefined ? "Flux has no such flag" : `${of}'s default: \`${other}\``;
    return [`### ${key}`, wrapped(description), `Default: \`${value}\`. ${theirs}. Since ${since}.`];
  });
  const flags = Map.groupBy(unhonouredFlags.keys(), (flag) => unhonouredFlags.get(flag));
  const refused = [...flags].map(([why, names]) =>
    wrapped(`- ${names.map((name) => `\`${name}\``).join(", ")}: ${why}.`, width - 2).replaceAll("\n", "\n  "),
  );
  return `${[
    "# Settings of an installation",
    "<!-- Made from functions/settings by its test; write it again with `vitest run test/unit/functions/settings -u`. -->",
    wrapped(
      "One document of YAML or JSON. If Flux or Flagger has the same setting, it has the name of their flag. Every setting is optional; an unknown key is refused by name.",
    ),
    [
      "- `sluice local --config FILE` reads it from a file, and `sluice settings --config FILE` prints the effective settings",
      "  and where each comes from.",
      "- In AWS they are the part `settings` of the [document of the installation](#the-document-of-an-installation-in-aws).",
    ].join("\n"),
    wrapped(
      "Sluice reads the settings when the process starts. A change takes effect for each object at its next run; if a setting has stalled an object, request its run with `sluice reconcile`.",
    ),
    "```yaml\nno-cross-namespace-refs: true\n```",
    "## The settings",
    ...settings,
    "## The feature gates",
    gatesPart,
    "## The document of an installation in AWS",
    installationPart,
    "## Flags of Flux that are refused",
    "Each is refused by name with this reason:",
    refused.join("\n"),
  ].join("\n\n")}\n`;
}

test("docs/settings.md is up to date with the schema", async () => {
  await expect(page()).toMatchFileSnapshot("../../../../docs/settings.md");
});
