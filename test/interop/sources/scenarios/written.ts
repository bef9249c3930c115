import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Step, Written } from "../scenario.ts";
import { password, type SourceHosts, user } from "../source-hosts.ts";

const of =
  (kind: string) =>
  (name: string, spec: JsonObject): Written => ({ kind, name, spec: { interval: "1h", ...spec } });

export const helmRepository = of("HelmRepository");
export const gitRepository = of("GitRepository");
export const ociRepository = of("OCIRepository");
export const bucket = of("Bucket");

/** A HelmChart of this chart. @param from `KIND/NAME` of its source */
export function helmChart(name: string, chart: string, from: string, spec: JsonObject = {}): Written {
  const [kind = "", source = ""] = from.split("/");
  return { kind: "HelmChart", name, spec: { interval: "1h", chart, sourceRef: { kind, name: source }, ...spec } };
}

export const secret = (name: string, stringData: Readonly<Record<string, string>>, type = "Opaque"): Written => ({
  ...{ kind: "Secret", name, stringData, type },
});

/** The data of a Secret by the words of the step that applies it: undefined where it is missing. */
type SecretCases = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

/** Steps that each apply an object that names a Secret with the data of the case. */
export function secretSteps(
  cases: SecretCases,
  object: (hosts: SourceHosts, place: string, secretName: string) => Written,
): readonly Step[] {
  return Object.entries(cases).map(([what, data]) => ({
    what,
    apply: (hosts, place) => [...(data === undefined ? [] : [secret("case", data)]), object(hosts, place, "case")],
  }));
}

export const login = (name: string): Written => secret(name, { username: user, password });

export function dockerConfig(name: string, host: string, as = user, by = password): Written {
  const auths = { [host]: { username: as, password: by, auth: Buffer.from(`${as}:${by}`).toString("base64") } };
  return secret(name, { ".dockerconfigjson": JSON.stringify({ auths }) }, "kubernetes.io/dockerconfigjson");
}
