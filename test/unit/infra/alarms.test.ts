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
    case "function":
      return `\`${source.metric}\` of the function ${source.function}`;
    case "table":
      return `\`${source.metrics.join("` + `")}\` of the table`;
    case "sluice":
      return `\`${source.metric}\``;
  }
}

/** A row of docs/metrics.md. */
function printed([name, row]: readonly [string, AlarmRow]): string {
  const { statistic, periodMinutes, periods, threshold, below, missing, only, says, mend, source } = row;
  const [breaching, of] = periods;
  const where = only === undefined ? "" : `, with \`${only}: true\``;
  const often = of === 1 ? "" : `, in ${breaching} of ${of} periods`;
  const when = `${statistic} of ${subjectOf(source)} over ${periodMinutes} minutes ${below ? "below" : "above"} ${threshold}${often}${where}`;
  return `| ${name} | ${when} | ${missing === "breaching" ? "alarm" : "fine"} | ${says} ${mend} |`;
}

describe("the alarms", () => {
  test("docs/metrics.md lists them as they are", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../docs/metrics.md"), "utf8");
    const lines = page.split("\n");
    const start = lines.indexOf("| alarm | when | no data | what has happened, and what to do |");
    const table = lines.slice(start + 2, lines.indexOf("", start));
    expect(table).toEqual(rows.map(printed));
  });

  test("on metrics of Sluice look at metrics that exist", () => {
    const looked = rows.flatMap(([, { source }]) => (source.of === "sluice" ? [source.metric] : []));
    expect(Object.keys(metricUnits)).toEqual(expect.arrayContaining(looked));
    expect(looked).toHaveLength(5);
  });

  test("are billed by the metric, and for each network three more", () => {
    const always = rows.filter(([, { only }]) => only === undefined);
    expect(billedAlarms(1)).toBe(always.length + 1);
    expect(billedAlarms(1, ["webhooks", "admission"])).toBe(rows.length + 1);
    expect(billedAlarms(3)).toBe(billedAlarms(1) + 2 * 3);
  });
});
