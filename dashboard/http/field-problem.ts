import { ApiProblem } from './client.ts';

/** The API begins the sentence about a field of the body with its path. */
const sentence = /^(?:The )?([a-z]\w*(?:[.[][\w\]]+)*) (.+)$/s;

/** Returns what the API refused about a field of the body, or about a part of it; null if it refused something else. */
export function fieldProblemOf(error: unknown, name: string): string | null {
  if (!(error instanceof ApiProblem) || error.status !== 400) return null;
  const { message } = error;
  const [, path = '', problem = ''] = sentence.exec(message) ?? [];
  const part = path.slice(name.length);
  if (!path.startsWith(name) || !/^(?:$|[.[])/.test(part)) return null;
  if (part === '' && !message.startsWith('The ')) return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`;
  // a list has an item per line
  const line = /^\[(\d+)\]$/.exec(part)?.[1];
  return line === undefined ? message : `Line ${Number(line) + 1} ${problem}`;
}
