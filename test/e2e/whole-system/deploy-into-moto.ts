import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { type Bundle, bundleFunctions } from "../../../infra/bundle.ts";
import type { AwsConnection } from "../../../lib/aws/aws-connection.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import { ownPart } from "../../real/own-part.ts";

const root = join(import.meta.dirname, "../../..");
const account = "123456789012";
/** Which of infra/ the app is not made of. */
const leftOut = /\/(node_modules|bundles|cdk\.out|dist|test)(\/|$)/;

export interface Deployed extends AsyncDisposable {
  /** The moto that holds the stack, and nothing else. */
  readonly aws: AwsConnection & { readonly endpoint: string };
  /** The folders that were uploaded as the code of the functions. */
  readonly bundles: readonly Bundle[];
  /** `cdk destroy`, with the context that it was deployed with. */
  destroy(): Promise<void>;
}

/**
 * Bootstraps an empty moto and deploys the app of infra/ into it, as a user would: `cdk deploy` with context values. From a copy of
 * infra/, since other tests write bundles into its folder.
 */
export async function deployIntoMoto(
  region: string,
  context: { readonly clusters: readonly string[]; readonly repositories: readonly object[] },
): Promise<Deployed> {
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-first-deploy-"));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const infra = join(folder, "infra");
  await cp(join(root, "infra"), infra, { recursive: true, filter: (path) => !leftOut.test(path.slice(root.length)) });
  for (const name of ["cdk.json", "functions", "lib", "engine", "node_modules", "package.json", "infra/node_modules"]) {
    await symlink(join(root, name), join(folder, name));
  }
  const bundles = await bundleFunctions(join(infra, "bundles"));
  const { aws } = made.use(await ownPart("aws", z.object({ aws: z.string() })));
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: folder,
    // Two names of one address: moto takes only one of them for the path of a bucket (docs/maintainers/deploy-emulator.md).
    AWS_ENDPOINT_URL: aws.replace("127.0.0.1", "localhost"),
    AWS_ENDPOINT_URL_S3: aws,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "y",
  };
  const cdk = async (...args: readonly string[]): Promise<void> => {
    const command = [
      ...[join(infra, "node_modules/aws-cdk/bin/cdk"), ...args],
      // Without the launcher, which installs packages first.
      ...["--app", "node infra/app.ts", "-c", "sluice:emulator=true"],
    ];
    const values = [
      `clusters=${JSON.stringify(context.clusters.map((arn) => ({ arn, rights: "clusterAdmin" })))}`,
      `repositories=${JSON.stringify(context.repositories)}`,
      // So that the stack may be destroyed with its table and bucket. It changes nothing else that the emulator makes.
      "removalPolicy=DESTROY",
    ];
    await promisify(execFile)(process.execPath, [...command, ...values.flatMap((value) => ["-c", value])], {
      cwd: folder,
      env,
    }).catch((error: unknown) => {
      const { stderr } = z.object({ stderr: z.string().default("") }).parse(error);
      throw new Error(`cdk ${args.join(" ")}: ${messageOf(error)}\n${stderr.slice(-4_000)}`, { cause: error });
    });
  };
  await cdk("bootstrap", `aws://${account}/${region}`);
  await cdk("deploy", "--all", "--require-approval=never", "--method=direct");
  const kept = made.move();
  return {
    aws: { region, endpoint: aws, credentials: { accessKeyId: "x", secretAccessKey: "y" } },
    bundles,
    destroy: () => cdk("destroy", "--all", "--force"),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
