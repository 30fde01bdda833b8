import { z } from 'zod';
import { pinnedToolSchema } from '../mcp/pinned-tools.ts';

/** The instructions and tools for a job's agent, as they were when a turn began. */
export type Instructions = z.infer<typeof instructionsSchema>;

const ofRepository = {
  /** The repository's guidance in its root; null when there is none. */
  text: z.string().nullable(),
  /** The file that has it. */
  file: z.string().default('AGENTS.md'),
  /** Paths of the guidance in folders. */
  folders: z.array(z.string()).default([]),
  /** The commit that the files are read from. */
  commit: z.string().nullable().default(null),
};
const skillSchema = z.object({
  name: z.string(),
  description: z.string(),
  /** Path of the skill's file in the repository; null for a skill of the project. */
  path: z.string().nullable(),
});
const instructionsSchema = z.object({
  ...ofRepository,
  /** The project's own instructions. */
  project: z.string().nullable().default(null),
  skills: z.array(skillSchema).default([]),
  /** The tools of MCP servers. */
  tools: z.array(pinnedToolSchema).default([]),
  /** Hosts of the web pages that can be fetched. */
  fetchHosts: z.array(z.string()).default([]),
  /** Version of the service's own rules: a turn keeps those that it began with, which are in the provider's cache. */
  rules: z.number().default(1),
});

/** The instructions of a job without any. */
export const noInstructions: Instructions = instructionsSchema.parse({ text: null });

/** Reports whether a turn's instructions are stored. */
export function hasInstructions(result: unknown): boolean {
  return instructionsSchema.safeParse(result).success;
}

/** Returns the instructions that `storeInstructions` stored. */
export function instructionsOf(result: unknown): Instructions {
  return instructionsSchema.safeParse(result).data ?? noInstructions;
}
