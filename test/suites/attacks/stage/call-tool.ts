import { createToolset } from '../../../../activities/tools/toolset.ts';
import type { Scene } from './scene.ts';

const toolset = createToolset();

/** Calls a tool of the agent in the tree of the scene; returns what the model would read. */
export async function callTool({ tree }: Scene, name: string, input: unknown): Promise<string> {
  const { text } = await toolset[name]!.run(input, { root: tree, signal: AbortSignal.timeout(60_000) });
  return text;
}
