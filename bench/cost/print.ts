import { billedAlarms } from "../../infra/lib/alarms.ts";
import { type Assumptions, assumptions, type Workload } from "./assumptions.ts";
import {
  atRest,
  audited,
  clustersPerInstallation,
  largest,
  mostAtRest,
  pushing,
  withNotifications,
  withWebhooks,
} from "./cases.ts";
import { limits } from "./growth.ts";
import { clusterRequests, linesOf, type PricedLine, priced, totalOf } from "./model.ts";
import { copied, type PriceName, prices, priceUnits, type Region, regions } from "./prices.ts";

const dearest = 5;
const installations = 10_000 / clustersPerInstallation;

/** What `node bench/cost/main.ts` prints, and the generated part of docs/cost.md. */
export function printCost(): string {
  return [
    atRestPart(),
    auditPart(),
    pushPart(),
    webhookPart(),
    notificationPart(),
    networkPart(),
    growthPart(),
    assumptionPart(),
    pricePart(),
  ].join("\n\n");
}

function bill(workload: Workload, region: Region): readonly PricedLine[] {
  return priced(linesOf(workload, assumptions), prices[region]);
}

function atRestPart(): string {
  const bills = regions.map((region) => bill(atRest, region));
  const totals = bills.map(totalOf);
  const verdict = totals.every((usd) => usd < mostAtRest)
    ? `Under ${dollars(mostAtRest)} in both regions.`
    : `Over ${dollars(mostAtRest)} in ${regions.filter((_, index) => (totals[index] ?? 0) >= mostAtRest).join(" and ")}.`;
  return [
    "## At rest",
    wrapped(
      `${atRest.kustomizations} Kustomizations and ${atRest.sources} sources, interval ${atRest.intervalMinutes} minutes, one cluster, no VPC, nothing is pushed. ${verdict}`,
    ),
    linesTable(bills),
    wrapped(
      `The five dearest lines are ${dearestOf(bills[0] ?? [])}. Not in it: a dashboard (${dollars(prices["us-east-1"].dashboardMonth.usd)} more), an own KMS key (${dollars(prices["us-east-1"].keyMonth.usd)} more for each), a VPC with its NAT, EKS and ECR themselves, and the next section.`,
    ),
  ].join("\n\n");
}

function auditPart(): string {
  const bills = regions.map((region) => bill(audited, region));
  const more = regions.map((region, index) => totalOf(bills[index] ?? []) - totalOf(bill(atRest, region)));
  return [
    "## The cluster's audit log and GuardDuty",
    wrapped(
      `Each request of Sluice to a cluster is an event of its audit log: ${count(clusterRequests(atRest, assumptions))} a month at rest, as above. Both readers of that log are off in a new cluster, and bill its owner where they are on: CloudWatch by the GB, and GuardDuty's EKS Protection by the event. That is ${more.map((usd, index) => `${dollars(usd)} a month more in ${regions[index]}`).join(" and ")}, so the whole bill is ${bills.map((lines) => dollars(totalOf(lines))).join(" and ")}. A longer interval makes it less.`,
    ),
    onlyLines(bills, ["Audit log of the clusters", "GuardDuty, EKS Protection"]),
  ].join("\n\n");
}

/** These lines of the bills alone. */
function onlyLines(bills: readonly (readonly PricedLine[])[], whats: readonly string[]): string {
  const [first = []] = bills;
  const rows = whats.flatMap((what) => {
    const line = first.find((one) => one.what === what);
    if (line === undefined) return [];
    const usd = bills.map((lines) => dollars(lines.find((one) => one.what === what)?.usd ?? 0));
    return [`| ${what} | ${count(line.quantity)} × ${priceUnits[line.price]} | ${usd.join(" | ")} |`];
  });
  return [`| line | quantity a month | ${regions.join(" | ")} |`, "| --- | --- | --- | --- |", ...rows].join("\n");
}

function pushPart(): string {
  const pushes = pushing.pushesPerDay * assumptions.daysPerMonth;
  const perPush = regions.map((region) => (totalOf(bill(pushing, region)) - totalOf(bill(atRest, region))) / pushes);
  const bills = regions.map((region) => bill(pushing, region));
  return [
    "## Pushes",
    wrapped(
      `${count(pushing.pushesPerDay)} pushes a day on top, each to one source with one Kustomization of four objects, of which one changes. A thousand pushes cost ${perPush.map((usd, index) => `${dollars(usd * 1_000)} in ${regions[index]}`).join(" and ")}, about ${((perPush[0] ?? 0) * 100).toFixed(3)} cents each.`,
    ),
    linesTable(bills, dearest),
  ].join("\n\n");
}

function webhookPart(): string {
  const [region] = regions;
  const costs = (workload: Workload): number => totalOf(bill(workload, region));
  const once = costs({ ...withWebhooks, deliveriesPerDay: 0 }) - costs(atRest);
  const deliveries = withWebhooks.deliveriesPerDay * assumptions.daysPerMonth;
  const each = (costs(withWebhooks) - costs(atRest) - once) / deliveries;
  const { alarmMonth, secretMonth } = prices[region];
  const more = withWebhooks.alarms - atRest.alarms;
  return [
    "## Webhooks",
    wrapped(
      `\`webhooks\` and \`admission\` of \`Sluice\` together cost ${dollars(once)} a month more in ${region}: ${more} alarms (${dollars(more * alarmMonth.usd)}) and a secret (${dollars(secretMonth.usd)}). A function URL costs nothing beside Lambda. A million deliveries to Receivers cost ${dollars(each * 1_000_000)}, without the pushes that they tell of.`,
    ),
  ].join("\n\n");
}

function notificationPart(): string {
  const [region] = regions;
  const costs = (workload: Workload): number => totalOf(bill(workload, region));
  const once = costs({ ...withNotifications, notificationsPerDay: 0 }) - costs(atRest);
  const notifications = withNotifications.notificationsPerDay * assumptions.daysPerMonth;
  const each = (costs(withNotifications) - costs(atRest) - once) / notifications;
  const more = withNotifications.alarms - atRest.alarms;
  return [
    "## Notifications",
    wrapped(
      `\`notifications\` of \`Sluice\` cost ${dollars(once)} a month more in ${region} for each network: Lambda asks a FIFO queue too, and ${more} alarms watch it (${dollars(more * prices[region].alarmMonth.usd)}). A million notifications cost ${dollars(each * 1_000_000)}, without what SNS, EventBridge or the service of a Provider take for them.`,
    ),
  ].join("\n\n");
}

function networkPart(): string {
  const costs = (networks: number): number =>
    totalOf(bill({ ...atRest, networks, alarms: billedAlarms(networks) }, regions[0]));
  return [
    "## Further networks",
    wrapped(
      `Each of \`networks\` beside \`default\` costs ${dollars(costs(2) - costs(1))} a month more in ${regions[0]} at rest, since Lambda asks its queue too, and an alarm watches its reconcile function. That is without the NAT gateway or the [VPC endpoints](vpc.md#subnets-without-a-way-out) that its functions need: AWS bills each by the hour and by the GB, an interface endpoint in each zone.`,
    ),
  ].join("\n\n");
}

function growthPart(): string {
  const bills = regions.map((region) => bill(largest, region));
  const rows = limits.map(({ what, most, unit, takes, mend }) => {
    const takenBy = [atRest, largest].map((workload) => takes(workload, assumptions));
    const share = (takenBy[1] ?? 0) / most;
    return `| ${what} | ${count(most)} ${unit} | ${takenBy.map(count).join(" | ")} | ${Math.round(share * 100)} % | ${mend} |`;
  });
  return [
    "## 10,000 clusters and 1,000,000 units, on paper",
    wrapped(
      `That is ${installations} installations of ${count(largest.clusters)} clusters, ${count(largest.kustomizations)} Kustomizations, ${count(largest.sources)} sources and ${count(largest.pushesPerDay)} pushes a day each, since one document takes ${clustersPerInstallation} clusters. All of them: ${regions.map((region, index) => `${dollars(installations * totalOf(bills[index] ?? []))} a month in ${region}`).join(", ")}. One of them:`,
    ),
    linesTable(bills, dearest),
    "What grows, and what breaks first, for one of them:",
    [
      "| limit | at most | at rest | one of 50 | share | what then |",
      "| --- | --- | --- | --- | --- | --- |",
      ...rows,
    ].join("\n"),
  ].join("\n\n");
}

function linesTable(bills: readonly (readonly PricedLine[])[], most = Number.POSITIVE_INFINITY): string {
  const [first = []] = bills;
  const shown = first.filter(({ usd }) => usd >= 0.005).slice(0, most);
  const of = (what: string) => bills.map((lines) => dollars(lines.find((line) => line.what === what)?.usd ?? 0));
  const rest = bills.map((lines) =>
    dollars(totalOf(lines) - totalOf(lines.filter(({ what }) => shown.some((line) => line.what === what)))),
  );
  return [
    `| line | quantity a month | ${regions.join(" | ")} |`,
    "| --- | --- | --- | --- |",
    ...shown.map(
      ({ what, quantity, price }) =>
        `| ${what} | ${count(quantity)} × ${priceUnits[price]} | ${of(what).join(" | ")} |`,
    ),
    `| all other lines | | ${rest.join(" | ")} |`,
    `| **all** | | ${bills.map((lines) => `**${dollars(totalOf(lines))}**`).join(" | ")} |`,
  ].join("\n");
}

function dearestOf(lines: readonly PricedLine[]): string {
  return lines
    .slice(0, dearest)
    .map(({ what, usd }) => `${what.toLowerCase()} (${dollars(usd)})`)
    .join("; ");
}

function assumptionPart(): string {
  const rows = flat(assumptions).map(([name, value]) => `| \`${name}\` | ${value} |`);
  return [
    "## Assumptions",
    wrapped(
      `As in \`bench/cost/assumptions.ts\`, which says for each whether it was measured, is our design, or is a guess. Alarms are those of [metrics.md](metrics.md), ${billedAlarms(1)} with one network.`,
    ),
    ["| assumption | value |", "| --- | --- |", ...rows].join("\n"),
  ].join("\n\n");
}

function flat(value: Assumptions | object, path: readonly string[] = []): readonly (readonly [string, string])[] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    typeof inner === "object" && inner !== null
      ? flat(inner, [...path, name])
      : [[[...path, name].join("."), exact(inner)] as const],
  );
}

function exact(value: unknown): string {
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
}

function pricePart(): string {
  const names = Object.keys(priceUnits).filter((name): name is PriceName => name in priceUnits);
  const cell = (region: Region, name: PriceName): string => {
    const { usd, source, date, unverified } = prices[region][name];
    const [factor, of] = usd < 0.0001 ? [1_000_000, " a million"] : [1, ""];
    return `${exact(usd * factor)}${of}, [${unverified ? "not verified" : date}](${source})`;
  };
  const rows = names.map(
    (name) => `| ${priceUnits[name]} | ${regions.map((region) => cell(region, name)).join(" | ")} |`,
  );
  return [
    "## Prices",
    wrapped(
      `US dollars, with the date of the source. **Not verified** means from memory: no source for that region was at hand, and the address is the page that has to be asked. Rows of AWS's price list were not asked for here either: they are as [another project](${copied}) copied them.`,
    ),
    ["| price of | us-east-1 | eu-west-1 |", "| --- | --- | --- |", ...rows].join("\n"),
  ].join("\n\n");
}

/** Prose at most 120 columns wide. */
function wrapped(text: string): string {
  const lines = text.split(" ").reduce<string[]>((done, word) => {
    const last = done.at(-1);
    if (last === undefined || last.length + 1 + word.length > 120) return [...done, word];
    return [...done.slice(0, -1), `${last} ${word}`];
  }, []);
  return lines.join("\n");
}

function dollars(usd: number): string {
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

function count(quantity: number): string {
  return quantity.toLocaleString("en-US", { maximumFractionDigits: quantity < 10 ? 2 : 0 });
}
