import type { Command } from 'commander';
import { createWebhookDeliveryStore } from '../../db/webhooks/webhook-deliveries.ts';
import type { Caller } from '../../db/caller.ts';
import {
  createWebhookStore,
  mostWebhooks,
  type WebhookRow,
  type WebhookStore,
} from '../../db/webhooks/webhook-endpoints.ts';
import { createSecretBox } from '../../lib/encryption/secret-box.ts';
import { parseWebhookAddress } from '../../lib/inputs/webhook-address.ts';
import { webhookEventTypes } from '../../workflows/contract/webhook.ts';
import { integerBetween, operatorOfProject } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext, WithContext } from './context.ts';
import { printList, printRecord } from './output.ts';

interface OfProject {
  project: string;
}

const projectOption = ['--project <id>', 'the project it belongs to'] as const;

/** `docket webhook create|list|enable|delete|ping|deliveries|redeliver` */
export function addWebhookCommands(program: Command, withContext: WithContext): void {
  const group = program.command('webhook').description("webhooks: HTTP callbacks for events of a project's jobs");
  addEndpointCommands(group, withContext);
  addDeliveryCommands(group, withContext);
}

function addEndpointCommands(group: Command, withContext: WithContext): void {
  group
    .command('create')
    .description('create a webhook; its secret is shown once')
    .requiredOption(...projectOption)
    .requiredOption('--url <url>', 'where messages are posted to')
    .option('--description <text>', 'description')
    .option(
      '--event <type>',
      `what is sent (repeatable); without it everything: ${webhookEventTypes.join(', ')}`,
      collect,
      [],
    )
    .action((options: OfProject & { url: string; description?: string; event: string[] }, command: Command) =>
      withContext(async (context) => {
        const operator = await operatorOfProject(context, options.project);
        const parsed = parseWebhookAddress(options.url, context.webhookAllowedHosts);
        if (!parsed.ok) throw new CommandError(parsed.problem);
        const created = await storeOf(context).create(operator, options.project, {
          url: parsed.url,
          description: options.description ?? null,
          eventTypes: options.event.map(readEventType),
        });
        if (created === 'no-project') throw new CommandError('The project was deleted meanwhile.');
        if (created === 'too-many') {
          throw new CommandError(`A project has at most ${mostWebhooks} webhooks; delete one first.`);
        }
        printRecord(command, { secret: created.secret, ...created.webhook });
      }),
    );

  group
    .command('list')
    .description('list the webhooks of a project, without their secrets')
    .requiredOption(...projectOption)
    .action((options: OfProject, command: Command) =>
      withContext(async (context) => {
        const operator = await operatorOfProject(context, options.project);
        printList(command, await storeOf(context).list(operator, options.project), {
          id: (row) => row.id,
          url: (row) => row.url,
          events: (row) => row.eventTypes.join(', ') || 'all',
          state: stateOf,
          description: (row) => row.description,
        });
      }),
    );

  group
    .command('enable')
    .description('enable a disabled webhook and reset its failures')
    .argument('<id>', 'the webhook')
    .requiredOption(...projectOption)
    .action((id: string, options: OfProject, command: Command) =>
      withContext(async (context) => {
        const { operator, webhook } = await webhookOf(context, options.project, id);
        printRecord(command, { ...(await storeOf(context).update(operator, webhook, { enabled: true })) });
      }),
    );

  group
    .command('delete')
    .description('delete a webhook and its pending deliveries')
    .argument('<id>', 'the webhook')
    .requiredOption(...projectOption)
    .action((id: string, options: OfProject, command: Command) =>
      withContext(async (context) => {
        const { operator, webhook } = await webhookOf(context, options.project, id);
        await storeOf(context).remove(operator, webhook);
        printRecord(command, { id, deleted: true });
      }),
    );
}

function addDeliveryCommands(group: Command, withContext: WithContext): void {
  group
    .command('ping')
    .description('send a webhook.ping message')
    .argument('<id>', 'the webhook')
    .requiredOption(...projectOption)
    .action((id: string, options: OfProject, command: Command) =>
      withContext(async (context) => {
        const { operator, webhook } = await enabledWebhook(context, options.project, id);
        const delivery = await storeOf(context).ping(operator, webhook);
        printRecord(command, { id, delivery });
      }),
    );

  group
    .command('deliveries')
    .description('list the deliveries of the last 30 days, newest first')
    .argument('<id>', 'the webhook')
    .requiredOption(...projectOption)
    .option('--limit <number>', 'how many', integerBetween(1, 100), 20)
    .action((id: string, options: OfProject & { limit: number }, command: Command) =>
      withContext(async (context) => {
        const { operator, webhook } = await webhookOf(context, options.project, id);
        const { limit } = options;
        const page = await createWebhookDeliveryStore(context.pool).list(operator, webhook, { limit });
        printList(command, page.deliveries, {
          id: (row) => row.id,
          type: (row) => row.type,
          job: (row) => row.jobId,
          status: (row) => row.status,
          attempts: (row) => row.attempts.length,
          answer: (row) => row.attempts[0]?.statusCode,
          created: (row) => row.createdAt,
          'next attempt': (row) => row.nextAttemptAt,
          error: (row) => row.error ?? row.attempts[0]?.error,
        });
      }),
    );

  group
    .command('redeliver')
    .description('send a message again')
    .argument('<id>', 'the webhook')
    .argument('<delivery>', 'the delivery, as "docket webhook deliveries" shows it')
    .requiredOption(...projectOption)
    .action((id: string, delivery: string, options: OfProject, command: Command) =>
      withContext(async (context) => {
        const { operator, webhook } = await enabledWebhook(context, options.project, id);
        if (!(await createWebhookDeliveryStore(context.pool).redeliver(operator, webhook, delivery))) {
          throw new CommandError(`There is no delivery ${JSON.stringify(delivery)} to this webhook.`);
        }
        printRecord(command, { id: delivery, status: 'pending' });
      }),
    );
}

function storeOf({ pool, encryptionKeys }: CommandContext): WebhookStore {
  return createWebhookStore(pool, createSecretBox(encryptionKeys));
}

/** A webhook, and the operator acting for its organization. */
interface FoundWebhook {
  operator: Caller;
  webhook: WebhookRow;
}

async function webhookOf(context: CommandContext, projectId: string, id: string): Promise<FoundWebhook> {
  const operator = await operatorOfProject(context, projectId);
  const webhook = await storeOf(context).find(operator, { projectId, id });
  if (webhook === null) throw noWebhook(id);
  return { operator, webhook };
}

async function enabledWebhook(context: CommandContext, projectId: string, id: string): Promise<FoundWebhook> {
  const found = await webhookOf(context, projectId, id);
  if (!found.webhook.enabled) throw new CommandError('The webhook is disabled; run "docket webhook enable" first.');
  return found;
}

function noWebhook(id: string): CommandError {
  return new CommandError(
    `There is no webhook ${JSON.stringify(id)} in this project; "docket webhook list" shows them.`,
  );
}

function readEventType(text: string): string {
  if (webhookEventTypes.some((type) => type === text)) return text;
  throw new CommandError(`--event must be one of ${webhookEventTypes.join(', ')}.`);
}

function collect(text: string, before: string[]): string[] {
  return [...before, text];
}

function stateOf({ enabled, disabledReason, failingSince }: WebhookRow): string {
  if (!enabled) return `disabled${disabledReason === null ? '' : `: ${disabledReason}`}`;
  return failingSince === null ? 'enabled' : `failing since ${failingSince.toISOString()}`;
}
