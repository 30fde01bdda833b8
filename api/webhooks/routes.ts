import type { ProjectStore } from '../../db/organizations/projects.ts';
import type { Owner } from '../../db/caller.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { DeliveryRow, WebhookDeliveryStore } from '../../db/webhooks/webhook-deliveries.ts';
import {
  mostWebhooks,
  type WebhookRef,
  type WebhookRow,
  type WebhookStore,
} from '../../db/webhooks/webhook-endpoints.ts';
import { parseWebhookAddress } from '../../lib/inputs/webhook-address.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import {
  deliveryNotFound,
  invalidRequest,
  projectNotFound,
  tooManyWebhooks,
  webhookDisabled,
  webhookNotFound,
} from '../http/errors.ts';
import { hasBody, readJsonBody } from '../http/json-body.ts';
import type { Authenticate } from '../access/authentication.ts';
import type { EnforceRateLimit } from '../access/rate-limit.ts';
import { pageOf } from '../http/page-of.ts';
import { pageQuerySchema } from '../http/page-schemas.ts';
import { presentDelivery, presentWebhook } from './present.ts';
import { changeWebhookSchema, createWebhookSchema, rotateSecretSchema } from './webhook-schemas.ts';

export interface WebhookRouteDeps {
  authenticate: Authenticate;
  enforceRateLimit: EnforceRateLimit;
  projects: Pick<ProjectStore, 'get'>;
  webhooks: WebhookStore;
  deliveries: WebhookDeliveryStore;
  /** `host` or `host:port` that webhooks may lead to though it is private, and without TLS. */
  allowedHosts: readonly string[];
}

type Params = { params: Record<string, string | undefined> };

const largestBodyBytes = 32 * 1024;
const base = '/v2/agent/:projectId/webhooks';
/** How long a rotated secret still signs beside the new one. */
const secretOverlapMs = 24 * 3_600_000;
/** Messages that are sent because a person asked for it: pings and redeliveries. */
const askedPolicy: RateLimitPolicy = { name: 'webhook', limit: 1_000, windowSeconds: 3_600 };

/** Webhooks of a project, and what was delivered to them. */
export function createWebhooksRouter(deps: WebhookRouteDeps): AppRouter {
  const { webhooks, deliveries } = deps;
  const router = createRouter();

  async function projectOf(ctx: AppContext & Params): Promise<{ caller: ApiCaller; projectId: string }> {
    const caller = await deps.authenticate(ctx.req, 'admin');
    const project = await deps.projects.get(caller, ctx.params['projectId'] ?? '');
    if (project === null) throw projectNotFound();
    ctx.set('Cache-Control', 'no-store');
    return { caller, projectId: project.id };
  }

  async function webhookOf(ctx: AppContext & Params): Promise<{ caller: ApiCaller; webhook: WebhookRow }> {
    const { caller, projectId } = await projectOf(ctx);
    const webhook = await webhooks.find(caller, { projectId, id: ctx.params['id'] ?? '' });
    if (webhook === null) throw webhookNotFound();
    return { caller, webhook };
  }

  function addressOf(text: string): string {
    const parsed = parseWebhookAddress(text, deps.allowedHosts);
    if (!parsed.ok) throw invalidRequest(parsed.problem);
    return parsed.url;
  }

  async function deliveryOf(owner: Owner, webhook: WebhookRef, id: string | undefined): Promise<DeliveryRow> {
    const delivery = await deliveries.find(owner, webhook, id ?? '');
    if (delivery === null) throw deliveryNotFound();
    return delivery;
  }

  router.post(base, async (ctx) => {
    const { caller, projectId } = await projectOf(ctx);
    const { url, description = null, eventTypes = [], secret } = createWebhookSchema.parse(await bodyOf(ctx));
    const created = await webhooks.create(caller, projectId, { url: addressOf(url), description, eventTypes, secret });
    if (created === 'no-project') throw projectNotFound();
    if (created === 'too-many') throw tooManyWebhooks(mostWebhooks);
    ctx.status = 201;
    ctx.set('Location', `/v2/agent/${projectId}/webhooks/${created.webhook.id}`);
    ctx.body = { ...presentWebhook(created.webhook), secret: created.secret };
  });

  router.get(base, async (ctx) => {
    const { caller, projectId } = await projectOf(ctx);
    ctx.body = { webhooks: (await webhooks.list(caller, projectId)).map(presentWebhook) };
  });

  router.get(`${base}/:id`, async (ctx) => {
    ctx.body = presentWebhook((await webhookOf(ctx)).webhook);
  });

  router.patch(`${base}/:id`, async (ctx) => {
    const { caller, webhook } = await webhookOf(ctx);
    const { url, ...change } = changeWebhookSchema.parse(await bodyOf(ctx));
    const address = url === undefined ? {} : { url: addressOf(url) };
    const changed = await webhooks.update(caller, webhook, { ...change, ...address });
    if (changed === null) throw webhookNotFound();
    ctx.body = presentWebhook(changed);
  });

  router.delete(`${base}/:id`, async (ctx) => {
    const { caller, webhook } = await webhookOf(ctx);
    if (!(await webhooks.remove(caller, webhook))) throw webhookNotFound();
    ctx.status = 204;
  });

  router.post(`${base}/:id/secret`, async (ctx) => {
    const { caller, webhook } = await webhookOf(ctx);
    const { secret } = rotateSecretSchema.parse(hasBody(ctx.req) ? await bodyOf(ctx) : {});
    const rotated = await webhooks.rotateSecret(caller, webhook, { secret, overlapMs: secretOverlapMs });
    if (rotated === null) throw webhookNotFound();
    ctx.body = { secret: rotated.secret, previousValidUntil: rotated.previousValidUntil.toISOString() };
  });

  router.post(`${base}/:id/ping`, async (ctx) => {
    const { caller, webhook } = await webhookOf(ctx);
    if (!webhook.enabled) throw webhookDisabled();
    await deps.enforceRateLimit(ctx, [{ key: `webhook:${webhook.projectId}`, policy: askedPolicy }]);
    const deliveryId = await webhooks.ping(caller, webhook);
    if (deliveryId === null) throw webhookDisabled();
    ctx.status = 202;
    ctx.body = presentDelivery(await deliveryOf(caller, webhook, deliveryId));
  });

  router.get(`${base}/:id/deliveries`, async (ctx) => {
    const { caller, webhook } = await webhookOf(ctx);
    const query = pageQuerySchema.parse({ ...ctx.query });
    const page = await pageOf(() => deliveries.list(caller, webhook, query));
    ctx.body = { deliveries: page.deliveries.map(presentDelivery), nextCursor: page.nextCursor };
  });

  router.post(`${base}/:id/deliveries/:deliveryId/redeliver`, async (ctx) => {
    const { caller, webhook } = await webhookOf(ctx);
    const { id } = await deliveryOf(caller, webhook, ctx.params['deliveryId']);
    if (!webhook.enabled) throw webhookDisabled();
    await deps.enforceRateLimit(ctx, [{ key: `webhook:${webhook.projectId}`, policy: askedPolicy }]);
    await deliveries.redeliver(caller, webhook, id);
    ctx.status = 202;
    ctx.body = presentDelivery(await deliveryOf(caller, webhook, id));
  });

  return router;
}

function bodyOf(ctx: AppContext): Promise<unknown> {
  return readJsonBody(ctx.req, { maxBytes: largestBodyBytes });
}
