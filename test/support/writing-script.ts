import type { ScriptedReply } from './servers/scripted-model-wire.ts';

/** The model writes new.txt, then finishes. */
export const writing = writingOf('new\n');

/** The model writes this content to new.txt, then finishes. */
export function writingOf(content: string): ScriptedReply[] {
  return [
    { toolCalls: [{ name: 'write', input: { path: 'new.txt', content } }] },
    { toolCalls: [{ name: 'finish', input: { title: 'Add a file', summary: 'Added new.txt.' } }] },
  ];
}
