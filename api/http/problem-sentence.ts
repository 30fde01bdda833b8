import type { ZodError } from 'zod';

/**
 * The first thing that is wrong with a request, as one sentence for a person. What the client sent is never repeated, but for
 * the name of an unknown field, which goes first: a misspelled field is a missing one, too.
 */
export function problemSentence(error: ZodError): string {
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0];
  if (issue === undefined) return 'The request is invalid.';
  if (issue.code === 'unrecognized_keys') return issue.message;
  const field = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
  return `${field === '' ? 'The body' : field.slice(0, 200)} ${expectationOf(issue)}.`;
}

function expectationOf(issue: ZodError['issues'][number]): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.path.length > 0
        ? `is missing or not ${article(issue.expected)}`
        : `must be ${article(issue.expected)}`;
    case 'too_small':
      return issue.origin === 'number'
        ? `must be at least ${issue.minimum}`
        : `must have at least ${issue.minimum} ${unitOf(issue.origin)}`;
    case 'too_big':
      return issue.origin === 'number'
        ? `must be at most ${issue.maximum}`
        : `must have at most ${issue.maximum} ${unitOf(issue.origin)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return 'has none of the forms it may have';
    case 'custom':
    case 'invalid_format':
      return issue.message.replace(/\.$/, '');
    default:
      return 'is invalid';
  }
}

function unitOf(origin: string): string {
  return origin === 'string' ? 'characters' : 'items';
}

function article(expected: string): string {
  if (expected === 'int') return 'a whole number';
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}
