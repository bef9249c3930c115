import { describe, expect, test } from "vitest";
import { discoveredPorts } from "../../../../lib/canary/workload/target-metadata.ts";

const podSpec = {
  containers: [
    {
      name: "podinfod",
      ports: [{ name: "http", containerPort: 9898 }, { containerPort: 9999 }, { name: "metrics", containerPort: 9797 }],
    },
    { name: "istio-proxy", ports: [{ name: "envoy", containerPort: 15090 }] },
    { name: "envoy", ports: [{ name: "admin", containerPort: 9901 }] },
    { name: "other" },
  ],
  initContainers: [{ name: "init", ports: [{ name: "init", containerPort: 1 }] }],
};
const others = [
  ["tcp-podinfod-1", 9999],
  ["metrics", 9797],
];

describe("the ports of a target", () => {
  test.each([
    { service: { port: 9898, portDiscovery: true }, what: "its port" },
    { service: { port: 80, targetPort: 9898, portDiscovery: true }, what: "its target port" },
    { service: { port: 80, targetPort: "http", portDiscovery: true }, what: "the name of its target port" },
  ])("are those of its containers, without those of sidecars and of the Service by $what", ({ service }) => {
    expect([...discoveredPorts(podSpec, service)]).toEqual(others);
  });

  test("are not discovered unless the Canary says so", () => {
    expect([...discoveredPorts(podSpec, { port: 80 })]).toEqual([]);
  });
});
