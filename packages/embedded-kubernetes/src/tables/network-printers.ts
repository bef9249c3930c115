import type { ApiObject } from "../core/api-object.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../core/json-fields.ts";
import { ageOf } from "./age.ts";
import { selectorText } from "./selector-text.ts";
import { ageColumn, column, metadataText, nameColumn, type Printer } from "./table.ts";

export const servicePrinter: Printer = {
  columns: [
    nameColumn,
    column("Type"),
    column("Cluster-IP"),
    column("External-IP"),
    column("Port(s)"),
    ageColumn,
    column("Selector", "string", 1),
  ],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    return [
      metadataText(object, "name"),
      textOf(spec, "type"),
      textOf(spec, "clusterIP") || "<none>",
      externalAddress(object, spec),
      servicePorts(spec),
      ageOf(object, now),
      selectorText(objectOf(spec, "selector")),
    ];
  },
};

function externalAddress(service: ApiObject, spec: JsonObject | undefined): string {
  const own = textsOf(spec, "externalIPs");
  switch (textOf(spec, "type")) {
    case "ExternalName":
      return textOf(spec, "externalName");
    case "LoadBalancer": {
      const ingress = addressesOf(objectOf(service, "status"));
      const all = [...ingress, ...own];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    default:
      return own.length === 0 ? "<none>" : own.join(",");
  }
}

function addressesOf(status: JsonObject | undefined): readonly string[] {
  return objectsOf(objectOf(status, "loadBalancer"), "ingress")
    .map((entry) => textOf(entry, "ip") || textOf(entry, "hostname"))
    .filter((address) => address !== "");
}

function servicePorts(spec: JsonObject | undefined): string {
  const ports = objectsOf(spec, "ports").map((port) => {
    const nodePort = numberOf(port, "nodePort") ?? 0;
    const number = numberOf(port, "port") ?? 0;
    return `${number}${nodePort > 0 ? `:${nodePort}` : ""}/${textOf(port, "protocol")}`;
  });
  return ports.length === 0 ? "<none>" : ports.join(",");
}

export const ingressPrinter: Printer = {
  columns: [nameColumn, column("Class"), column("Hosts"), column("Address"), column("Ports"), ageColumn],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    return [
      metadataText(object, "name"),
      textOf(spec, "ingressClassName") || "<none>",
      hostsOf(spec),
      addressesOf(objectOf(object, "status")).join(","),
      objectsOf(spec, "tls").length > 0 ? "80, 443" : "80",
      ageOf(object, now),
    ];
  },
};

function hostsOf(spec: JsonObject | undefined): string {
  const hosts = objectsOf(spec, "rules")
    .map((rule) => textOf(rule, "host") || "*")
    .slice(0, 3);
  return hosts.length === 0 ? "*" : hosts.join(",");
}

export const ingressClassPrinter: Printer = {
  columns: [nameColumn, column("Controller"), column("Parameters"), ageColumn],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    const parameters = objectOf(spec, "parameters");
    const group = textOf(parameters, "apiGroup");
    const shown =
      parameters === undefined
        ? "<none>"
        : `${textOf(parameters, "kind")}${group === "" ? "" : `.${group}`}/${textOf(parameters, "name")}`;
    return [metadataText(object, "name"), textOf(spec, "controller"), shown, ageOf(object, now)];
  },
};

export const networkPolicyPrinter: Printer = {
  columns: [nameColumn, column("Pod-Selector"), ageColumn],
  cells: (object, now): readonly Json[] => [
    metadataText(object, "name"),
    selectorText(objectOf(objectOf(object, "spec"), "podSelector")),
    ageOf(object, now),
  ],
};
