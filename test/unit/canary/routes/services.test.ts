import { describe, expect, it } from "vitest";
import { z } from "zod";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { type RoutesWorld, routesWorlds } from "./routes-world.ts";

const ServiceSpec = z.object({ ports: z.array(z.object({ nodePort: z.number() })) });

const disabled = {
  "helm.toolkit.fluxcd.io/driftDetection": "disabled",
  "kustomize.toolkit.fluxcd.io/reconcile": "disabled",
};
const oneDisabled = { "kustomize.toolkit.fluxcd.io/reconcile": "disabled" };
const worldOf = routesWorlds("services", []);

const serviceOf = (world: RoutesWorld, name: string) => world.get("v1", "Service", name);

/** What the next step finds must be as it left it: it reads, and writes nothing. */
async function settle(world: RoutesWorld, scene = {}): Promise<void> {
  const services = world.services(scene);
  await services.ensureOwn();
  await services.ensureApex();
}

function foreign(selector: Record<string, string>, annotations: Record<string, string> = {}) {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "podinfo", labels: { team: "web" }, annotations },
    spec: { type: "NodePort", selector, ports: [{ name: "http", port: 80 }] },
  };
}

function withoutAddress(service: LiveObject | undefined) {
  const { labels, annotations, ownerReferences } = service?.metadata ?? {};
  return { labels, annotations, ownerReferences, spec: service?.["spec"] };
}

describe("the Services of a Canary", () => {
  it("canary/2: those of canary and primary are there before the one that serves production", async () => {
    const world = await worldOf();
    const services = world.services();
    await services.ensureOwn();
    expect(await serviceOf(world, "podinfo")).toBeUndefined();
    await services.ensureApex();
    expect(world.writes).toEqual([
      "create Service/podinfo-canary",
      "create Service/podinfo-primary",
      "create Service/podinfo",
    ]);
  });

  it("canary/9: all three bear the annotations by which Flux leaves them alone, and belong to the Canary", async () => {
    const world = await worldOf();
    await settle(world);
    const selected = { podinfo: "podinfo-primary", "podinfo-primary": "podinfo-primary", "podinfo-canary": "podinfo" };
    for (const [name, app] of Object.entries(selected)) {
      expect(withoutAddress(await serviceOf(world, name))).toMatchObject({
        labels: { app: name },
        annotations: disabled,
        ownerReferences: [
          {
            apiVersion: "flagger.app/v1beta1",
            kind: "Canary",
            name: "podinfo",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
        spec: {
          type: "ClusterIP",
          selector: { app },
          ports: [{ name: "http", protocol: "TCP", port: 9898, targetPort: 9898 }],
        },
      });
    }
  });

  it("a step at rest reads the three with one request and writes none of them", async () => {
    const world = await worldOf();
    await settle(world);
    world.writes.splice(0);
    world.reads.splice(0);
    await settle(world);
    expect([...world.writes, ...world.reads]).toEqual(["list Service"]);
  });

  it("canary/10: one of the apex name that somebody else has made gets the primary's selector and the ports, and keeps all else", async () => {
    const world = await worldOf();
    const { ports: given } = ServiceSpec.parse(
      (await world.create(foreign({ app: "podinfo" }, { note: "ours" })))["spec"],
    );
    await settle(world, { service: { port: 80, targetPort: 9898 } });
    const after = withoutAddress(await serviceOf(world, "podinfo"));
    expect(after).toMatchObject({
      labels: { team: "web" },
      annotations: { ...disabled, note: "ours" },
      spec: {
        type: "NodePort",
        selector: { app: "podinfo-primary" },
        ports: [{ name: "http", port: 80, targetPort: 9898, nodePort: given[0]?.nodePort }],
      },
    });
    expect(after.ownerReferences).toBeUndefined();
    world.writes.splice(0);
    await settle(world, { service: { port: 80, targetPort: 9898 } });
    expect(world.writes).toEqual([]);
  });

  it("canary/11: a Service of another name is not touched", async () => {
    const world = await worldOf();
    const other = foreign({ app: "podinfo" });
    const before = await world.create({
      ...other,
      metadata: { ...other.metadata, name: "other" },
      spec: { selector: { app: "podinfo" }, ports: [{ port: 9898 }] },
    });
    await settle(world);
    expect(await serviceOf(world, "other")).toEqual(before);
  });

  it("canary/12: labels and annotations of others are taken from its own Services, but for those that unmanagedMetadata names", async () => {
    const world = await worldOf();
    const scene = {
      service: {
        apex: { labels: { tier: "apex" }, annotations: { "example.test/of": "apex" } },
        unmanagedMetadata: { labels: ["keep"], annotations: ["example.test/keep"] },
      },
    };
    await settle(world, scene);
    await world.edit(await serviceOf(world, "podinfo"), {
      metadata: {
        labels: { keep: "yes", drop: "yes" },
        annotations: { "example.test/keep": "yes", "example.test/drop": "yes" },
      },
    });
    await settle(world, scene);
    expect(withoutAddress(await serviceOf(world, "podinfo"))).toMatchObject({
      labels: { app: "podinfo", keep: "yes", tier: "apex" },
      annotations: { ...disabled, "example.test/keep": "yes", "example.test/of": "apex" },
    });
    const { labels = {}, annotations = {} } = (await serviceOf(world, "podinfo"))?.metadata ?? {};
    expect([...Object.keys(labels), ...Object.keys(annotations)]).toHaveLength(7);
  });

  it("ports have the names, protocols and numbers that the Canary says, and those that it discovers", async () => {
    const world = await worldOf();
    const service = { portName: "http-web", targetPort: "web", appProtocol: "http", headless: true };
    await settle(world, { service, ports: new Map([["metrics", 9797]]) });
    expect((await serviceOf(world, "podinfo-canary"))?.["spec"]).toMatchObject({
      clusterIP: "None",
      ports: [
        { name: "http-web", protocol: "TCP", port: 9898, targetPort: "web", appProtocol: "http" },
        { name: "metrics", protocol: "TCP", port: 9797, targetPort: 9797 },
      ],
    });
  });

  it("one that another Canary has made is refused, since both would point it to their own pods in turn", async () => {
    const world = await worldOf();
    await settle(world, { name: "first" });
    world.writes.splice(0);
    const services = world.services({ name: "second" });
    await expect(services.ensureOwn()).rejects.toThrow(StepFault);
    await expect(services.ensureOwn()).rejects.toThrow(/podinfo-canary.* belongs to Canary first.*spec\.service\.name/);
    expect(world.writes).toEqual([]);
  });

  it("canary/66: one of somebody else gets the selector back that kubectl has written", async () => {
    const world = await worldOf();
    const lastApplied = JSON.stringify({ spec: { selector: { app: "podinfo", tier: "web" } } });
    await world.create(
      foreign({ app: "podinfo", tier: "web" }, { "kubectl.kubernetes.io/last-applied-configuration": lastApplied }),
    );
    await settle(world);
    await world.services().finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo", tier: "web" } });
  });

  it("canary/66: without such an annotation it selects the target's pods", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo" }));
    await settle(world);
    await world.services().finalize();
    const spec = (await serviceOf(world, "podinfo"))?.["spec"];
    expect(spec).toMatchObject({ selector: { app: "podinfo" } });
  });

  it("canary/66: one that leads to the primary without the annotations of Flux selects the target's pods", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo-primary" }));
    await world.services().finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo" } });
    world.writes.splice(0);
    await world.services().finalize();
    expect(world.writes).toEqual([]);
  });

  it("what leads to the primary is not kept as the original, though the Canary writes its ports", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo-primary" }));
    await world.services().ensureApex(world.takeOver);
    expect([world.writes, world.taken]).toEqual([["patch Service/podinfo"], []]);
    await world.services({ annotations: world.originals() }).finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo" } });
  });

  it("an original that leads to the primary is not given back", async () => {
    const world = await worldOf();
    await world.takeOver(await world.create(foreign({ app: "podinfo-primary" })));
    await world.services({ annotations: world.originals() }).finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo" } });
  });

  it("an annotation of kubectl that is not JSON ends the step, and the Service stays as it is", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo" }, { "kubectl.kubernetes.io/last-applied-configuration": "{" }));
    await settle(world);
    await expect(world.services().finalize()).rejects.toThrow(
      `router podinfo.${world.namespace} failed to unMarshal annotation kubectl.kubernetes.io/last-applied-configuration`,
    );
  });

  it("one that was never made, or is gone, holds up no deletion", async () => {
    const world = await worldOf();
    await world.services().finalize();
    expect(world.writes).toEqual([]);
  });

  it("its own is not given back: it goes with the Canary", async () => {
    const world = await worldOf();
    await settle(world);
    world.writes.splice(0);
    await world.services().finalize();
    expect(world.writes).toEqual([]);
  });

  it("one of somebody else that is taken over gets its selector, its ports and its annotations back", async () => {
    const world = await worldOf();
    const before = await world.create(foreign({ tier: "web" }, { note: "ours", ...oneDisabled }));
    const service = { port: 8080, targetPort: 9898, portName: "web" };
    await world.services({ service }).ensureApex(world.takeOver);
    await world.services({ service }).ensureApex(world.takeOver);
    expect(world.taken).toEqual(["Service/podinfo"]);
    await world.edit(await serviceOf(world, "podinfo"), { metadata: { labels: { added: "later" } } });
    const scene = { service, annotations: world.originals() };
    await world.services(scene).finalize();
    const after = withoutAddress(await serviceOf(world, "podinfo"));
    expect(after).toMatchObject({ labels: { team: "web", added: "later" }, spec: before["spec"] });
    expect(after.annotations).toEqual({ note: "ours", ...oneDisabled });
    world.writes.splice(0);
    await world.services(scene).finalize();
    expect(world.writes).toEqual([]);
  });

  it("what kubectl has written of its ports counts, since it may be newer", async () => {
    const world = await worldOf();
    const ports = [{ name: "http", port: 81, protocol: "TCP", targetPort: 81 }];
    const lastApplied = JSON.stringify({ spec: { selector: { app: "podinfo", tier: "web" }, ports } });
    const given = { "kubectl.kubernetes.io/last-applied-configuration": lastApplied };
    await world.create(foreign({ tier: "web" }, given));
    await world.services().ensureApex(world.takeOver);
    await world.services({ annotations: world.originals() }).finalize();
    const { annotations, spec } = withoutAddress(await serviceOf(world, "podinfo"));
    expect(spec).toMatchObject({ selector: { app: "podinfo", tier: "web" }, ports });
    expect(annotations).toEqual(given);
  });

  it("a Service that was made again after it was taken over keeps its own spec", async () => {
    const world = await worldOf();
    await world.create(foreign({ tier: "web" }));
    await world.services().ensureApex(world.takeOver);
    await world.remove(await serviceOf(world, "podinfo"));
    const before = await world.create(foreign({ tier: "new" }));
    await world.services({ annotations: world.originals() }).finalize();
    expect(await serviceOf(world, "podinfo")).toEqual(before);
  });

  it.each(["podinfo-primary", "podinfo-canary"])(
    "a Service %s of somebody else is refused, and nothing is written",
    async (name) => {
      const world = await worldOf();
      const theirs = foreign({ app: "theirs" });
      const before = await world.create({ ...theirs, metadata: { ...theirs.metadata, name } });
      await expect(world.services().ensureOwn()).rejects.toThrow(
        new StepFault(
          `Service ${name}.${world.namespace} exists, and Canary podinfo.${world.namespace} has not made it, so it is not ` +
            "overwritten: delete or rename it, or give spec.service.name another value",
        ),
      );
      expect(world.writes).toEqual([]);
      expect(await serviceOf(world, name)).toEqual(before);
    },
  );

  it("one that Flagger has taken over, or that has lost its owner on the way to another cluster, is mended", async () => {
    const world = await worldOf();
    const theirs = foreign({ app: "theirs" }, disabled);
    await world.create({ ...theirs, metadata: { ...theirs.metadata, name: "podinfo-primary" } });
    await world.services().ensureOwn();
    expect((await serviceOf(world, "podinfo-primary"))?.["spec"]).toMatchObject({
      selector: { app: "podinfo-primary" },
    });
  });

  it("an apex Service of type ExternalName is refused before anything is written, and holds up no deletion", async () => {
    const world = await worldOf();
    const metadata = { name: "podinfo" };
    const spec = { type: "ExternalName", externalName: "app.example.test" };
    await world.create({ apiVersion: "v1", kind: "Service", metadata, spec });
    await expect(world.services().ensureOwn()).rejects.toThrow(
      `Service podinfo.${world.namespace} is of type ExternalName and selects no pods`,
    );
    await world.services().finalize();
    expect(world.writes).toEqual([]);
  });

  it("what the API server refuses is told in Flagger's words", async () => {
    const world = await worldOf();
    const failed = world.services({ service: { portName: "Not A Name" } }).ensureOwn();
    await expect(failed).rejects.toThrow(
      /^reconcileService failed: service podinfo-canary\.services-\d+ create error: Service "podinfo-canary" is invalid/,
    );
  });
});
