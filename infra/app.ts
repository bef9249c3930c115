import { App } from "aws-cdk-lib";
import { SluiceStack } from "./lib/app-stack.ts";

const app = new App({ analyticsReporting: false });
try {
  new SluiceStack(app, "Sluice");
} catch (error) {
  // What was refused, without our lines of code around it.
  process.stderr.write(`✗ ${error instanceof Error ? error.message : String(error)}\n`);
  // Not by its code alone: the CDK would still synthesise the half that there is.
  process.exit(1);
}
