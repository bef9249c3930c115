import { Stack } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import { isAllowedRepository } from "../../functions/settings/allowed-repositories.ts";
import { readInstallation } from "../../functions/settings/installation.ts";
import { codeCommitRegion } from "../../lib/sources/git/codecommit-host.ts";
import { SluiceCodeCommitRepository, type SluiceCodeCommitRepositoryProps } from "../lib/code-commit.ts";
import { InstallationDocument } from "../lib/installation.ts";
import { Sluice } from "../lib/sluice.ts";
import { env, prod, resourcesOf, templateOf, uncheckedApp } from "./synthesise.ts";

const repositoryArn = "arn:aws:codecommit:eu-west-1:123456789012:apps";

function withRepository(props: Partial<SluiceCodeCommitRepositoryProps>) {
  const stack = new Stack(uncheckedApp(), "Test", { env });
  const sluice = new Sluice(stack, "Sluice", { webhooks: true });
  sluice.addCluster("Prod", { clusterArn: prod, rights: "namespaces" });
  const given = { sluice, clusters: [prod], namespaces: ["apps"], ...props };
  const repository = new SluiceCodeCommitRepository(stack, "Apps", given);
  return { stack, sluice, repository };
}

describe("a CodeCommit repository", () => {
  test("is pulled only by the role of reconcile, for the listed namespaces", () => {
    const { stack, sluice, repository } = withRepository({ repositoryArn });
    const pulling = Object.entries(resourcesOf(templateOf(stack), "AWS::IAM::Policy")).filter(([, policy]) =>
      JSON.stringify(policy).includes("codecommit:"),
    );
    expect(pulling.map(([id]) => id.replace(/DefaultPolicy.*/, ""))).toEqual([
      expect.stringMatching(/^SluiceReconcileRole/),
    ]);
    expect(JSON.stringify(pulling)).toContain(
      JSON.stringify({ Action: "codecommit:GitPull", Effect: "Allow", Resource: repositoryArn }),
    );
    expect(repository.url).toBe("https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/apps");
    expect(codeCommitRegion(new URL(repository.url))).toBe("eu-west-1");
    const document = sluice.node.findChild("Installation");
    const read = document instanceof InstallationDocument ? readInstallation(document.text()) : { faults: ["none"] };
    if ("faults" in read) throw new Error(read.faults.join());
    const allowed = read.clusters[0]?.repositories ?? {};
    const path = repository.url.slice("https://".length);
    expect(isAllowedRepository(allowed, "apps", path)).toBe(true);
    expect(isAllowedRepository(allowed, "other", path)).toBe(false);
  });

  test("is pushed to by the role of reconcile only on request", () => {
    const rights = (props: Partial<SluiceCodeCommitRepositoryProps>) =>
      JSON.stringify(resourcesOf(templateOf(withRepository({ repositoryArn, ...props }).stack), "AWS::IAM::Policy"));
    expect(rights({})).not.toContain("codecommit:GitPush");
    expect(rights({ canPush: true })).toContain(
      JSON.stringify({
        Action: ["codecommit:GitPull", "codecommit:GitPush"],
        Effect: "Allow",
        Resource: repositoryArn,
      }),
    );
  });

  test.each<{ props: Partial<SluiceCodeCommitRepositoryProps>; says: string }>([
    { props: {}, says: "Test/Apps: give exactly one of repository and repositoryArn" },
    { props: { repositoryArn: "apps" }, says: '"apps" is not a repository of CodeCommit' },
    {
      props: { repositoryArn: repositoryArn.replace("123456789012", "210987654321") },
      says: "is in the account 210987654321 and the Sluice in 123456789012",
    },
    { props: { repositoryArn: repositoryArn.replace("eu-west-1", "eu-north-1") }, says: "to pushesFrom of the Sluice" },
    { props: { repositoryArn, namespaces: [] }, says: "namespaces is empty" },
    { props: { repositoryArn, clusters: [`${prod}-2`] }, says: "is not one of this Sluice: add it first" },
  ])("is refused: $says", ({ props, says }) => {
    expect(() => withRepository(props)).toThrow(says);
  });
});
