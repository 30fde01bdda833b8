import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { operatorOf, type Caller } from '../../db/caller.ts';
import { createOrganizationDirectory } from '../../db/for-operator/organizations.ts';
import { createOrganizationStore, type OrganizationRow } from '../../db/organizations/organizations.ts';
import { parseRepository, type RepositoryRules } from '../../lib/inputs/repository.ts';
import { nameSchema } from '../../lib/inputs/administration.ts';
import { CommandError } from './context.ts';
import type { CommandContext } from './context.ts';

/** An organization by its id. */
export async function organizationOf({ pool }: CommandContext, id: string): Promise<OrganizationRow> {
  const organization = await createOrganizationStore(pool).get({ organizationId: id });
  if (organization === null) {
    throw new CommandError(`There is no organization ${JSON.stringify(id)}; "docket org list" shows those that exist.`);
  }
  return organization;
}

/** Organizations to list from: the one that is named, or all. */
export async function ownersOf(context: CommandContext, id: string | undefined): Promise<Caller[]> {
  const organizations =
    id === undefined ? await createOrganizationDirectory(context.pool).list() : [await organizationOf(context, id)];
  return organizations.map((organization) => operatorOf({ organizationId: organization.id }));
}

/** The operator, acting for the organization of a project. */
export async function operatorOfProject({ pool }: CommandContext, id: string): Promise<Caller> {
  const owner = await createOrganizationDirectory(pool).ownerOfProject(id);
  if (owner !== null) return operatorOf(owner);
  throw new CommandError(`There is no project ${JSON.stringify(id)}; "docket project list" shows the ids.`);
}

/** A repository of a project that this installation allows. */
export function repositoryOf({ allowedHosts, localRoot }: CommandContext, text: string) {
  return checkedRepository(text, { allowedHosts, localRoot, mayUseSsh: true });
}

/** The same for a site, which has no key for ssh. */
export function siteRepositoryOf({ allowedHosts, localRoot }: CommandContext, text: string) {
  return checkedRepository(text, { allowedHosts, localRoot });
}

function checkedRepository(text: string, rules: RepositoryRules) {
  const parsed = parseRepository(text, rules);
  if (!parsed.ok) throw new CommandError(parsed.problem);
  return parsed;
}

/** A whole number within bounds, for an option. */
export function integerBetween(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
    }
    return value;
  };
}

/** An amount in US dollars such as `2.50`, in millionths of a dollar; `none` is null. */
export function readDollars(text: string): number | null {
  if (text === 'none') return null;
  const micros = /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Math.round(Number(text) * 1e6) : 0;
  if (micros <= 0) throw new InvalidArgumentError('It must be an amount in US dollars such as 2.50, or "none".');
  return micros;
}

/** A value by the rule of the schema, for an option. */
export function readBy<Value>(schema: z.ZodType<Value>): (text: string) => Value {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(`It ${parsed.error.issues[0]?.message ?? 'is not valid'}.`);
  };
}

/** The same, or an empty text as it is: commander has no other word for nothing. */
export function readOrNone<Value>(schema: z.ZodType<Value>): (text: string) => Value | '' {
  const read = readBy(schema);
  return (text) => (text === '' ? '' : read(text));
}

/** A name of up to 200 characters that is not blank. */
export const readName = readBy(nameSchema);

/** A day count such as `30d`, or `never`; answers the date from `now` on. */
export function readExpiry(text: string, now: Date = new Date()): Date | null {
  if (text === 'never') return null;
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  if (days === undefined || Number(days) === 0)
    throw new InvalidArgumentError('It must be a number of days such as 90d, or "never".');
  return new Date(now.getTime() + Number(days) * 86_400_000);
}
