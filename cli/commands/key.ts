import { Option, type Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { roles, type Role } from '../../lib/roles.ts';
import { answerOf, done, everyItem } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { checkChange, collect, readDays, readInteger, readSecretPath, textOf } from './options.ts';
import { printList, printRecord } from './output.ts';

interface RoleOption {
  role?: Role;
}

interface CreateOptions extends RoleOption {
  kind: 'admin' | 'assistant';
  name?: string;
  expires?: number | '';
}

interface RuleOptions {
  allowedOrigin?: string[];
  withoutOrigin?: 'allow' | 'refuse';
  proofOfWork?: 'on' | 'off';
  requestsPerMinute?: number;
  requestsPerDay?: number;
}

interface CaptchaOptions {
  captcha?: 'turnstile' | 'hcaptcha' | 'none';
  captchaSecret?: string;
}

/** Adds `docket key create|list|update|revoke`. */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const group = program.command('key').description('API keys: admin (secret) and assistant (public)');

  addRules(group.command('create').description('create a key; it is shown once'))
    .addOption(new Option('--kind <kind>', 'kind').choices(['admin', 'assistant']).makeOptionMandatory())
    .option('--name <name>', 'name shown in lists')
    .addOption(roleOption())
    .option('--expires <days>', 'such as 90d, or never (default)', readDays)
    .action(async ({ kind, role, name, expires, ...rules }: CreateOptions & RuleOptions, command: Command) => {
      const { api } = await connect(context, command);
      const body = { kind, role, name, expiresInDays: expires === '' ? undefined : expires, ...rulesOf(rules) };
      const { key, ...created } = await answerOf(api.POST('/v1/keys', { body }));
      printRecord(command, { key, ...created });
    });

  group
    .command('list')
    .description('list keys, without their secrets')
    .action(async (_options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const keys = await everyItem(
        (query) => answerOf(api.GET('/v1/keys', { params: { query } })),
        (page) => page.keys,
      );
      printList(command, keys, {
        id: (key) => key.id,
        kind: (key) => key.kind,
        role: (key) => key.role,
        name: (key) => key.name,
        state: stateOf,
        origins: (key) => key.allowedOrigins.join(' '),
        'last used': (key) => key.lastUsedAt,
      });
    });

  addRules(group.command('update').description('change the rules of an assistant key, or the role of an admin key'))
    .argument('<id>', 'the id of the key, 12 characters')
    .addOption(
      new Option('--captcha <provider>', 'CAPTCHA that each reader must solve first').choices([
        'turnstile',
        'hcaptcha',
        'none',
      ]),
    )
    .addOption(roleOption())
    .option('--captcha-secret <file>', 'the secret key of its provider', readSecretPath)
    .action(async (id: string, options: RoleOption & RuleOptions & CaptchaOptions, command: Command) => {
      const body = { ...rulesOf(options), role: options.role, captcha: await captchaOf(options) };
      checkChange(body);
      const { api } = await connect(context, command);
      printRecord(command, await answerOf(api.PATCH('/v1/keys/{id}', { params: { path: { id } }, body })));
    });

  group
    .command('revoke')
    .description('revoke a key; it stops working within 5 seconds')
    .argument('<id>', 'the id of the key, 12 characters')
    .action(async (id: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      await done(api.DELETE('/v1/keys/{id}', { params: { path: { id } } }));
      printRecord(command, { id, revoked: true });
    });
}

function roleOption(): Option {
  return new Option('--role <role>', 'what an admin key may do').choices(roles);
}

function addRules(command: Command): Command {
  return command
    .option('--allowed-origin <origin>', 'website that may use an assistant key (repeatable; "" for all)', collect)
    .addOption(
      new Option('--without-origin <choice>', 'requests from servers and agents, with allowed origins').choices([
        'allow',
        'refuse',
      ]),
    )
    .addOption(
      new Option('--proof-of-work <choice>', 'whether clients of an assistant key must solve a challenge').choices([
        'on',
        'off',
      ]),
    )
    .option('--requests-per-minute <count>', 'limit of an assistant key; 0 for none', readInteger)
    .option('--requests-per-day <count>', 'limit of an assistant key; 0 for none', readInteger);
}

function rulesOf({ allowedOrigin, withoutOrigin, proofOfWork, requestsPerMinute, requestsPerDay }: RuleOptions) {
  return {
    allowedOrigins: allowedOrigin,
    allowsNoOrigin: withoutOrigin === undefined ? undefined : withoutOrigin === 'allow',
    proofOfWork: proofOfWork === undefined ? undefined : proofOfWork === 'on',
    requestsPerMinute: requestsPerMinute === 0 ? null : requestsPerMinute,
    requestsPerDay: requestsPerDay === 0 ? null : requestsPerDay,
  };
}

async function captchaOf({ captcha: provider, captchaSecret: file }: CaptchaOptions) {
  if (provider === 'none') return null;
  if (provider === undefined && file === undefined) return undefined;
  if (provider === undefined || file === undefined)
    throw new CommandError('Use --captcha and --captcha-secret together.', { exitCode: 2 });
  return { provider, secret: (await textOf(file)).trim() };
}

function stateOf({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return Date.parse(expiresAt) > Date.now() ? `until ${expiresAt.slice(0, 10)}` : 'expired';
}
