import type { JsonObject } from "../../../../lib/core/json.ts";
import type { SourceHosts } from "../source-hosts.ts";
import type { Written } from "../scenario.ts";
import { helmChart, helmRepository } from "./written.ts";

export const app = { name: "app", version: "1.0.0" };
/** The source of `app`. */
export const charts = "HelmRepository/charts";

/** The HelmRepository of a scenario. */
export const repository = ({ http }: SourceHosts, place: string, more: JsonObject = {}): Written =>
  helmRepository("charts", { url: `http://${http}/${place}`, ...more });

/** The HelmChart of a scenario, of this source. `chart` of the step's fields names its chart: `app` by default. */
export const chartOf =
  (source: string) =>
  (_: SourceHosts, __: string, { chart = "app", ...spec }: JsonObject): Written =>
    helmChart("app", typeof chart === "string" ? chart : "", source, spec);
