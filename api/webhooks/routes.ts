import { z } from 'zod';
import type { ProjectStore } from '../../db/organizations/projects.ts';
import type { Owner } from '../../db/caller.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { DeliveryRow, WebhookDeliveryStore } from '../../db/webhooks/webhook-deliveries.ts';
import {
  maxWebhooks,
  type WebhookRef,
  type WebhookFormat,
  type WebhookRow,
  type WebhookStore,
} from '../../db/webhooks/webhook-endpoints.ts';
import { parseWebhookAddress } from '../../lib/inputs/webhook-address.ts';
import type { Admission } from '../access/request-access.ts';
import type { EnforceRateLimit } from '../access/rate-limit.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import {
  deliveryNotFound,
  invalidRequest,
  projectNotFound,
  previousSecretValid,
  tooManyWebhooks,
  webhookDisabled,
  webhookNotFound,
} from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { pageOf } from '../http/page-of.ts';
import { pageQuerySchema } from '../http/page-schemas.ts';
import { projectId } from '../jobs/job-schemas.ts';
import { presentDelivery, presentWebhook } from './present.ts';
import {
  changeWebhookSchema,
  createWebhookSchema,
  createdWebhookSchema,
  deliveryListSchema,
  deliverySchema,
  rotateSecretSchema,
  rotatedSecretSchema,
  webhookListSchema,
  webhookSchema,
} from './webhook-schemas.ts';

const base = '/v2/agent/{projectId}/webhooks';
const ofWebhook = { projectId, id: z.string().meta({ description: 'Unique identifier of the webhook.' }) };
const deliveryId = z.string().meta({ description: 'Unique identifier of the delivery.' });
const maxBytes = 32 * 1024;

export const webhookRoutes = {
  createWebhook: defineRoute({
    method: 'post',
    path: base,
    summary: 'Creates a webhook for the events of a project.',
    description:
      'Messages follow the Standard Webhooks specification: {type, timestamp, data: {job}}, with data.pullRequest for pull requests, and the headers webhook-id, webhook-timestamp and webhook-signature. A status from 200 to 299 within 15 seconds acknowledges a message. Otherwise it is retried, with ten attempts in total over three days. With the format slack, a message is {text, blocks} for a Slack incoming webhook, without a signature.',
    params: { projectId },
    body: createWebhookSchema,
    maxBytes,
    responses: { 201: json('The webhook, with its secret.', createdWebhookSchema) },
    errors: [409],
  }),
  listWebhooks: defineRoute({
    method: 'get',
    path: base,
    summary: 'Lists the webhooks of a project.',
    role: 'admin',
    params: { projectId },
    responses: { 200: json('All webhooks, oldest first.', webhookListSchema) },
  }),
  getWebhook: defineRoute({
    method: 'get',
    path: `${base}/{id}`,
    summary: 'Returns a webhook.',
    role: 'admin',
    params: ofWebhook,
    responses: { 200: json('The webhook.', webhookSchema) },
  }),
  changeWebhook: defineRoute({
    method: 'patch',
    path: `${base}/{id}`,
    summary: 'Changes a webhook. Omitted fields keep their values.',
    params: ofWebhook,
    body: changeWebhookSchema,
    maxBytes,
    responses: { 200: json('The webhook.', webhookSchema) },
  }),
  deleteWebhook: defineRoute({
    method: 'delete',
    path: `${base}/{id}`,
    summary: 'Deletes a webhook with its deliveries, pending ones included.',
    params: ofWebhook,
    responses: { 204: { description: 'The webhook is deleted.' } },
  }),
  rotateWebhookSecret: defineRoute({
    method: 'post',
    path: `${base}/{id}/secret`,
    summary:
      'Rotates the secret of a webhook. For 24 hours messages are signed with the previous secret too; another rotation before that answers 409.',
    params: ofWebhook,
    body: rotateSecretSchema,
    maxBytes,
    responses: { 200: json('The new secret.', rotatedSecretSchema) },
    errors: [409],
  }),
  pingWebhook: defineRoute({
    method: 'post',
    path: `${base}/{id}/ping`,
    summary: 'Sends a message of type webhook.ping.',
    params: ofWebhook,
    responses: { 202: json('The pending delivery.', deliverySchema) },
    errors: [409],
  }),
  listWebhookDeliveries: defineRoute({
    method: 'get',
    path: `${base}/{id}/deliveries`,
    summary: 'Lists the deliveries of a webhook in the last 30 days, newest first.',
    role: 'admin',
    params: ofWebhook,
    query: pageQuerySchema,
    responses: { 200: json('A page of deliveries.', deliveryListSchema) },
  }),
  redeliverWebhook: defineRoute({
    method: 'post',
    path: `${base}/{id}/deliveries/{deliveryId}/redeliver`,
    summary: 'Sends a message again with the same webhook-id, starting with the first attempt.',
    params: { ...ofWebhook, deliveryId },
    responses: { 202: json('The pending delivery.', deliverySchema) },
    errors: [409],
  }),
};

export interface WebhookRouteDeps {
  admit: Admission;
  enforceRateLimit: EnforceRateLimit;
  projects: Pick<ProjectStore, 'get'>;
  webhooks: WebhookStore;
  deliveries: WebhookDeliveryStore;
  /** Hosts, as `host` or `host:port`, that webhooks may use although they are private, even without TLS. */
  allowedHosts: readonly string[];
}

const noSecret = 'A Slack webhook has no signing secret; its URL is the secret.';
const needsSlack =
  'A URL at hooks.slack.com requires the format slack: Slack accepts no other messages, and the URL is a secret.';

/** Time for which the old secret still signs alongside the new one after a rotation. */
const secretOverlapMs = 24 * 3_600_000;
/** Rate limit for messages requested by a person: pings and redeliveries. */
const askedPolicy: RateLimitPolicy = { name: 'webhook', limit: 1_000, windowSeconds: 3_600 };

export function createWebhooksRouter(deps: WebhookRouteDeps): AppRouter {
  const { webhooks, deliveries } = deps;

  async function projectOf(owner: Owner, id: string): Promise<string> {
    const project = await deps.projects.get(owner, id);
    if (project === null) throw projectNotFound();
    return project.id;
  }

  async function webhookOf(owner: Owner, params: { projectId: string; id: string }): Promise<WebhookRow> {
    const webhook = await webhooks.find(owner, { projectId: await projectOf(owner, params.projectId), id: params.id });
    if (webhook === null) throw webhookNotFound();
    return webhook;
  }

  function addressOf(text: string, format: WebhookFormat): string {
    const parsed = parseWebhookAddress(text, deps.allowedHosts);
    if (!parsed.ok) throw invalidRequest(parsed.problem);
    if (format !== 'slack' && new URL(parsed.url).hostname === 'hooks.slack.com') throw invalidRequest(needsSlack);
    return parsed.url;
  }

  async function deliveryOf(owner: Owner, webhook: WebhookRef, id: string): Promise<DeliveryRow> {
    const delivery = await deliveries.find(owner, webhook, id);
    if (delivery === null) throw deliveryNotFound();
    return delivery;
  }

  async function limitSending(ctx: AppContext, webhook: WebhookRow): Promise<void> {
    if (!webhook.enabled) throw webhookDisabled();
    await deps.enforceRateLimit(ctx, [{ key: `webhook:${webhook.projectId}`, policy: askedPolicy }]);
  }

  return mountRoutes(deps.admit, webhookRoutes, {
    async createWebhook({ ctx, caller, params, body }) {
      const projectId = await projectOf(caller, params.projectId);
      const { format, url, description = null, eventTypes = [], secret } = await body();
      if (format === 'slack' && secret !== undefined) throw invalidRequest(noSecret);
      const created = await webhooks.create(caller, projectId, {
        format,
        url: addressOf(url, format),
        description,
        eventTypes,
        secret,
      });
      if (created === 'no-project') throw projectNotFound();
      if (created === 'too-many') throw tooManyWebhooks(maxWebhooks);
      ctx.set('Location', `/v2/agent/${projectId}/webhooks/${created.webhook.id}`);
      return { ...presentWebhook(created.webhook), secret: format === 'slack' ? null : created.secret };
    },

    async listWebhooks({ caller, params }) {
      const projectId = await projectOf(caller, params.projectId);
      return { webhooks: (await webhooks.list(caller, projectId)).map(presentWebhook) };
    },

    async getWebhook({ caller, params }) {
      return presentWebhook(await webhookOf(caller, params));
    },

    async changeWebhook({ caller, params, body }) {
      const webhook = await webhookOf(caller, params);
      const { url, ...change } = await body();
      const address = url === undefined ? {} : { url: addressOf(url, webhook.format) };
      const changed = await webhooks.update(caller, webhook, { ...change, ...address });
      if (changed === null) throw webhookNotFound();
      return presentWebhook(changed);
    },

    async deleteWebhook({ caller, params }) {
      const webhook = await webhookOf(caller, params);
      if (!(await webhooks.remove(caller, webhook))) throw webhookNotFound();
    },

    async rotateWebhookSecret({ caller, params, body }) {
      const webhook = await webhookOf(caller, params);
      if (webhook.format === 'slack') throw invalidRequest(noSecret);
      const { secret } = await body();
      const rotated = await webhooks.rotateSecret(caller, webhook, { secret, overlapMs: secretOverlapMs });
      if (rotated === null) throw webhookNotFound();
      const previousValidUntil = rotated.previousValidUntil.toISOString();
      if (rotated.secret === null) throw previousSecretValid(previousValidUntil);
      return { secret: rotated.secret, previousValidUntil };
    },

    async pingWebhook({ ctx, caller, params }) {
      const webhook = await webhookOf(caller, params);
      await limitSending(ctx, webhook);
      const id = await webhooks.ping(caller, webhook);
      if (id === null) throw webhookDisabled();
      return presentDelivery(await deliveryOf(caller, webhook, id));
    },

    async listWebhookDeliveries({ caller, params, query }) {
      const webhook = await webhookOf(caller, params);
      const page = await pageOf(() => deliveries.list(caller, webhook, query));
      return { deliveries: page.deliveries.map(presentDelivery), nextCursor: page.nextCursor };
    },

    async redeliverWebhook({ ctx, caller, params }) {
      const webhook = await webhookOf(caller, params);
      const { id } = await deliveryOf(caller, webhook, params.deliveryId);
      await limitSending(ctx, webhook);
      await deliveries.redeliver(caller, webhook, id);
      return presentDelivery(await deliveryOf(caller, webhook, id));
    },
  });
}
