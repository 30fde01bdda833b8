import { z } from 'zod';

/** Largest instructions and skill, in characters. */
export const maxGuidanceLength = 16 * 1024;
/** Largest number of skills of a project, and of a repository. */
export const maxSkills = { project: 20, repository: 50 };

/** A text that models read. */
function textSchema(maxLength: number) {
  return z
    .string()
    .trim()
    .refine(
      (text) => text !== '' && text.length <= maxLength && !text.includes('\0') && text.isWellFormed(),
      `must have 1 to ${maxLength} characters`,
    );
}

export const instructionsSchema = textSchema(maxGuidanceLength);

export const skillNameSchema = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
    'must have 1 to 64 lower-case letters, digits or hyphens, and begin and end with a letter or digit',
  );

/** When a skill applies. The model reads it in every job of the project. */
export const skillDescriptionSchema = z
  .string()
  .transform((text) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim())
  .refine((text) => text !== '' && text.length <= 1_024 && text.isWellFormed(), 'must have 1 to 1024 characters');

export const skillContentSchema = textSchema(maxGuidanceLength);
