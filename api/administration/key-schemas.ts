import { z } from 'zod';
import { restrictsKey } from '../../db/organizations/keys.ts';
import { roles } from '../../lib/roles.ts';
import { maxPageSize } from '../../db/page.ts';
import { closedBody, closedQuery } from '../http/closed-object.ts';
import { nextCursor, pageQuerySchema } from '../http/page-schemas.ts';
import { nameSchema } from '../../lib/inputs/administration.ts';
import { maxOrigins, originsSchema } from '../../lib/inputs/origin.ts';
import { time, timeOrNull } from '../../lib/time-schemas.ts';

const kind = z.enum(['admin', 'assistant']).meta({ description: 'admin: secret, for servers; assistant: public.' });

const role = z.enum(roles).meta({
  description:
    'What an admin key may do. viewer: read all but keys, webhooks and the audit log; member: also start and steer jobs, merge pull requests, work on gaps and evaluations, and update sites; admin: everything.',
});

const limit = z.int().min(1).max(1_000_000).nullable();

/** Settings that limit requests, besides the limits of organizations and addresses. */
export function requestLimits(subject: string) {
  return {
    requestsPerMinute: limit.meta({ description: `${subject} in any minute; null for no limit of its own.` }),
    requestsPerDay: limit.meta({ description: `${subject} in any 24 hours; null for no limit of its own.` }),
  };
}

const rules = {
  allowedOrigins: originsSchema.meta({
    description:
      'Origins whose pages may use an assistant key, such as https://docs.example.com or https://*.example.com for any one label; empty for all.',
  }),
  allowsNoOrigin: z.boolean().meta({
    description:
      'Whether requests without an Origin header, such as those of servers and agents, may use a key that has allowed origins.',
  }),
  proofOfWork: z.boolean().meta({
    description:
      'Whether clients of an assistant key must solve a challenge first. The widget and @docket/react do so.',
  }),
  ...requestLimits('Requests with an assistant key'),
};

const captchaProvider = z.enum(['turnstile', 'hcaptcha']);
const captcha = z
  .strictObject({
    provider: captchaProvider,
    secret: z.string().min(1).max(500).meta({ description: 'The secret key of the provider; never returned.' }),
  })
  .nullable()
  .meta({ description: 'CAPTCHA that each reader of an assistant key must solve first; null for none.' });

/** Body of `PATCH /v1/keys/{id}`. Omitted fields stay unchanged. A role is for admin keys, all else for assistant keys. */
export const changeKeySchema = closedBody({ ...rules, captcha, role }).partial();

/** Body of `POST /v1/keys`. */
export const createKeySchema = closedBody({
  kind,
  name: nameSchema.optional(),
  role: role.optional(),
  expiresInDays: z.int().min(1).max(9_999).optional().meta({ description: 'Defaults to no expiry.' }),
  ...z.object(rules).partial().shape,
})
  .refine(
    ({ kind, ...rules }) => kind === 'assistant' || !restrictsKey(rules),
    'must not have allowedOrigins, proofOfWork or limits for an admin key, which belongs on servers only',
  )
  .refine(({ kind, role }) => kind === 'admin' || role === undefined, 'must not have a role for an assistant key');

export const keySchema = z.object({
  id: z.string(),
  kind,
  role: role.nullable().meta({ description: 'What an admin key may do; null for an assistant key.' }),
  name: z.string().nullable(),
  createdAt: time,
  expiresAt: timeOrNull,
  revokedAt: timeOrNull,
  lastUsedAt: timeOrNull.meta({ description: 'Accurate to half a minute.' }),
  allowedOrigins: z.array(z.string()).max(maxOrigins),
  allowsNoOrigin: z.boolean(),
  proofOfWork: z.boolean(),
  requestsPerMinute: z.number().int().nullable(),
  requestsPerDay: z.number().int().nullable(),
  captcha: captchaProvider.nullable(),
});
export type PublicKey = z.infer<typeof keySchema>;

export const keyListSchema = z.object({ keys: z.array(keySchema).max(maxPageSize), nextCursor });
export const createdKeySchema = keySchema.extend({ key: z.string().meta({ description: 'Returned only once.' }) });

const filter = z.string().min(1).max(200).optional();

/** Query of `GET /v1/audit`. */
export const auditQuerySchema = closedQuery({
  ...pageQuerySchema.shape,
  action: filter.meta({ description: 'For example job.cancel, or job for all actions on jobs.' }),
  subject: filter.meta({ description: 'The id of the changed resource.' }),
  keyId: filter.meta({ description: 'The id of the API key that was used.' }),
  person: filter.meta({ description: 'Name of the signed-in user.' }),
});

const auditEntrySchema = z.object({
  id: z.string(),
  at: time,
  actor: z.object({
    keyId: z.string().nullable(),
    keyName: z.string().nullable(),
    sessionId: z.string().nullable().meta({ description: 'Set when the change was made in the dashboard.' }),
    person: z.string().nullable().meta({ description: 'Name of the signed-in user, from the sign-in link.' }),
  }),
  action: z.string().meta({ description: 'For example key.create.' }),
  subject: z.string().nullable().meta({ description: 'The id of the changed resource.' }),
  subjectName: z.string().nullable().meta({
    description: "Its name, such as a project's name or a job's title; null when it has none or no longer exists.",
  }),
  details: z.record(z.string(), z.unknown()),
});
export type PublicAuditEntry = z.infer<typeof auditEntrySchema>;

export const auditPageSchema = z.object({ entries: z.array(auditEntrySchema).max(maxPageSize), nextCursor });
