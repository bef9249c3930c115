import { readIndex } from "../lib/sources/helm/chart-index.ts";
import { chooseVersion } from "../lib/sources/helm/choose-chart.ts";
import { defaultIndexLimits } from "../lib/sources/helm/index-limits.ts";

/** Reads an index of 20 MB and resolves a range in it; prints time, and how far memory has grown beyond what the process had before. */
const { signal } = new AbortController();
const bytes = Buffer.from(indexOf(20_000_000));
const peakMb = () => process.resourceUsage().maxRSS / 1_000;
const before = peakMb();
const begun = performance.now();
const index = await readIndex(bytes, defaultIndexLimits, signal);
const { version } = await chooseVersion(index, "chart-7", "1.x", signal);
const ms = performance.now() - begun;
process.stdout.write(JSON.stringify({ ms, megabytes: peakMb() - before, version, charts: index.entries.size }));

/** As `helm repo index` writes it: sixty versions of each chart, about a kilobyte each. */
function indexOf(size: number): string {
  const parts = ["apiVersion: v1\nentries:\n"];
  for (let chart = 0, length = 0; length < size; chart++) {
    const text = `  chart-${chart}:\n${Array.from({ length: 60 }, (_, at) => entryOf(`chart-${chart}`, 60 - at)).join("")}`;
    length += text.length;
    parts.push(text);
  }
  return parts.join("");
}

function entryOf(name: string, minor: number): string {
  return `  - annotations:
      category: Infrastructure
    apiVersion: v2
    appVersion: 2.${minor}.0
    created: "2026-01-01T00:00:00.123456789Z"
    dependencies:
    - name: common
      repository: oci://registry.example.com/charts
      tags:
      - common
      version: 2.x.x
    description: A tool to express and execute workflows as directed acyclic
      graphs. It includes utilities to schedule tasks, to monitor their progress
      and to handle what they depend on.
    digest: ${"0123456789abcdef".repeat(4)}
    home: https://example.com/${name}
    icon: https://example.com/assets/${name}/img/stack-220x234.png
    keywords:
    - workflow
    - scheduler
    maintainers:
    - name: The authors
      url: https://example.com/charts
    name: ${name}
    sources:
    - https://example.com/charts/tree/main/${name}
    urls:
    - https://charts.example.com/stable/${name}-1.${minor}.0.tgz
    version: 1.${minor}.0
`;
}
