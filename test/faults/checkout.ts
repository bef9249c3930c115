import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A copy of the project, with the changes that are not committed, to plant faults in. The project itself stays as it is. */
export interface Checkout extends Disposable {
  readonly folder: string;
}

const root = join(import.meta.dirname, "../..");
const cdkModules = join(root, "infra/node_modules");

/** The CDK is installed apart from the rest. */
export const hasCdk = existsSync(join(cdkModules, "aws-cdk-lib"));

export function copyProject(): Checkout {
  const checkout = copyFiles();
  linkModules(checkout.folder);
  return checkout;
}

/** A copy of the project's files, without a package. */
export function copyFiles(): Checkout {
  const folder = mkdtempSync(join(tmpdir(), "sluice-faults-"));
  // Files that were deleted and not committed are still listed.
  const listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0");
  for (const path of listed.filter((one) => one !== "" && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Other packages are those of the project; our own are those of the copy, since that is where mistakes are planted. */
function linkModules(folder: string): void {
  const own = join(folder, "node_modules/@sluice");
  mkdirSync(own, { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")).filter((one) => one !== "@sluice")) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  for (const name of readdirSync(join(folder, "packages"))) symlinkSync(`../../packages/${name}`, join(own, name));
  if (hasCdk) symlinkSync(cdkModules, join(folder, "infra/node_modules"));
}

/** A landing has the commits of a session, which lasts three hours. */
const landingHours = 4;

/**
 * Paths that differ from `since`, or that are not committed. Without it from where the branch left `origin/main`, and on main
 * itself, or without a remote, from the newest commit that is four hours older than the last. Undefined where there is no such
 * commit, as in a shallow clone.
 */
export function changedPaths(since: string | undefined): ReadonlySet<string> | undefined {
  const from = since ?? branchPoint();
  if (from === undefined) return undefined;
  const changed = git("diff", "--name-only", "-z", from);
  const added = git("ls-files", "-z", "--others", "--exclude-standard");
  return new Set(`${changed}${added}`.split("\0").filter((path) => path !== ""));
}

function branchPoint(): string | undefined {
  const base = tried("merge-base", "HEAD", "origin/main");
  if (base !== undefined && base !== tried("rev-parse", "HEAD")) return base;
  const before = Number(tried("log", "-1", "--format=%ct")) - landingHours * 3_600;
  const found = Number.isNaN(before) ? undefined : tried("rev-list", "-1", `--before=${before}`, "HEAD");
  return found === "" ? undefined : found;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function tried(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}
