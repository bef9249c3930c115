import { parseEcrHost, publicEcrFault } from "../../lib/core/ecr-registry.ts";
import type { Json } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { partitionOfRegion } from "../../lib/core/partitions.ts";
import { textAt } from "../objects/read-object.ts";
import { hasField, type Need, nameOfObject, namespaceOf, ofKind } from "./facts.ts";

/** What is pulled with the identity of the installation. */
export interface LentRepositories {
  readonly needs: readonly Need[];
  /** Entries of `repositories` in the context of cdk.json. */
  readonly repositories: readonly Json[];
}

interface Lent {
  readonly object: LiveObject;
  /** `host/path`, without scheme. */
  readonly address: string;
}

/** The repositories of ECR and CodeCommit whose objects log in with `provider: aws`. Pure. */
export function lentRepositories(objects: readonly LiveObject[]): LentRepositories {
  const lent = [...ociRepositories(objects), ...imageRepositories(objects), ...chartRepositories(objects)].filter(
    ({ address }) => publicEcrFault(address.split("/")[0] ?? "") === undefined,
  );
  const git = ofKind(objects, "GitRepository").filter(isOfAws);
  const byArn = Map.groupBy(lent, ({ address }) => arnOf(address) ?? "");
  byArn.delete("");
  return {
    needs: [
      ...needOf(
        [...new Set(lent.map(({ object }) => object))],
        "list the repository of ECR under repositories, since it is pulled with the identity of the installation (docs/deploy.md)",
      ),
      ...needOf(
        git,
        "add a SluiceCodeCommitRepository to an app of your own, with canPush for an ImageUpdateAutomation, since the repository is pulled with the identity of the installation (docs/constructs.md)",
      ),
    ],
    repositories: [...byArn].map(([arn, all]) => ({
      arn,
      namespaces: [...new Set(all.map(({ object }) => namespaceOf(object)))].toSorted(),
    })),
  };
}

function needOf(objects: readonly LiveObject[], text: string): readonly Need[] {
  return objects.length === 0 ? [] : [{ what: "repositories", text, objects: objects.map(nameOfObject) }];
}

function isOfAws(object: LiveObject): boolean {
  return textAt(object, "spec", "provider") === "aws";
}

/** In a registry a Secret wins over the identity of a cloud; in git, as for images, the provider does. */
function isLent(object: LiveObject): boolean {
  return isOfAws(object) && !hasField(object, "secretRef");
}

function ociRepositories(objects: readonly LiveObject[]): readonly Lent[] {
  return ofKind(objects, "OCIRepository")
    .filter(isLent)
    .map((object) => ({ object, address: addressOf(textAt(object, "spec", "url")) }));
}

function imageRepositories(objects: readonly LiveObject[]): readonly Lent[] {
  return ofKind(objects, "ImageRepository")
    .filter(isOfAws)
    .map((object) => ({ object, address: textAt(object, "spec", "image") }));
}

/** Each chart of a registry has a repository of its own. */
function chartRepositories(objects: readonly LiveObject[]): readonly Lent[] {
  const charts = ofKind(objects, "HelmChart");
  return ofKind(objects, "HelmRepository")
    .filter((one) => isLent(one) && textAt(one, "spec", "url").startsWith("oci://"))
    .flatMap((object) => {
      const base = addressOf(textAt(object, "spec", "url")).replace(/\/+$/, "");
      const own = charts.filter(
        (chart) =>
          textAt(chart, "spec", "sourceRef", "kind") === "HelmRepository" &&
          textAt(chart, "spec", "sourceRef", "name") === object.metadata.name &&
          namespaceOf(chart) === namespaceOf(object),
      );
      return own.map((chart) => ({ object, address: `${base}/${textAt(chart, "spec", "chart")}` }));
    });
}

function addressOf(url: string): string {
  return url.replace(/^oci:\/\//, "");
}

/** Undefined unless the registry is one of ECR. */
function arnOf(address: string): string | undefined {
  const [, host = "", name = ""] = /^([^/]+)\/(.+)$/.exec(address) ?? [];
  const registry = parseEcrHost(host);
  if (registry === undefined) return undefined;
  const { account, region } = registry;
  return `arn:${partitionOfRegion(region)}:ecr:${region}:${account}:repository/${name}`;
}
