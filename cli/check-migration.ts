import { messageOf } from "../lib/core/failure.ts";
import { printMigration } from "./migration/print-report.ts";
import { readMigration } from "./migration/read-cluster.ts";
import { emptyReport, type MigrationReport, migrationReport } from "./migration/report.ts";
import { escapedJson, yamlWriter } from "./object-documents.ts";
import { type GlobalOptions, type Surroundings, withCluster } from "./session.ts";

const formats = ["table", "json", "yaml"];

/**
 * `check --migration`: says what of a cluster that Flux manages can move to Sluice, and what has to be prepared. It only reads.
 *
 * @throws Error if something cannot move as it is, or if nothing can be said of it
 */
export async function runMigrationCheck(
  { output, ...options }: GlobalOptions & { readonly output: string },
  surroundings: Surroundings,
): Promise<void> {
  if (!formats.includes(output)) throw new Error(`--output must be table, json or yaml, not ${output}`);
  const { terminal } = surroundings;
  let report: MigrationReport;
  try {
    report = await withCluster(options, surroundings, async ({ cluster, signal }) => {
      terminal.action("reading what Flux and Flagger manage; nothing is written");
      return migrationReport(await readMigration(cluster, signal));
    });
  } catch (error) {
    if (output !== "table") await printDocument(emptyReport(messageOf(error)), output, surroundings);
    throw error;
  }
  if (output === "table") printMigration(report, terminal);
  else await printDocument(report, output, surroundings);
  if (report.fault !== undefined) throw new Error(report.fault);
  if (!report.canMove) throw new Error("not everything can move yet: correct what is marked with ✗ and check again");
  terminal.success("everything can move");
}

async function printDocument(
  report: MigrationReport,
  output: string,
  { terminal }: Pick<Surroundings, "terminal">,
): Promise<void> {
  if (output === "json") return terminal.document(`${escapedJson(JSON.stringify(report, undefined, 2))}\n`);
  const safeYaml = await yamlWriter();
  terminal.document(safeYaml(report));
}
