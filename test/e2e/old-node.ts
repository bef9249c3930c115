import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The first Node in PATH that is too old for Sluice, as most machines have one. */
export const oldNode = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find(
    (file) =>
      existsSync(file) && Number(/v(\d+)/.exec(execFileSync(file, ["--version"], { encoding: "utf8" }))?.[1]) < 24,
  );
