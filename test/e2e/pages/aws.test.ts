import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Terminals, terminals } from "../../doubles/terminal.ts";
import { ownPart } from "../../real/own-part.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";
import { awsProgram, pageAccount, replaced } from "./page-world.ts";

const Started = z.object({ queryId: z.string() });
const Messages = z.object({ Messages: z.tuple([z.object({ Body: z.string(), ReceiptHandle: z.string() })]) });

/** The command line of AWS against a moto of its own: it has what the pages name, such as a stack `Sluice`. */
describe.skipIf(process.env["SLUICE_REAL_AWS"] === undefined)("the commands of AWS on a page (SLUICE_REAL_AWS)", () => {
  const opened = new AsyncDisposableStack();
  let folder = "";
  let typed: Terminals;
  let account = "";
  let queue = "";
  beforeAll(async () => {
    const moto = opened.use(await ownPart("aws", z.object({ aws: z.string(), awsCli: z.string() })));
    folder = await mkdtemp(join(tmpdir(), "sluice-aws-pages-"));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    typed = opened.use(await terminals(folder, { aws: await awsProgram(folder, moto.awsCli) }));
    account = pageAccount(moto.aws);
    const url = `${moto.aws}/123456789012/hints`;
    queue = `--endpoint-url ${moto.aws} --queue-url ${url}`;
    await type(`aws sqs create-queue --endpoint-url ${moto.aws} --queue-name hints`);
  });
  afterAll(() => opened.disposeAsync());

  const type = (script: string) => typed.run(folder, `${account}\n${script}`);

  /** The event that a command brings to the hints by a rule of an installation, and that brings no other. */
  async function eventOf(rule: "custom" | "s3", command: string): Promise<unknown> {
    const pattern = join(import.meta.dirname, `../../../infra/lib/${rule}.pattern.json`);
    await type(`aws events put-rule --name ${rule} --event-pattern file://${pattern}
aws events put-targets --rule ${rule} --targets Id=hints,Arn=arn:aws:sqs:eu-west-1:123456789012:hints
${command}`);
    const received = await type(`aws sqs receive-message ${queue} --max-number-of-messages 10`);
    const [{ Body, ReceiptHandle }] = Messages.parse(JSON.parse(received)).Messages;
    await type(`aws sqs delete-message ${queue} --receipt-handle ${ReceiptHandle}`);
    return JSON.parse(Body);
  }

  test("docs/logs.md: the log groups of the stack are listed, and the query is accepted", async () => {
    const [, , groups = "", query = ""] = await blocksToRun("docs/logs.md", 4);
    const template = { Resources: { SluiceReconcileLog1A2B: { Type: "AWS::Logs::LogGroup" } } };
    await type(`aws cloudformation create-stack --stack-name Sluice --template-body '${JSON.stringify(template)}'`);
    const [, group = ""] = /\| +SluiceReconcileLog1A2B +\| +(\S+) +\|/.exec(await type(groups)) ?? [];
    expect(group).not.toBe("");
    const line = {
      message: "reconcile failed",
      key: { namespace: "apps", name: "web" },
      reason: "BuildFailed",
      error: "no",
    };
    await writeFile(
      join(folder, "events.json"),
      JSON.stringify([{ timestamp: Date.now(), message: JSON.stringify(line) }]),
    );
    const named = { "NAME-OF-THE-LOG-GROUP": group };
    await type(`aws logs create-log-stream --log-group-name ${group} --log-stream-name run
aws logs put-log-events --log-group-name ${group} --log-stream-name run --log-events file://events.json`);
    const [start = "", results = ""] = query.split(/(?=^aws logs get-query-results)/m);
    const { queryId } = Started.parse(JSON.parse(await type(replaced(start, named))));
    // moto applies no filter and computes no fields: test/unit/documents/logs.test.ts shows what the query finds.
    const found: unknown = JSON.parse(await type(replaced(results, { "ID-THAT-IT-PRINTED": queryId })));
    expect(found).toMatchObject({ status: "Complete", results: [expect.anything()] });
  });

  test("docs/buckets.md: after the command an upload to the bucket reaches the rule of an installation", async () => {
    const [notify = ""] = await blocksToRun("docs/buckets.md", 1);
    await writeFile(join(folder, "app.yaml"), "");
    const event = await eventOf(
      "s3",
      `aws s3api create-bucket --bucket team-manifests --create-bucket-configuration LocationConstraint=eu-west-1
aws s3api put-object --bucket team-manifests --key before.yaml --body app.yaml
${notify}
aws s3api put-object --bucket team-manifests --key app.yaml --body app.yaml`,
    );
    expect(event).toMatchObject({ detail: { bucket: { name: "team-manifests" }, object: { key: "app.yaml" } } });
  });

  test("docs/events.md: an event of your own reaches the rule of an installation", async () => {
    const [put = ""] = await blocksToRun("docs/events.md", 1);
    expect(await eventOf("custom", put)).toMatchObject({
      source: "sluice",
      "detail-type": "Source Changed",
      detail: { git: { url: "https://git.example.com/team/app.git", ref: "refs/heads/main" } },
    });
  });
});
