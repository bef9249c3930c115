import { expect, test } from "vitest";
import { ecrLogin } from "../../../../lib/aws/ecr/ecr-login.ts";
import { faultyWire } from "../../../doubles/faulty-wire.ts";

const never = new AbortController().signal;
const hour = 3_600_000;

/** Logins to ECR, whose tokens name their region and their number, and last as long as this. */
async function logins(lifeMs: number) {
  const state = { now: 0, asked: [] as string[] };
  const wire = await faultyWire(undefined, ({ headers: { authorization = "" } }, count) => {
    const region = /Credential=[^/]+\/[0-9]+\/([^/]+)/.exec(authorization)?.[1] ?? "";
    state.asked.push(region);
    const authorizationToken = btoa(`AWS:${region} ${count}`);
    const body = JSON.stringify({
      authorizationData: [{ authorizationToken, expiresAt: (state.now + lifeMs) / 1_000 }],
    });
    return { status: 200, headers: { "content-type": "application/x-amz-json-1.1" }, body };
  });
  const connection = {
    region: "eu-west-1",
    endpoint: wire.url,
    credentials: { accessKeyId: "x", secretAccessKey: "y" },
  };
  const login = ecrLogin({ connection, clock: { now: () => state.now }, isAllowed: () => true });
  const token = async (region: string, account = "123456789012") => {
    const host = `${account}.dkr.ecr.${region}.amazonaws.com`;
    const request = { host, repository: "web", cluster: "home", namespace: "apps" };
    return (await login.credentials(request, never)).password.reveal();
  };
  const end = async () => {
    login.close();
    await wire[Symbol.asyncDispose]();
  };
  return { state, token, [Symbol.asyncDispose]: end };
}

test("each region has its own token, which concurrent callers share", async () => {
  await using world = await logins(12 * hour);
  const asked = ["eu-west-1", "eu-north-1", "eu-west-1"].map((region) => world.token(region));
  const [west, north, again] = await Promise.all([...asked, world.token("eu-west-1", "210987654321")]);
  expect([west, north].map((token) => token?.split(" ")[0])).toEqual(["eu-west-1", "eu-north-1"]);
  expect(again).toBe(west);
  expect(world.state.asked.toSorted()).toEqual(["eu-north-1", "eu-west-1"]);
});

test.each([
  { name: "that lasts long is used for an hour", lifeMs: 12 * hour, usedMs: hour },
  { name: "that lasts an hour is used for 80 % of it", lifeMs: hour, usedMs: 0.8 * hour },
])("a token $name", async ({ lifeMs, usedMs }) => {
  await using world = await logins(lifeMs);
  expect(await world.token("eu-west-1")).toBe("eu-west-1 0");
  world.state.now = usedMs - 1;
  expect(await world.token("eu-west-1")).toBe("eu-west-1 0");
  world.state.now = usedMs;
  expect(await world.token("eu-west-1")).toBe("eu-west-1 1");
});
