import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

const folder = join(import.meta.dirname, "../node_modules");
const isInstalled = existsSync(join(folder, "aws-cdk-lib"));

// Where it is skipped, so are the other tests of this folder (vitest.config.ts).
test.skipIf(!isInstalled && process.env["CI"] !== "true")(
  'infra/: the CDK is installed from its own lock file, and "npm run cdk -- --version" runs it',
  () => {
    const versions = ["aws-cdk", "aws-cdk-lib", "cdk-nag", "constructs"].map(versionOf);
    expect(versions).toEqual(["2.1148.1", "2.276.0", "3.0.2", "10.8.1"]);
  },
);

function versionOf(name: string): string {
  const text = readFileSync(join(folder, name, "package.json"), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
