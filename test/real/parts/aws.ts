import { join } from "node:path";
import { ask } from "../ask.ts";
import { here } from "../folders.ts";
import type { Installation, Part } from "../part.ts";
import { account } from "./account.ts";
import { lambdaRic } from "./lambda-ric.ts";

const requirements = "python/requirements.txt";
/** A path that needs no account, unlike the services, and does not list every resource. */
const healthPath = "/moto-api/config";

/** A program of PyPI with all that it needs, in an environment of its own. */
function pythonProgram(program: Installation["program"], lock: string, needsMegabytes: number): Installation {
  return {
    ...{ program, toolchain: "python", locks: [lock], needsMegabytes },
    async install(folder, { run }) {
      const isNewEnough = "import sys; assert sys.version_info >= (3, 10), 'Python 3.10 or newer is needed'";
      await run("python3", ["-c", isNewEnough], { cwd: folder });
      await run("python3", ["-m", "venv", folder], { cwd: folder });
      const pip = ["-m", "pip", "install", "--quiet", "--no-compile", "--require-hashes", "-r", join(here, lock)];
      await run(join(folder, "bin/python3"), pip, { cwd: folder });
    },
  };
}

/**
 * moto for the services that have no server of their own: EventBridge, KMS, STS, Secrets Manager, EKS, ECR, CloudFormation. And
 * the command line of AWS and the runtime of Lambda, which are not servers.
 */
export const aws: Part = {
  name: "aws",
  installations: [
    pythonProgram("moto", requirements, 800),
    // The command line that our pages use; it is not a server.
    pythonProgram("awscli", "python/awscli.txt", 300),
    lambdaRic,
  ],
  async start({ installed, ports, spawn, until }) {
    const [port] = await ports(1);
    await spawn({
      name: "moto",
      command: join(installed("moto"), "bin/python3"),
      args: [join(here, "python/moto-server.py"), "-H", "127.0.0.1", "-p", `${port}`],
      env: { AWS_DEFAULT_REGION: account.region, AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x" },
    });
    const address = `http://127.0.0.1:${port}`;
    await until("answer", async () => (await ask(address + healthPath))?.status === 201);
    const programs = { awsCli: installed("awscli"), lambdaRic: installed("aws-lambda-ric") };
    return { aws: address, ...programs, ...account };
  },
  answers: async ({ aws: address }) => address !== undefined && (await ask(address + healthPath))?.status === 201,
};
