import { z } from 'zod';
import { mostChoices } from '../../db/page.ts';
import { nameSchema } from '../../lib/inputs/administration.ts';
import { closedBody } from '../http/closed-object.ts';

/** Body of `POST /v1/session`, with exactly one of the two fields. */
export const signInSchema = closedBody({
  key: z.string().max(200).optional().meta({ description: 'An admin API key.' }),
  link: z.string().max(200).optional().meta({ description: 'The text of a sign-in link, which works once.' }),
}).refine(({ key, link }) => (key === undefined) !== (link === undefined), 'must hold either key or link');

/** Body of `POST /v1/sign-in-links`. */
export const createSignInLinkSchema = closedBody({
  name: nameSchema.optional().meta({ description: 'Who signs in with it, for the audit log.' }),
});

export const signInLinkSchema = z.object({
  link: z.string().meta({ description: 'Shown this once; the dashboard takes it at /sign-in#link=…' }),
});

export const sessionSchema = z.object({
  organization: z.object({ id: z.string(), name: z.string() }),
  expiresAt: z.string().meta({ format: 'date-time' }),
  projects: z
    .array(z.object({ id: z.string(), name: z.string(), repository: z.string(), model: z.string().nullable() }))
    .max(mostChoices),
  sites: z.array(z.object({ domain: z.string() })).max(mostChoices),
  defaults: z.object({ agentModel: z.string(), assistantModel: z.string() }),
  temporalUiUrl: z.string().nullable().meta({
    description:
      "Address of Temporal's web interface; null where none is known, or where the machines of the service are not shown.",
  }),
  temporalNamespace: z.string().nullable().meta({
    description: 'The namespace of the jobs in Temporal; null where the address of its web interface is null.',
  }),
});
export type PublicSession = z.infer<typeof sessionSchema>;
