import type { ScriptedToolCall } from '../../../support/servers/scripted-model-server.ts';
import type { Random } from './random.ts';

export interface PlannedBatch {
  calls: ScriptedToolCall[];
  reads: { id: string; holds: string }[];
}

/** The final tree of a job, built call by call next to the calls that produce it. */
export interface PlannedTree {
  /** One or two calls that change different files, and one that reads a third. */
  change(step: number): PlannedBatch;
  /** Calls that change nothing. */
  look(step: number): PlannedBatch;
  files(): Map<string, string>;
}

interface Place {
  path: string;
  /** Names the content written here. */
  token: string;
  id: string;
}

/**
 * Most changes cannot be made twice: an edit whose text is gone, a file that was moved or deleted. A batch that ran on
 * another tree than it should answers with an error.
 */
export function createPlannedTree({
  files: begin,
  name,
  random,
}: {
  files: ReadonlyMap<string, string>;
  name: string;
  random: Random;
}): PlannedTree {
  const files = new Map(begin);

  function edit({ path, token, id }: Place): ScriptedToolCall {
    const [line = ''] = linesOf(path);
    return { name: 'edit', id, input: { path, ...replace(path, line, token) } };
  }

  function editTwice({ path, token, id }: Place): ScriptedToolCall {
    const [first = '', second = ''] = linesOf(path);
    const edits = [replace(path, first, `${token} (1)`), replace(path, second, `${token} (2)`)];
    return { name: 'multi_edit', id, input: { path, edits } };
  }

  function write({ token, id }: Place): ScriptedToolCall {
    const path = `made/${id}.txt`;
    const content = `${token}\nIt costs $& and $1.\n`;
    files.set(path, content);
    return { name: 'write', id, input: { path, content } };
  }

  function move({ path, id }: Place): ScriptedToolCall {
    const to = `moved/${id}.md`;
    files.set(to, files.get(path)!);
    files.delete(path);
    return { name: 'move', id, input: { from: path, to } };
  }

  function remove({ path, id }: Place): ScriptedToolCall {
    files.delete(path);
    return { name: 'delete', id, input: { path } };
  }

  /** Lines that occur once in the file, in any order. */
  function linesOf(path: string): string[] {
    const lines = files.get(path)!.split('\n');
    return random.shuffled(lines.filter((line) => line.startsWith('Line ')));
  }

  function replace(path: string, line: string, token: string) {
    const text = `${token}: ${line}`;
    files.set(
      path,
      files.get(path)!.replace(line, () => text),
    );
    return { old: `${line}\n`, new: `${text}\n` };
  }

  function read(path: string, id: string): PlannedBatch {
    const last = files.get(path)!.trimEnd().split('\n').at(-1)!;
    return { calls: [{ name: 'read', id, input: { path } }], reads: [{ id, holds: last }] };
  }

  return {
    change(step) {
      const [first = '', second = '', third = ''] = random.shuffled([...files.keys()].filter(isNote));
      const id = `${name}-step-${step}`;
      const looked = read(third, `${id}-read`);
      const changes = random.shuffled([edit, editTwice, write, move, remove]).slice(0, random.between(1, 2));
      const calls = changes.map((change, index) => {
        const own = `${id}-${index}`;
        return change({ path: index === 0 ? first : second, token: `Changed by ${own}`, id: own });
      });
      return { calls: [...looked.calls, ...calls], reads: looked.reads };
    },
    look(step) {
      return read(random.pick([...files.keys()].filter(isNote)), `${name}-step-${step}`);
    },
    files: () => new Map(files),
  };
}

/** Notes, including moved ones. There are more of them, and more lines in each, than a job can use up. */
function isNote(path: string): boolean {
  return path.endsWith('.md');
}
