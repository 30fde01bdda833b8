import { projectId, security } from '../jobs/describe-jobs.ts';
import { errorResponses, jsonBody, jsonResponse, pageParameters, pathParameter, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';
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

const webhookId = pathParameter('id', 'Unique identifier of the webhook.');
const deliveryId = pathParameter('deliveryId', 'Unique identifier of the delivery.');

/** OpenAPI paths of webhooks. */
export function describeWebhooks(): Record<string, PathItem> {
  const webhook = schemaOf(webhookSchema);
  const delivery = schemaOf(deliverySchema);
  const ofProject = { security, parameters: [projectId] };
  const ofWebhook = { security, parameters: [projectId, webhookId] };
  return {
    '/v2/agent/{projectId}/webhooks': {
      post: {
        operationId: 'createWebhook',
        summary: 'Be told of what happens to the jobs of a project',
        description:
          'Messages are posted and signed by the Standard Webhooks specification: {type, timestamp, data: {job}} with the headers webhook-id, webhook-timestamp and webhook-signature. A status from 200 to 299 within 15 seconds takes a message; otherwise there are ten attempts over three days.',
        ...ofProject,
        requestBody: jsonBody(schemaOf(createWebhookSchema, 'input')),
        responses: {
          201: jsonResponse('The webhook, with its secret.', schemaOf(createdWebhookSchema)),
          ...errorResponses(400, 401, 403, 404, 409, 413, 415, 429, 503),
        },
      },
      get: {
        operationId: 'listWebhooks',
        summary: 'List the webhooks of a project',
        ...ofProject,
        responses: {
          200: jsonResponse('All of them, oldest first.', schemaOf(webhookListSchema)),
          ...errorResponses(401, 403, 404, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/webhooks/{id}': {
      get: {
        operationId: 'getWebhook',
        summary: 'Get a webhook',
        ...ofWebhook,
        responses: { 200: jsonResponse('The webhook.', webhook), ...errorResponses(401, 403, 404, 429, 503) },
      },
      patch: {
        operationId: 'changeWebhook',
        summary: 'Change a webhook; what is left out stays',
        ...ofWebhook,
        requestBody: jsonBody(schemaOf(changeWebhookSchema, 'input')),
        responses: {
          200: jsonResponse('The webhook.', webhook),
          ...errorResponses(400, 401, 403, 404, 413, 415, 429, 503),
        },
      },
      delete: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook, its deliveries and what is on its way',
        ...ofWebhook,
        responses: { 204: { description: 'It is gone.' }, ...errorResponses(401, 403, 404, 429, 503) },
      },
    },
    '/v2/agent/{projectId}/webhooks/{id}/secret': {
      post: {
        operationId: 'rotateWebhookSecret',
        summary: 'Give a webhook a new secret; the previous one signs beside it for 24 hours',
        ...ofWebhook,
        requestBody: { ...jsonBody(schemaOf(rotateSecretSchema, 'input')), required: false },
        responses: {
          200: jsonResponse('The new secret.', schemaOf(rotatedSecretSchema)),
          ...errorResponses(400, 401, 403, 404, 413, 415, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/webhooks/{id}/ping': {
      post: {
        operationId: 'pingWebhook',
        summary: 'Send a message of the type webhook.ping',
        ...ofWebhook,
        responses: {
          202: jsonResponse('Its delivery, which is on its way.', delivery),
          ...errorResponses(401, 403, 404, 409, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/webhooks/{id}/deliveries': {
      get: {
        operationId: 'listWebhookDeliveries',
        summary: 'List what was sent to a webhook in the last 30 days, newest first',
        security,
        parameters: [projectId, webhookId, ...pageParameters],
        responses: {
          200: jsonResponse('A page of deliveries.', schemaOf(deliveryListSchema)),
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/webhooks/{id}/deliveries/{deliveryId}/redeliver': {
      post: {
        operationId: 'redeliverWebhook',
        summary: 'Send a message again, with its webhook-id, from the first attempt on',
        security,
        parameters: [projectId, webhookId, deliveryId],
        responses: {
          202: jsonResponse('The delivery, which is on its way.', delivery),
          ...errorResponses(401, 403, 404, 409, 429, 503),
        },
      },
    },
  };
}
