import type { Command } from 'commander';
import type { paths } from '../../dashboard/http/schema.d.ts';
import { answerOf, done } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { collect, readInteger } from './options.ts';
import { printList, printRecord } from './output.ts';
import { projectIdOf } from './project-of.ts';

type Endpoints = paths['/v2/agent/{projectId}/webhooks'];
type EventTypes = NonNullable<Endpoints['post']['requestBody']['content']['application/json']['eventTypes']>;
type Webhook = Endpoints['get']['responses'][200]['content']['application/json']['webhooks'][number];

interface OfProject {
  project?: string;
}

/** Adds `docket webhook create|list|enable|delete|ping|deliveries|redeliver`. */
export function addWebhookCommands(program: Command, context: CommandContext): void {
  const group = program.command('webhook').description("webhooks: HTTP callbacks for events of a project's jobs");

  /** Connects and finds the project that the command names. */
  async function open(command: Command) {
    const { api } = await connect(context, command);
    const named = command.opts<OfProject>().project ?? context.env['DOCKET_PROJECT'];
    return { api, projectId: await projectIdOf(api, named) };
  }

  ofProject(group.command('create').description('create a webhook; its secret is shown once'))
    .argument('<url>', 'URL that messages are sent to')
    .option('--slack', 'the URL is that of a Slack incoming webhook; it is a secret, and not shown again')
    .option('--description <text>', 'description')
    .option('--event <type>', 'event type to send, such as job.completed (repeatable; default: all)', collect)
    .action(async (url: string, { slack, description, event }: CreateOptions, command: Command) => {
      const { api, projectId } = await open(command);
      const format = slack === true ? ('slack' as const) : ('standard' as const);
      const body = { format, url, description, eventTypes: event };
      const { secret, ...webhook } = await answerOf(
        api.POST('/v2/agent/{projectId}/webhooks', { params: { path: { projectId } }, body }),
      );
      printRecord(command, { secret, ...webhook });
    });

  ofProject(group.command('list').description('list the webhooks of a project, without their secrets')).action(
    async (_options: unknown, command: Command) => {
      const { api, projectId } = await open(command);
      const { webhooks } = await answerOf(
        api.GET('/v2/agent/{projectId}/webhooks', { params: { path: { projectId } } }),
      );
      printList(command, webhooks, {
        id: (webhook) => webhook.id,
        url: (webhook) => webhook.url,
        events: (webhook) => webhook.eventTypes.join(', ') || 'all',
        state: stateOf,
        format: (webhook) => webhook.format,
        description: (webhook) => webhook.description,
      });
    },
  );

  onWebhook(group.command('enable').description('enable a disabled webhook and reset its failures')).action(
    async (id: string, _options: unknown, command: Command) => {
      const { api, projectId } = await open(command);
      const body = { enabled: true };
      const call = api.PATCH('/v2/agent/{projectId}/webhooks/{id}', { params: { path: { projectId, id } }, body });
      printRecord(command, await answerOf(call));
    },
  );

  onWebhook(group.command('delete').description('delete a webhook and its pending deliveries')).action(
    async (id: string, _options: unknown, command: Command) => {
      const { api, projectId } = await open(command);
      await done(api.DELETE('/v2/agent/{projectId}/webhooks/{id}', { params: { path: { projectId, id } } }));
      printRecord(command, { id, deleted: true });
    },
  );

  onWebhook(group.command('ping').description('send a webhook.ping message')).action(
    async (id: string, _options: unknown, command: Command) => {
      const { api, projectId } = await open(command);
      const path = { projectId, id };
      const delivery = await answerOf(api.POST('/v2/agent/{projectId}/webhooks/{id}/ping', { params: { path } }));
      printRecord(command, { id, delivery: delivery.id });
    },
  );

  onWebhook(group.command('deliveries').description('list the deliveries of the last 30 days, newest first'))
    .option('--limit <number>', 'how many', readInteger, 20)
    .action(async (id: string, { limit }: { limit: number }, command: Command) => {
      const { api, projectId } = await open(command);
      const params = { path: { projectId, id }, query: { limit } };
      const { deliveries } = await answerOf(api.GET('/v2/agent/{projectId}/webhooks/{id}/deliveries', { params }));
      printList(command, deliveries, {
        id: (delivery) => delivery.id,
        type: (delivery) => delivery.type,
        job: (delivery) => delivery.jobId,
        status: (delivery) => delivery.status,
        attempts: (delivery) => delivery.attempts.length,
        answer: (delivery) => delivery.attempts[0]?.statusCode,
        created: (delivery) => delivery.createdAt,
        'next attempt': (delivery) => delivery.nextAttemptAt,
        error: (delivery) => delivery.error ?? delivery.attempts[0]?.error,
      });
    });

  onWebhook(group.command('redeliver').description('send a message again'))
    .argument('<delivery>', 'the delivery, as "docket webhook deliveries" shows it')
    .action(async (id: string, deliveryId: string, _options: unknown, command: Command) => {
      const { api, projectId } = await open(command);
      const path = { projectId, id, deliveryId };
      const { status } = await answerOf(
        api.POST('/v2/agent/{projectId}/webhooks/{id}/deliveries/{deliveryId}/redeliver', { params: { path } }),
      );
      printRecord(command, { id: deliveryId, status });
    });
}

interface CreateOptions {
  slack?: boolean;
  description?: string;
  event?: EventTypes;
}

function ofProject(command: Command): Command {
  return command.option('--project <id>', 'the project (default: DOCKET_PROJECT, or the only project)');
}

function onWebhook(command: Command): Command {
  return ofProject(command.argument('<id>', 'the webhook'));
}

function stateOf({ enabled, disabledReason, failingSince }: Webhook): string {
  if (!enabled) return `disabled${disabledReason === null ? '' : `: ${disabledReason}`}`;
  return failingSince === null ? 'enabled' : `failing since ${failingSince}`;
}
