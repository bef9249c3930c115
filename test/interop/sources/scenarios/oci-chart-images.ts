import { chartArchive } from "../charts.ts";
import { push } from "../images.ts";
import type { SourceHosts } from "../source-hosts.ts";

/** Pushes versions of the chart `app` of a scenario. */
export async function pushCharts({ registry }: SourceHosts, place: string): Promise<void> {
  for (const version of ["1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0+b", "v3.0.0"]) {
    await pushChart(registry, `${place}/app`, version);
  }
}

async function pushChart(registry: string, repository: string, version: string): Promise<void> {
  const bytes = await chartArchive("app", version, { "a.yaml": "colour: red\n" });
  const layers = [{ mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", bytes }];
  const config = "application/vnd.cncf.helm.config.v1+json";
  await push(registry, repository, version.replaceAll("+", "_"), { layers, config });
}
