import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replacedState } from "./replaced-state.ts";
import { shapes } from "./shapes.ts";
import { TemplateFile, templateOf, withoutCode } from "./synthesise.ts";

test.each(Object.entries(shapes))("the template of the shape %s is the reviewed one", async (name, make) => {
  const text = `${JSON.stringify(withoutCode(templateOf(make().stack)), undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(`fixtures/${name}.json`);
});

test.each(Object.entries(shapes))("synthesising the shape %s twice gives the same bytes", (_, make) => {
  const [first, second] = [make(), make()].map(({ app }) => files(app.synth().directory));
  expect(first?.size).toBeGreaterThan(5);
  expect(first).toEqual(second);
});

/** What is deployed: templates, lists of assets and assets. The other files tell the CDK's command line of lines of our source. */
function files(directory: string): ReadonlyMap<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const isDeployed = (path: string): boolean => /\.(template|assets)\.json$|\/asset\./.test(path);
  const paths = entries
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(isDeployed)
    .toSorted();
  return new Map(paths.map((path) => [path.slice(directory.length), readFileSync(path, "latin1")]));
}

const previous = TemplateFile.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, "previous-template.json"), "utf8")),
);

test("an upgrade from the previous release replaces no resource with state", () => {
  expect(replacedState(previous, templateOf(shapes.privateCluster().stack))).toEqual([]);
});

test("the check finds a resource that would be replaced or deleted", () => {
  const { SluiceTable, SluiceInstallationKey, SluiceArtifacts, ...others } = previous.Resources;
  if (SluiceTable === undefined || SluiceInstallationKey === undefined || SluiceArtifacts === undefined) {
    throw new Error("previous-template.json holds no state");
  }
  const changed: TemplateFile = {
    Resources: {
      ...others,
      SluiceState: SluiceTable,
      SluiceArtifacts: { ...SluiceArtifacts, DeletionPolicy: "Delete" },
      SluiceInstallationKey: { ...SluiceInstallationKey, Properties: { GenerateSecretString: { PasswordLength: 32 } } },
    },
  };
  expect(replacedState(previous, changed)).toEqual([
    "SluiceTable (AWS::DynamoDB::Table) is gone",
    "SluiceArtifacts (AWS::S3::Bucket) has another DeletionPolicy",
    "SluiceInstallationKey (AWS::SecretsManager::Secret) has another GenerateSecretString",
  ]);
});
