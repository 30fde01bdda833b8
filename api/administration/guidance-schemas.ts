import { z } from 'zod';
import {
  instructionsSchema,
  maxSkills,
  skillContentSchema,
  skillDescriptionSchema,
  skillNameSchema,
} from '../../lib/inputs/guidance.ts';
import { closedBody } from '../http/closed-object.ts';

const skillSchema = closedBody({
  name: skillNameSchema,
  description: skillDescriptionSchema.meta({ description: 'When the skill applies. Agents read it in every job.' }),
  content: skillContentSchema.meta({ description: 'Markdown that an agent loads when the skill applies.' }),
});

/** Body of `PATCH /v1/projects/{id}/guidance`. Omitted fields stay unchanged. */
export const changeGuidanceSchema = closedBody({
  instructions: instructionsSchema.nullable().meta({ description: 'Part of the prompt of every job; null for none.' }),
  skills: z
    .array(skillSchema)
    .max(maxSkills.project)
    .refine((skills) => new Set(skills.map(({ name }) => name)).size === skills.length, 'must have different names'),
}).partial();

export const guidanceSchema = z.object({
  instructions: z.string().nullable(),
  skills: z.array(z.object({ name: z.string(), description: z.string(), content: z.string() })).max(maxSkills.project),
});
