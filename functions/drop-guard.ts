import { z } from "zod";
import { someOf } from "../lib/core/cut-text.ts";
import { messageOf } from "../lib/core/failure.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { HandleResource } from "./lambda/custom-resource.ts";
import { dropped, readGranted } from "./settings/granted.ts";

/** The properties of the custom resource, as `DropGuard` in infra/ writes them. */
const Properties = z.object({
  granted: z.string("is required").transform((text, context) => {
    try {
      return readGranted(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: `cannot be read: ${messageOf(error)}` });
      return z.NEVER;
    }
  }),
  /** CloudFormation makes texts of all values. */
  allowDrops: z.enum(["true", "false"], "must be true or false").default("false"),
});

export interface DropGuardDeps {
  readonly log: Log;
  /** The status of a stack as CloudFormation names it, by the stack's ARN. */
  readonly stackStatus: (stack: string, signal: AbortSignal) => Promise<string>;
}

/**
 * Refuses an update of the installation that takes something away, unless it is allowed. Policies, functions and access entries
 * wait for it, so nothing has been taken away by then. Deleting the stack drops nothing: who does it means all.
 */
export function dropGuardHandler({ log, stackStatus }: DropGuardDeps): HandleResource {
  return async ({ oldProperties, physicalId, properties, resource, type }, signal) => {
    const done = { physicalId: physicalId ?? "sluice-installation" };
    if (type === "Delete") return done;
    const { allowDrops, granted } = read(properties);
    if (type === "Create") return done;
    const gone = dropped(read(oldProperties).granted, granted);
    if (gone.length === 0) return done;
    if (allowDrops === "true") {
      log.info("the deployment drops what it may drop", { dropped: someOf(gone, maxNamed) });
      return done;
    }
    const list = someOf(gone, maxNamed);
    const stack = resource.slice(0, resource.lastIndexOf("/"));
    const status = await stackStatus(stack, signal).catch((error: unknown) => {
      // Not passed: the guard would be off in silence wherever a boundary denies the call.
      throw new Error(
        `${refusal(list)}. Whether this is a rollback, which may, cannot be found out: ${messageOf(error)}. A rollback that stops here goes on with aws cloudformation continue-update-rollback --resources-to-skip`,
        { cause: error },
      );
    });
    // It takes away what the failed deployment had added.
    if (/ROLLBACK/.test(status)) {
      log.info("a rollback takes back what the deployment added", { dropped: list, status });
      return done;
    }
    throw new Error(refusal(list));
  };
}

const maxNamed = 5;

function refusal(list: string): string {
  return `this deployment would drop ${list}. Nothing has been taken away. Write it into the installation again (the context of cdk.json, or the code of your app), or, if it is meant, deploy with -c allowDrops=true (the property allowDrops of Sluice)`;
}

function read(properties: Readonly<Record<string, unknown>>): z.infer<typeof Properties> {
  const parsed = Properties.safeParse(properties);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
  throw new Error(`the properties of the custom resource are not usable: ${faults.join("; ")}`);
}
