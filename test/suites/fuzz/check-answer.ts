import { appPaths } from '../../../api/http/files/dashboard.ts';
import { findCanaries } from '../../support/canary-secrets.ts';
import { endingOf } from '../../support/sdk-clients/open-stream.ts';
import type { Description } from './description.ts';
import type { FuzzRequest } from './requests.ts';
import { foreignWord } from './stage.ts';

export interface FuzzAnswer {
  status: number;
  /** The Content-Type. */
  type: string;
  text: string;
  /** Whether it was read to its end. */
  isWhole: boolean;
}

/** Addresses for people, which the description leaves out. */
const pages = /^\/?(?:$|reference|assets\/|metrics|index\.html)/;
const insides =
  /node_modules|\bat (?:\S+ \()?(?:file|node):|\.ts:\d+|postgres(?:ql)?:|\bSQLITE_|ECONN[A-Z]|\/(?:work|tmp|home|root)\/|syntax error at or near|violates [a-z-]+ constraint/i;

/** Returns the problem with an answer, or null. */
export function problemWith(description: Description, request: FuzzRequest, answer: FuzzAnswer): string | null {
  const { status, text } = answer;
  if (status >= 500) return `status ${status}`;
  if (text.includes(foreignWord)) return 'something of another organization is shown';
  if (findCanaries([{ place: 'answer', text }]).length > 0) return 'a secret is shown';
  if (request.method === 'HEAD') return null;
  return status >= 300 ? problemWithRefusal(answer) : problemWithSuccess(description, request, answer);
}

function problemWithRefusal({ type, text }: FuzzAnswer): string | null {
  if (insides.test(text)) return 'an inside is shown';
  if (!type.startsWith('application/json')) return `an error as ${type}`;
  try {
    const body = JSON.parse(text);
    const isExact = Object.keys(body).join() === 'error' && typeof body.error === 'string' && body.error.length > 0;
    return isExact ? null : 'an error of another form';
  } catch {
    return 'an error that is no JSON';
  }
}

function problemWithSuccess(description: Description, request: FuzzRequest, answer: FuzzAnswer): string | null {
  const { method } = request;
  const { status, type, text, isWhole } = answer;
  const [path = ''] = request.path.split('?');
  if (method === 'OPTIONS' || pages.test(path) || appPaths.test(path)) return null;
  const problem = description.problemWith({ method, path, status, type, text });
  if (problem !== null) return problem;
  const isReply = status === 200 && path.includes('/message') && !type.startsWith('application/json');
  return isReply && isWhole && endingOf(text) === 'open' ? 'the stream has no end' : null;
}
