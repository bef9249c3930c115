import { describe, expect, it } from "vitest";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import { type RoutesWorld, routesWorlds, type Scene } from "./routes-world.ts";
import { smallDefinition } from "../../../doubles/small-definition.ts";

const group = "gateway.networking.k8s.io";
const worldOf = routesWorlds("affinity", [smallDefinition(group, "HTTPRoute", "httproutes", ["v1"])]);

const specOf = async (world: RoutesWorld) => (await world.get(`${group}/v1`, "HTTPRoute", "podinfo"))?.["spec"];
const everyPath = { path: { type: "PathPrefix", value: "/" } };
const sticky = (pattern: string) => ({
  matches: [{ ...everyPath, headers: [{ name: "Cookie", type: "RegularExpression", value: pattern }] }],
});
const weights = (primary: number, canary: number) => ({
  backendRefs: [
    { name: "podinfo-primary", weight: primary },
    { name: "podinfo-canary", weight: canary },
  ],
});
const setsCookie = (value: string) => ({
  filters: [{ type: "ResponseHeaderModifier", responseHeaderModifier: { add: [{ name: "Set-Cookie", value }] } }],
});

const scene = (status = {}, affinity = {}): Scene => ({
  analysis: { sessionAffinity: { cookieName: "flagger-cookie", ...affinity } },
  status,
});
const withPrimary = (status = {}) => scene(status, { primaryCookieName: "primary-cookie" });
const to = (canary: number) => ({ primary: 100 - canary, canary, isMirrored: false });

describe("session affinity", () => {
  it("canary/40: a client that the canary has answered stays on it, by a cookie stored in the status", async () => {
    const world = await worldOf();
    await world.router(scene()).ensure();
    const changes = await world.router(scene()).setRoutes(to(10));
    const { sessionAffinityCookie = "" } = changes;
    expect(sessionAffinityCookie).toMatch(/^flagger-cookie=[A-Za-z]{10}$/);
    expect(await specOf(world)).toMatchObject({
      rules: [
        { ...sticky(`.*flagger-cookie.*${sessionAffinityCookie.split("=")[1]}.*`), ...weights(0, 100) },
        {
          matches: [everyPath],
          backendRefs: [
            { name: "podinfo-primary", weight: 90 },
            { name: "podinfo-canary", weight: 10, ...setsCookie(`${sessionAffinityCookie}; Max-Age=86400`) },
          ],
        },
      ],
    });
    expect(await world.router(scene(changes)).routes()).toEqual(to(10));
    expect(await world.router(scene(changes)).setRoutes(to(20))).toEqual({});
    expect(await specOf(world)).toMatchObject({
      rules: [sticky(`.*flagger-cookie.*${sessionAffinityCookie.split("=")[1]}.*`), weights(80, 20)],
    });
  });

  it("canary/40: after the run the cookie is removed", async () => {
    const world = await worldOf();
    await world.router(scene()).ensure();
    const begun = await world.router(scene()).setRoutes(to(10));
    const cookie = begun.sessionAffinityCookie ?? "";
    const ended = await world.router(scene(begun)).setRoutes(to(0));
    expect(ended).toEqual({ previousSessionAffinityCookie: cookie, sessionAffinityCookie: "" });
    expect(await specOf(world)).toMatchObject({
      rules: [
        {
          ...sticky(`.*flagger-cookie.*${cookie.split("=")[1]}.*`),
          ...setsCookie(`${cookie}; Max-Age=-1`),
          ...weights(100, 0),
        },
        { matches: [everyPath], ...weights(100, 0) },
      ],
    });
    const status = { ...begun, ...ended };
    world.writes.splice(0);
    const router = world.router(scene(status));
    await router.ensure();
    expect(await router.routes()).toEqual(to(0));
    expect(await router.setRoutes(to(0))).toEqual({});
    expect(world.writes).toEqual([]);
    const { sessionAffinityCookie: next } = await world.router(scene(status)).setRoutes(to(10));
    expect(next).toMatch(/^flagger-cookie=[A-Za-z]{10}$/);
    expect(next).not.toBe(cookie);
  });

  it("a client of the primary stays on it for one interval, if the primary's cookie has a name", async () => {
    const world = await worldOf();
    await world.router(withPrimary()).ensure();
    const changes = await world.router(withPrimary()).setRoutes(to(10));
    const [own, primary] = [changes.sessionAffinityCookie ?? "", changes.primarySessionAffinityCookie ?? ""];
    expect(await specOf(world)).toMatchObject({
      rules: [
        { ...sticky(`.*flagger-cookie.*${own.split("=")[1]}.*`), ...weights(0, 100) },
        { ...sticky(`.*primary-cookie.*${primary.split("=")[1]}.*`), ...weights(100, 0) },
        {
          backendRefs: [
            { name: "podinfo-primary", weight: 90, ...setsCookie(`${primary}; Max-Age=10`) },
            { name: "podinfo-canary", weight: 10, ...setsCookie(`${own}; Max-Age=86400`) },
          ],
        },
      ],
    });
    const ended = await world.router(withPrimary(changes)).setRoutes(to(0));
    const again = await world.router(withPrimary({ ...changes, ...ended })).setRoutes(to(10));
    expect(Object.keys(again)).toEqual(["sessionAffinityCookie"]);
  });

  it("the cookie has all attributes that sessionAffinity sets", async () => {
    const world = await worldOf();
    const affinity = {
      domain: "example.test",
      httpOnly: true,
      maxAge: 60,
      partitioned: true,
      path: "/a",
      sameSite: "Lax",
      secure: true,
    };
    await world.router(scene({}, affinity)).ensure();
    const { sessionAffinityCookie: cookie } = await world.router(scene({}, affinity)).setRoutes(to(10));
    const value = `${cookie}; Max-Age=60; Domain=example.test; HttpOnly; Partitioned; Path=/a; SameSite=Lax; Secure`;
    expect(JSON.stringify(await specOf(world))).toContain(JSON.stringify(value));
  });

  it("a step killed before it has written the status leaves the cookie in the route, and the next step reuses it", async () => {
    const world = await worldOf();
    await world.router(withPrimary()).ensure();
    const lost = await world.router(withPrimary()).setRoutes(to(10));
    world.writes.splice(0);
    await world.router(withPrimary()).ensure();
    expect(world.writes).toEqual([]);
    expect(await world.router(withPrimary()).setRoutes(to(20))).toEqual(lost);
  });

  it("cookie rules that another client has removed are restored, and the weights stay", async () => {
    const world = await worldOf();
    await world.router(scene()).ensure();
    const status = await world.router(scene()).setRoutes(to(30));
    const before = await specOf(world);
    const route = await world.get(`${group}/v1`, "HTTPRoute", "podinfo");
    await world.edit(route, { spec: { rules: [{ matches: [everyPath], ...weights(70, 30) }] } });
    await world.router(scene(status)).ensure();
    expect(await specOf(world)).toEqual(before);
  });

  it("canary/34: with an A/B test only matching clients get the cookie", async () => {
    const world = await worldOf();
    const tested = (status = {}): Scene => ({
      ...scene(status),
      analysis: { iterations: 2, match: [{ headers: { x: { exact: "y" } } }], sessionAffinity: { cookieName: "c" } },
    });
    await world.router(tested()).ensure();
    await world.router(tested()).setRoutes(to(100));
    expect(await specOf(world)).toMatchObject({
      rules: [
        { matches: [{ headers: [{ name: "Cookie" }] }], ...weights(0, 100) },
        { matches: [{ headers: [{ name: "x", value: "y" }] }], ...weights(0, 100) },
        { matches: [everyPath], backendRefs: [{ name: "podinfo-primary", weight: 100 }] },
      ],
    });
  });

  it("an invalid interval ends the step before any write, if the primary's cookie needs it", async () => {
    const world = await worldOf();
    await world.router(withPrimary()).ensure();
    const bad: Scene = { analysis: { interval: "1mx", sessionAffinity: { cookieName: "c", primaryCookieName: "p" } } };
    await expect(world.router(bad).setRoutes(to(10))).rejects.toThrow(StepFault);
    await expect(world.router(bad).setRoutes(to(10))).rejects.toThrow(/^failed to parse canary interval: /);
  });
});
