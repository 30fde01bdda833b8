import type { Command } from 'commander';
import { archiveJobsScheduleId, refreshSiteScheduleId } from '../../workflows/contract/messages.ts';
import { CommandError } from '../command-error.ts';
import { printList } from '../commands/output.ts';
import type { OperatorContext, WithOperator } from './context.ts';

interface KeyState {
  id: string;
  /** Number of stored secrets. */
  values: number;
  /** Null when Temporal did not respond. */
  schedules: number | null;
  openExecutions: number | null;
  state: string;
}

/** Adds `docket encryption rotate`. */
export function addEncryptionCommands(program: Command, withOperator: WithOperator): void {
  const group = program.command('encryption').description('encryption keys of stored secrets and payloads');

  group
    .command('rotate')
    .description(
      're-encrypt all stored secrets and schedules with the first key, and report which keys are still needed',
    )
    .action((_options: unknown, command: Command) =>
      withOperator(async (context) =>
        printList(command, await rotate(context), {
          key: (row) => row.id,
          secrets: (row) => row.values,
          schedules: (row) => row.schedules,
          'open executions': (row) => row.openExecutions,
          state: (row) => row.state,
        }),
      ),
    );
}

async function rotate({ stores, encryptionKeys, temporal }: OperatorContext): Promise<KeyState[]> {
  const [first] = encryptionKeys;
  if (first === undefined) {
    throw new CommandError('DOCKET_ENCRYPTION_KEYS is not set, so there is no key to encrypt with.');
  }
  const { sealedValues } = stores;
  const unopened = await sealedValues.countUnopened();
  const lost = unopened.get(first.id) ?? 0;
  if (lost > 0) {
    throw new CommandError(
      `The value of the key "${first.id}" in DOCKET_ENCRYPTION_KEYS does not decrypt ${lost} stored secrets, which an earlier value of ` +
        'the key encrypted. Nothing was changed. Restore the earlier value, or give the new value another id.',
    );
  }
  const resealed = await sealedValues.reseal();
  const sites = await stores.sites.listAll();
  const scheduleIds = [archiveJobsScheduleId, ...sites.map(({ id }) => refreshSiteScheduleId(id))];
  // the Temporal client is heavier than everything that other commands load
  const { resealTemporal } = await import('../../local/temporal/temporal-keys.ts');
  const temporalKeys = await resealTemporal({ temporal, encryptionKeys, scheduleIds });
  // counted last: an execution that ends in the meantime is counted here if it was not counted there
  const waiting = await sealedValues.countWaitingHistories();
  console.error(`Re-encrypted: ${resealed} secrets, ${temporalKeys?.resealedSchedules ?? 0} schedules.`);
  if (temporalKeys === null)
    console.error('Temporal does not respond, so the keys that it needs are unknown. Run this again.');

  const counts = await sealedValues.count();
  const configured = encryptionKeys.map(({ id }) => id);
  const seen = counts.flatMap(({ keyId }) => keyId ?? []);
  const ids = new Set([
    ...configured,
    ...seen,
    ...(temporalKeys?.schedules.keys() ?? []),
    ...(temporalKeys?.openExecutions.keys() ?? []),
  ]);
  return [...ids].map((id) => {
    const values = counts.filter(({ keyId }) => keyId === id).reduce((sum, one) => sum + one.values, 0);
    const schedules = temporalKeys === null ? null : (temporalKeys.schedules.get(id) ?? 0);
    const openExecutions = temporalKeys === null ? null : (temporalKeys.openExecutions.get(id) ?? 0);
    const isUsed = values > 0 || schedules !== 0 || openExecutions !== 0;
    return { id, values, schedules, openExecutions, state: stateOf() };

    function stateOf(): string {
      if (id === first?.id) return 'encrypts';
      if (!configured.includes(id)) return 'needed and missing: add it to DOCKET_ENCRYPTION_KEYS';
      if (unopened.has(id)) return 'needed with an earlier value: its current one does not decrypt these secrets';
      if (isUsed) return 'needed';
      if (waiting > 0) return `needed until ${waiting} histories of ended turns are stored`;
      return 'can be removed, once every process has the new list';
    }
  });
}
