import type {
  AttemptResult,
  MessageJob,
  MessagePullRequest,
  WebhookAttemptStore,
  WebhookShipment,
} from '../../db/for-worker/webhooks/webhook-attempts.ts';
import { presentJob, type AgentJob } from '../../db/jobs/agent-job.ts';
import { webhookPing, type WebhookAttempt, type WebhookAttemptRef } from '../../workflows/contract/webhook.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import type { Attempt } from '../attempt.ts';
import { WebhookSendError, type WebhookAnswer, type WebhookSender } from '../network/webhook-sender.ts';
import { waitBeforeRetry } from './webhook-schedule.ts';
import { slackMessage, slackPing } from './slack-message.ts';
import { signWebhook } from './webhook-signature.ts';

export interface WebhookActivityDeps {
  attempts: WebhookAttemptStore;
  sender: WebhookSender;
  attempt: Attempt;
  secrets: Pick<KnownSecrets, 'learn' | 'redact'>;
  /** Address of the dashboard. */
  baseUrl: string;
  /** Delays between attempts, which tests can shorten. */
  waitsMs?: readonly number[];
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

const maxResponseCharacters = 1_000;

type Outcome = Omit<AttemptResult, 'durationMs' | 'waitMs'> & { retryAfter: string | null };

export function createWebhookActivities(deps: WebhookActivityDeps) {
  const { attempts, sender, attempt, secrets, baseUrl, waitsMs } = deps;

  /** Returns the body, which is created once so that every receiver and every attempt gets the same bytes. */
  async function bodyOf(shipment: WebhookShipment): Promise<string | null> {
    const { body, messageId, type, createdAt, webhookId } = shipment;
    if (shipment.format === 'slack') return slackBodyOf(shipment);
    if (body !== null) return body;
    const job = type === webhookPing ? null : await attempts.jobOf(messageId);
    const data = job === null ? { webhook: { id: webhookId } } : dataOf(type, job);
    return attempts.keepBody(messageId, JSON.stringify({ type, timestamp: createdAt.toISOString(), data }));
  }

  async function slackBodyOf({ messageId, type }: WebhookShipment): Promise<string | null> {
    if (type === webhookPing) return slackPing();
    const job = await attempts.jobOf(messageId);
    if (job === null) return null;
    const jobUrl = `${baseUrl}/jobs/${job.projectId}/${job.id}`;
    return slackMessage({ type, jobUrl, ...dataOf(type, job) });
  }

  function headersOf({ format, messageId, secrets }: WebhookShipment, body: string): Record<string, string> {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Docket-Webhooks/1' };
    // Slack verifies no signature
    if (format === 'slack') return headers;
    const timestamp = Math.floor(Date.now() / 1000);
    return {
      ...headers,
      'webhook-id': messageId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signWebhook({ id: messageId, timestamp, body }, secrets),
    };
  }

  async function send(shipment: WebhookShipment, body: string, signal: AbortSignal): Promise<Outcome> {
    const { url, format } = shipment;
    try {
      const answer = await sender.send({ url, headers: headersOf(shipment, body), body, signal });
      const { pathname, search } = new URL(url);
      // a receiver may answer with the secret address it was asked at
      return outcomeOf(
        format === 'slack' ? { ...answer, text: answer.text.replaceAll(pathname + search, '/***') } : answer,
      );
    } catch (error) {
      if (!(error instanceof WebhookSendError)) throw error;
      return { statusCode: null, response: null, error: error.message, verdict: 'failed', retryAfter: null };
    }
  }

  function outcomeOf({ statusCode, retryAfter, text }: WebhookAnswer): Outcome {
    const response = text === '' ? null : secrets.redact(text).slice(0, maxResponseCharacters);
    const answer = { statusCode, retryAfter, response };
    if (statusCode >= 200 && statusCode < 300) return { ...answer, error: null, verdict: 'delivered' };
    return { ...answer, error: problemWith(statusCode), verdict: statusCode === 410 ? 'gone' : 'failed' };
  }

  return {
    /**
     * Makes one delivery attempt. Repeating a recorded attempt sends nothing. An attempt that was interrupted before it
     * was recorded is sent again under the same webhook-id.
     */
    async sendWebhook(ref: WebhookAttemptRef): Promise<WebhookAttempt> {
      // not counted: a message whose attempt cannot be recorded is retried until it can
      return attempt({ countFailure: () => Promise.resolve(1) }, async (signal) => {
        const opened = await attempts.open(ref);
        if (opened.kind === 'made') return { waitMs: opened.waitMs };
        if (opened.kind === 'over') return { waitMs: null };
        const { shipment } = opened;
        // a receiver may answer with what the project's jobs have used
        if (shipment.projectId !== null) secrets.learn(shipment.projectId, []);
        const body = await bodyOf(shipment);
        if (body === null) return { waitMs: null };
        const startedMs = performance.now();
        const { retryAfter, ...outcome } = await send(shipment, body, signal);
        const durationMs = Math.round(performance.now() - startedMs);
        const schedule = { tries: shipment.tries + 1, retryAfter, chance: Math.random(), nowMs: Date.now() };
        return attempts.record(ref, { ...outcome, durationMs, waitMs: waitBeforeRetry({ ...schedule, waitsMs }) });
      });
    },
  };
}

function problemWith(statusCode: number): string {
  if (statusCode >= 300 && statusCode < 400 && statusCode !== 304) {
    return `The receiver responded with a redirect (${statusCode}). Redirects are not followed; set the webhook's URL to the target.`;
  }
  return `The receiver responded with ${statusCode}; a status from 200 to 299 acknowledges the message.`;
}

/** Returns a job, and the pull request if the message is about one. */
function dataOf(type: string, row: MessageJob): { job: AgentJob; pullRequest?: MessagePullRequest } {
  const job = presentJob(row);
  const { pullRequest: newest } = job.details;
  const pullRequest = row.earlierPullRequest ?? (newest === null ? null : { ...newest, link: job.prLink });
  return pullRequest !== null && type.startsWith('pull_request.') ? { job, pullRequest } : { job };
}
