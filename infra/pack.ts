import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { resolve } from "node:path";

// `npm run cdk:pack -- FOLDER`: the package of the constructs, packed into the folder of an app that uses it (`sluice init`). It is
// not in npm's registry yet.
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder of your app: npm run cdk:pack -- FOLDER");
// npm runs scripts in the folder of the package.json, and says where it was called.
const into = resolve(process.env["INIT_CWD"] ?? ".", folder);
if (!statSync(into, { throwIfNoEntry: false })?.isDirectory()) {
  throw new Error(`${into} is not a folder: make your app with sluice init first`);
}
const { status, error } = spawnSync("npm", ["pack", "--silent", "--pack-destination", into], {
  cwd: import.meta.dirname,
  stdio: "inherit",
});
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
