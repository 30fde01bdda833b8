import { z } from 'zod';
import type { Actor } from '../../db/organizations/actors.ts';

/** The author of a change, from the audit log. */
export const actorSchema = z
  .object({
    name: z.string().nullable().meta({
      description:
        'Name of the person who was signed in, or of the API key, or the id of a key without a name; null for an operator at the command line.',
    }),
    keyId: z.string().nullable().meta({ description: 'The API key; null for an operator at the command line.' }),
  })
  .nullable()
  .meta({ description: 'Null when the audit log does not have it.' });

/** Returns the public form of an actor, field by field. */
export function presentActor(actor: Actor | null): z.infer<typeof actorSchema> {
  return actor && { name: actor.name, keyId: actor.keyId };
}
