import { z } from 'zod';
import { modelNameSchema } from './administration.ts';

/** Largest number of models that a job may name. */
export const maxModels = 4;

/** The first model, then fallbacks: each is used only while those before it are down. */
export const modelListSchema = z
  .array(modelNameSchema)
  .min(1)
  .max(maxModels)
  .refine((models) => new Set(models).size === models.length, 'must not name a model twice');

/** Efforts that all providers know. */
const reasoningEfforts = ['low', 'medium', 'high'] as const;
export const reasoningEffortSchema = z.enum(reasoningEfforts);
export type ReasoningEffort = z.infer<typeof reasoningEffortSchema>;

/** The lower bound leaves room for a tool call; no hosted model exceeds the upper bound. */
const outputTokens = { minimum: 1_000, maximum: 128_000 };
export const maxOutputTokensSchema = z.number().int().min(outputTokens.minimum).max(outputTokens.maximum);
