/**
 * JSON that SQS takes: it refuses control characters, which JSON escapes anyway, and the two characters that XML has no
 * place for (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html).
 */
export function messageBody(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\uFFFE\uFFFF]/g, (odd) => `\\u${odd.charCodeAt(0).toString(16)}`);
}
