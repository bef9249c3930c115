import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stackStatus } from "../../../lib/aws/cloudformation.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const stack = "arn:aws:cloudformation:eu-west-1:123456789012:stack/Sluice/11111111-2222-3333-4444-555555555555";
const seen: { readonly authorization: string; readonly body: string }[] = [];
let answers: { readonly status: number; readonly body: string }[] = [];

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += String(chunk)));
  request.on("end", () => {
    seen.push({ authorization: request.headers.authorization ?? "", body });
    const answer = answers.shift() ?? { status: 500, body: "" };
    response.writeHead(answer.status, { "content-type": "text/xml" }).end(answer.body);
  });
});
let endpoint = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterAll(() => void server.close());

function ask(): Promise<string> {
  const clock = steppedClock();
  const credentials = { accessKeyId: "x", secretAccessKey: "y" };
  const sleep = async (ms: number) => clock.pass(ms);
  return stackStatus({ ...clock, sleep }, { endpoint, credentials })(stack, new AbortController().signal);
}

const found = `<DescribeStacksResponse><member><StackStatus>UPDATE_ROLLBACK_IN_PROGRESS</StackStatus></member></DescribeStacksResponse>`;
const error = (code: string) =>
  `<ErrorResponse><Error><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`;

test("the status of a stack is read with one signed request, and retried while CloudFormation throttles", async () => {
  answers = [
    { status: 400, body: error("Throttling") },
    { status: 200, body: found },
  ];
  expect(await ask()).toBe("UPDATE_ROLLBACK_IN_PROGRESS");
  expect(seen).toHaveLength(2);
  expect(new URLSearchParams(seen[1]?.body).get("StackName")).toBe(stack);
  expect(seen[1]?.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=x\/\d{8}\/eu-west-1\/cloudformation\/aws4_request/,
  );
});

test("a denial names the right that is missing", async () => {
  answers = [{ status: 403, body: error("AccessDenied") }];
  await expect(ask()).rejects.toThrow(
    `cloudformation:DescribeStacks on stack ${stack}: allow cloudformation:DescribeStacks in the policy of the role`,
  );
});

test("an answer that is not CloudFormation's is an error, after every attempt", async () => {
  answers = Array.from({ length: 4 }, () => ({ status: 200, body: "<html>proxy</html>" }));
  await expect(ask()).rejects.toThrow("AWS's answer cannot be read");
  expect(answers).toEqual([]);
});
