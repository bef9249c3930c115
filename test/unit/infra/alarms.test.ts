import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AlarmRow, type AlarmSource, alarmRows, billedAlarms } from "../../../infra/lib/alarms.ts";
import { metricUnits } from "../../../lib/core/ports/metrics.ts";

const rows: readonly (readonly [string, AlarmRow])[] = Object.entries(alarmRows);

function subjectOf(source: AlarmSource): string {
  switch (source.of) {
    case "queue":
      return `\`${source.metric}\` of the queue ${source.queue}`;
    case "queues":
      return `\`${source.metric}\` of each of ${source.queues}`;
    case "function":
      return `\`${source.metric}\` of the function ${source.function}`;
    case "table":
      return `\`${source.metrics.join("` + `")}\` of the table and of its index ${source.index}`;
    case "sluice":
      return `\`${source.metric}\``;
  }
}

/** A row of docs/metrics.md. */
function printed([name, row]: readonly [string, AlarmRow]): string {
  const { statistic, periodMinutes, periods, threshold, below, missing, only, says, mend, source, severity, query } =
    row;
  const [breaching, of] = periods;
  const where = only === undefined ? "" : `, with \`${only}: true\``;
  const often = of === 1 ? "" : `, in ${breaching} of ${of} periods`;
  const when = `${statistic} of ${subjectOf(source)} over ${periodMinutes} minutes ${below ? "below" : "above"} ${threshold}${often}${where}`;
  return `| ${name} | ${severity} | ${when} | ${missing === "breaching" ? "alarm" : "fine"} | ${says} ${mend} | ${query ?? ""} |`;
}

describe("the alarms", () => {
  test("are listed in docs/metrics.md", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../docs/metrics.md"), "utf8");
    const lines = page.split("\n");
    const start = lines.indexOf("| alarm | severity | when | no data | what has happened, and what to do | query |");
    const table = lines.slice(start + 2, lines.indexOf("", start));
    expect(table).toEqual(rows.map(printed));
  });

  test("on Sluice's metrics use existing metrics", () => {
    const looked = rows.flatMap(([, { source }]) => (source.of === "sluice" ? [source.metric] : []));
    expect(Object.keys(metricUnits)).toEqual(expect.arrayContaining(looked));
    expect(looked).toHaveLength(8);
  });

  test("on the daily collection of artifacts last until its next run, because nothing repeats it before", () => {
    const row: AlarmRow = alarmRows.CollectErrors;
    expect(row).toMatchObject({ source: { of: "function", function: "collect", metric: "Errors" }, statistic: "Sum" });
    expect(row.periodMinutes * row.periods[1]).toBe(24 * 60);
  });

  test("on clusters that do not answer begin with one count, since the metric counts from the third missed sweep on", () => {
    expect(alarmRows.ClusterUnreachable).toMatchObject({ statistic: "Sum", threshold: 0, periods: [1, 1] });
  });

  test("are billed per metric, and per further network one more, three with webhooks or two with notifications", () => {
    const always = rows.filter(([, { only }]) => only === undefined);
    expect(billedAlarms(1)).toBe(always.length + 3);
    expect(billedAlarms(1, ["webhooks", "notifications", "admission"])).toBe(rows.length + 3);
    expect(billedAlarms(3)).toBe(billedAlarms(1) + 2 * 1);
    expect(billedAlarms(3, ["webhooks"])).toBe(billedAlarms(1, ["webhooks"]) + 2 * 3);
    expect(billedAlarms(3, ["notifications"])).toBe(billedAlarms(1, ["notifications"]) + 2 * 2);
  });

  test("page for failures of the service, and open a ticket for single objects or events", () => {
    const pages = rows.flatMap(([name, { severity }]) => (severity === "page" ? [name] : []));
    expect(pages).toEqual(["SweepNotRun", "SweepErrors", "ReconcileNotRun", "ReconcileErrors", "ClusterUnreachable"]);
  });
});
