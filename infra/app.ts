import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { z } from "zod";
import { bundleFunctions } from "./bundle.ts";
import { SluiceStack } from "./lib/app-stack.ts";
import { readContext } from "./lib/context.ts";

// Which command of the CDK this is for, where that matters (cli/cdk.js), and the account of its credentials, where it has some.
const [, , command = "", credentials = ""] = process.argv;
const app = new App({ analyticsReporting: false });
try {
  // A wrong installation is told at once. The constructs take the bundles as they lie there.
  readContext(z.record(z.string(), z.unknown()).parse(app.node.getAllContext()));
  await bundleFunctions(join(import.meta.dirname, "bundles"));
  new SluiceStack(app, "Sluice", {
    ...(command === "" ? {} : { command }),
    ...(credentials === "" ? {} : { credentials }),
  });
} catch (error) {
  // What was refused, without our lines of code around it.
  process.stderr.write(`✗ ${error instanceof Error ? error.message : String(error)}\n`);
  // Not by its code alone: the CDK would still synthesise the half that there is.
  process.exit(1);
}
