import type { z } from 'zod';
import type { ImageRef } from '../../db/jobs/job-images.ts';
import { similarPaths } from './files/similar-paths.ts';
import { MissingPath, ToolProblem } from './tool-problem.ts';
import { cappedOutput } from './tool-output.ts';
import type { AgentTool, ToolContext } from './agent-tool.ts';

export interface ToolDefinition<Schema extends z.ZodType> {
  description: string;
  inputSchema: Schema;
  isReadOnly: boolean;
  /** Returns the output for the model. A ToolProblem becomes an output too; every other error ends the batch. */
  run(input: z.output<Schema>, context: ToolContext): Promise<string | { text: string; image: ImageRef }>;
}

export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): AgentTool {
  const { description, inputSchema, isReadOnly } = definition;
  return {
    description,
    inputSchema,
    isReadOnly,
    async run(input, context) {
      const { maskSecrets } = context;
      const parsed = inputSchema.safeParse(input);
      if (!parsed.success) return { text: cappedOutput(inputProblem(parsed.error)), isError: true };
      try {
        context.signal.throwIfAborted();
        const output = await definition.run(parsed.data, context);
        const { text, ...shown } = typeof output === 'string' ? { text: output } : output;
        return { text: cappedOutput(text, maskSecrets), isError: false, ...shown };
      } catch (error) {
        if (!(error instanceof ToolProblem)) throw error;
        const more = error instanceof MissingPath ? ` ${await similarPaths(context, error.shown)}` : '';
        return { text: cappedOutput(error.message + more, maskSecrets), isError: true };
      }
    },
  };
}

/** Returns the problems of an input, one sentence each. */
export function inputProblem(error: z.ZodError): string {
  const parts = error.issues.slice(0, 5).map(({ path, message }) => {
    return path.length === 0 ? message : `${path.join('.')}: ${message}`;
  });
  return `The input is invalid: ${parts.join('; ')}.`;
}
