import { z } from 'zod';
import { mostOfPage } from '../../db/page.ts';
import { closedBody } from '../http/closed-object.ts';
import { nextCursor } from '../http/page-schemas.ts';
import { nameSchema } from '../../lib/inputs/administration.ts';

const kind = z.enum(['admin', 'assistant']).meta({ description: 'admin: secret, for servers; assistant: public.' });

/** Body of `POST /v1/keys`. */
export const createKeySchema = closedBody({
  kind,
  name: nameSchema.optional(),
  expiresInDays: z.int().min(1).max(9_999).optional().meta({ description: 'Without it the key does not expire.' }),
});

const time = z.string().meta({ format: 'date-time' });
const timeOrNull = z.string().nullable().meta({ format: 'date-time' });

export const keySchema = z.object({
  id: z.string(),
  kind,
  name: z.string().nullable(),
  createdAt: time,
  expiresAt: timeOrNull,
  revokedAt: timeOrNull,
  lastUsedAt: timeOrNull.meta({ description: 'To within half a minute.' }),
});
export type PublicKey = z.infer<typeof keySchema>;

export const keyListSchema = z.object({ keys: z.array(keySchema).max(mostOfPage), nextCursor });
export const createdKeySchema = keySchema.extend({ key: z.string().meta({ description: 'Shown this once.' }) });

export const auditEntrySchema = z.object({
  id: z.string(),
  at: time,
  actor: z.object({
    keyId: z.string().nullable(),
    sessionId: z.string().nullable().meta({ description: 'When it was done in the dashboard.' }),
    person: z.string().nullable().meta({ description: 'Who had signed in, as their sign-in link named them.' }),
  }),
  action: z.string().meta({ description: 'Such as key.create.' }),
  subject: z.string().nullable().meta({ description: 'The id of what it was done to.' }),
  details: z.record(z.string(), z.unknown()),
});
export type PublicAuditEntry = z.infer<typeof auditEntrySchema>;

export const auditPageSchema = z.object({ entries: z.array(auditEntrySchema).max(mostOfPage), nextCursor });
