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
  it("canary/2: those of canary and primary are created before the production Service", async () => {
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

  it("canary/9: all three have the annotations that make Flux ignore them, and are owned by the Canary", async () => {
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

  it("a step that changes nothing reads all three with one request and writes none", async () => {
    const world = await worldOf();
    await settle(world);
    world.writes.splice(0);
    world.reads.splice(0);
    await settle(world);
    expect([...world.writes, ...world.reads]).toEqual(["list Service"]);
  });

  it("canary/10: an apex Service created by a user gets the primary's selector and the ports, and keeps everything else", async () => {
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

  it("canary/11: a Service of another name is not changed", async () => {
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

  it("canary/12: foreign labels and annotations are removed from its own Services, except those that unmanagedMetadata names", async () => {
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

  it("ports have the names, protocols and numbers from the Canary, and the discovered ones", async () => {
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

  it("one of another Canary is refused, because both Canaries would switch its selector in turn", async () => {
    const world = await worldOf();
    await settle(world, { name: "first" });
    world.writes.splice(0);
    const services = world.services({ name: "second" });
    await expect(services.ensureOwn()).rejects.toThrow(StepFault);
    await expect(services.ensureOwn()).rejects.toThrow(/podinfo-canary.* belongs to Canary first.*spec\.service\.name/);
    expect(world.writes).toEqual([]);
  });

  it("canary/66: a Service of a user gets back the selector that kubectl has written", async () => {
    const world = await worldOf();
    const lastApplied = JSON.stringify({ spec: { selector: { app: "podinfo", tier: "web" } } });
    await world.create(
      foreign({ app: "podinfo", tier: "web" }, { "kubectl.kubernetes.io/last-applied-configuration": lastApplied }),
    );
    await settle(world);
    await world.services().finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo", tier: "web" } });
  });

  it("canary/66: without kubectl's annotation it selects the target's pods", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo" }));
    await settle(world);
    await world.services().finalize();
    const spec = (await serviceOf(world, "podinfo"))?.["spec"];
    expect(spec).toMatchObject({ selector: { app: "podinfo" } });
  });

  it("canary/66: a Service that points to the primary without Flux's annotations selects the target's pods", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo-primary" }));
    await world.services().finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo" } });
    world.writes.splice(0);
    await world.services().finalize();
    expect(world.writes).toEqual([]);
  });

  it("a Service that points to the primary is not stored as the original, although the Canary writes its ports", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo-primary" }));
    await world.services().ensureApex(world.takeOver);
    expect([world.writes, world.taken]).toEqual([["patch Service/podinfo"], []]);
    await world.services({ annotations: world.originals() }).finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo" } });
  });

  it("an original that points to the primary is not restored", async () => {
    const world = await worldOf();
    await world.takeOver(await world.create(foreign({ app: "podinfo-primary" })));
    await world.services({ annotations: world.originals() }).finalize();
    expect((await serviceOf(world, "podinfo"))?.["spec"]).toMatchObject({ selector: { app: "podinfo" } });
  });

  it("an annotation of kubectl that is not JSON ends the step, and the Service is not changed", async () => {
    const world = await worldOf();
    await world.create(foreign({ app: "podinfo" }, { "kubectl.kubernetes.io/last-applied-configuration": "{" }));
    await settle(world);
    await expect(world.services().finalize()).rejects.toThrow(
      `router podinfo.${world.namespace} failed to unMarshal annotation kubectl.kubernetes.io/last-applied-configuration`,
    );
  });

  it("one that was never created, or is missing, does not block a deletion", async () => {
    const world = await worldOf();
    await world.services().finalize();
    expect(world.writes).toEqual([]);
  });

  it("its own Services are not restored: they are deleted with the Canary", async () => {
    const world = await worldOf();
    await settle(world);
    world.writes.splice(0);
    await world.services().finalize();
    expect(world.writes).toEqual([]);
  });

  it("a Service of a user that was taken over gets its selector, ports and annotations back", async () => {
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

  it("ports in kubectl's annotation take precedence, because they may be newer", async () => {
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

  it("a Service that was recreated after it was taken over keeps its own spec", async () => {
    const world = await worldOf();
    await world.create(foreign({ tier: "web" }));
    await world.services().ensureApex(world.takeOver);
    await world.remove(await serviceOf(world, "podinfo"));
    const before = await world.create(foreign({ tier: "new" }));
    await world.services({ annotations: world.originals() }).finalize();
    expect(await serviceOf(world, "podinfo")).toEqual(before);
  });

  it.each(["podinfo-primary", "podinfo-canary"])(
    "a Service %s of a user is refused, and nothing is written",
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

  it("one that Flagger has taken over, or that lost its owner in a move to another cluster, is repaired", async () => {
    const world = await worldOf();
    const theirs = foreign({ app: "theirs" }, disabled);
    await world.create({ ...theirs, metadata: { ...theirs.metadata, name: "podinfo-primary" } });
    await world.services().ensureOwn();
    expect((await serviceOf(world, "podinfo-primary"))?.["spec"]).toMatchObject({
      selector: { app: "podinfo-primary" },
    });
  });

  it("an apex Service of type ExternalName is refused before any write, and does not block a deletion", async () => {
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

  it("a refusal of the API server is reported with Flagger's text", async () => {
    const world = await worldOf();
    const failed = world.services({ service: { portName: "Not A Name" } }).ensureOwn();
    await expect(failed).rejects.toThrow(
      /^reconcileService failed: service podinfo-canary\.services-\d+ create error: Service "podinfo-canary" is invalid/,
    );
  });
});
