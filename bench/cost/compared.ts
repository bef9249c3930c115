import { assumptions, type Workload } from "./assumptions.ts";
import { atRest } from "./cases.ts";
import { linesOf, priced, totalOf } from "./model.ts";
import { type Price, prices } from "./prices.ts";

/** Prices of what Sluice is compared with, us-east-1. */
export const comparedPrices = {
  argoHour: remembered(0.02771, "https://aws.amazon.com/eks/pricing/"),
  argoApplicationHour: remembered(0.00136, "https://aws.amazon.com/eks/pricing/"),
  fargateCpuHour: { usd: 0.04048, source: "https://www.wring.co/blog/aws-fargate-pricing-guide", date: "2026-03-10" },
  fargateGbHour: { usd: 0.004445, source: "https://www.wring.co/blog/aws-fargate-pricing-guide", date: "2026-03-10" },
  /** t4g.medium, two cores and 4 GiB. */
  nodeHour: remembered(0.0336, "https://aws.amazon.com/ec2/pricing/on-demand/"),
} as const satisfies Record<string, Price>;

/** Of each controller of Flux: what its Deployment requests, and the smallest pod of Fargate. */
export const flux = {
  /** source-, kustomize- and notification-controller, which do what Sluice does. */
  controllers: 3,
  cpu: 0.1,
  fargate: { cpu: 0.25, gb: 0.5 },
  nodeCores: 2,
} as const;

function remembered(usd: number, source: string): Price {
  return { usd, source, date: "2026-11-28", unverified: true };
}

interface Compared {
  readonly what: string;
  readonly workload: Workload;
}

const cases: readonly Compared[] = [
  { what: "1 cluster, 10 Kustomizations, 2 sources", workload: { ...atRest, kustomizations: 10, sources: 2 } },
  { what: "1 cluster, 100 Kustomizations, 5 sources", workload: atRest },
  { what: "the same at an interval of 1 minute", workload: { ...atRest, intervalMinutes: 1 } },
  { what: "the same as the second, with 1,000 pushes a day", workload: { ...atRest, pushesPerDay: 1_000 } },
  {
    what: "20 clusters, 5 Kustomizations and 1 source in each",
    workload: { ...atRest, clusters: 20, kustomizations: 100, sources: 20 },
  },
  {
    what: "200 clusters, 20 Kustomizations and 1 source in each",
    workload: { ...atRest, clusters: 200, kustomizations: 4_000, sources: 200 },
  },
];

/** US dollars a month of each alternative, us-east-1. An Application of Argo CD stands for a Kustomization. */
export function monthly({ clusters, kustomizations }: Workload) {
  const { hoursPerMonth } = assumptions;
  const { argoHour, argoApplicationHour, fargateCpuHour, fargateGbHour, nodeHour } = comparedPrices;
  const hubs = Math.ceil(kustomizations / 1_000);
  const pod = flux.fargate.cpu * fargateCpuHour.usd + flux.fargate.gb * fargateGbHour.usd;
  return {
    argo: hoursPerMonth * (hubs * argoHour.usd + kustomizations * argoApplicationHour.usd),
    fluxShare: hoursPerMonth * clusters * flux.controllers * (flux.cpu / flux.nodeCores) * nodeHour.usd,
    fluxFargate: hoursPerMonth * clusters * flux.controllers * pod,
  };
}

/** The generated part of docs/cost-compared.md. */
export function printCompared(): string {
  const rows = cases.map(({ what, workload }) => {
    const own = totalOf(priced(linesOf(workload, assumptions), prices["us-east-1"]));
    const watched = totalOf(
      priced(linesOf({ ...workload, auditLogs: 1, guardDuty: 1 }, assumptions), prices["us-east-1"]),
    );
    const { argo, fluxShare, fluxFargate } = monthly(workload);
    return `| ${what} | ${[own, watched, argo, fluxShare, fluxFargate].map(dollars).join(" | ")} |`;
  });
  const names = {
    argoHour: "hour of the capability Argo CD",
    argoApplicationHour: "hour of one of its Applications",
    fargateCpuHour: "hour of a core of Fargate, x86",
    fargateGbHour: "hour of a GB of Fargate, x86",
    nodeHour: "hour of a t4g.medium",
  } as const satisfies Record<keyof typeof comparedPrices, string>;
  const sources = Object.entries(comparedPrices).map(([name, { usd, source, date, ...rest }]) => {
    const [, what = name] = Object.entries(names).find(([key]) => key === name) ?? [];
    return `| ${what} | $${usd} | [${"unverified" in rest ? `not verified, from memory on ${date}` : date}](${source}) |`;
  });
  return [
    [
      "| a month, us-east-1, at rest unless it says otherwise | Sluice | Sluice with audit log and GuardDuty | Amazon's managed Argo CD | Flux: its share of nodes | Flux on Fargate |",
      "| --- | --- | --- | --- | --- | --- |",
      ...rows,
    ].join("\n"),
    "## Prices",
    ["| price of | us-east-1 | source |", "| --- | --- | --- |", ...sources].join("\n"),
  ].join("\n\n");
}

function dollars(usd: number): string {
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
