import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type PlantedFault, plantedFaults } from "./planted-faults.ts";

/** The command of each gate, run in a tree of planted faults and the project's own settings. */
const gates: Readonly<Record<PlantedFault["gate"], readonly string[]>> = {
  types: ["tsc", "-p", "."],
  lint: ["oxlint", "--format=unix"],
  format: ["biome", "format", "--max-diagnostics=none", "--vcs-enabled=false", "--reporter=github", "lib"],
  "dead code": ["knip", "--no-config-hints"],
};

const root = join(import.meta.dirname, "../..");
const bin = join(root, "node_modules/.bin");

function plant(): string {
  const tree = mkdtempSync(join(tmpdir(), "sluice-gates-"));
  for (const name of ["package.json", "tsconfig.json", "biome.json", ".oxlintrc.json", "knip.json"]) {
    cpSync(join(root, name), join(tree, name));
  }
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  // Without the slash: here it is a link, and the gates must not follow it.
  writeFileSync(join(tree, ".gitignore"), "node_modules\n");
  for (const { path, text } of plantedFaults) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return tree;
}

function answerOf(gate: PlantedFault["gate"], tree: string): { status: number | null; text: string } {
  const [command = "", ...args] = gates[gate];
  const { status, stdout, stderr } = spawnSync(join(bin, command), args, { cwd: tree, encoding: "utf8" });
  return { status, text: `${stdout}\n${stderr}` };
}

/** Whether one line of the output names the file and the fault. */
function isFound({ path, expected }: PlantedFault, text: string): boolean {
  return text.split("\n").some((line) => line.includes(path) && line.includes(expected));
}

const tree = plant();
const missed: string[] = [];
try {
  for (const gate of Object.keys(gates).filter((name): name is PlantedFault["gate"] => name in gates)) {
    const { status, text } = answerOf(gate, tree);
    const faults = plantedFaults.filter((fault) => fault.gate === gate);
    if (status === 0) missed.push(`${gate}: exit status 0 with ${faults.length} faults planted`);
    for (const fault of faults)
      if (!isFound(fault, text)) missed.push(`${gate}: ${fault.name} (${fault.path}, ${fault.expected})`);
  }
} finally {
  rmSync(tree, { recursive: true, force: true });
}
if (missed.length > 0) {
  process.stderr.write(`planted faults that no gate found:\n${missed.map((line) => `  ${line}\n`).join("")}`);
  process.exitCode = 1;
} else {
  process.stdout.write(`gates: all ${plantedFaults.length} planted faults found\n`);
}
