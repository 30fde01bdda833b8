import { randomText } from './random-text.ts';

export type IdPrefix =
  | 'org_'
  | 'prj_'
  | 'job_'
  | 'pr_'
  | 'site_'
  | 'thr_'
  | 'msg_'
  | 'rpl_'
  | 'whk_'
  | 'dlv_'
  | 'ses_'
  | 'aud_'
  | 'gap_'
  | 'lay_'
  | 'sec_'
  | 'set_'
  | 'eval_';

const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
const timeLength = 9;
const randomLength = 15;

/** Returns a new id: the prefix, the time in milliseconds (ids sort by age), and 77 random bits (unguessable). */
export function newId(prefix: IdPrefix): string {
  return prefix + Date.now().toString(36).padStart(timeLength, '0') + randomText(digits, randomLength);
}

/** Reports whether a text from outside can be the id of a row. If not, the row is unknown without a query. */
export function canBeId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

/** Reports whether a text has the form of an id that `newId` makes. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(prefix) && /^[0-9a-z]{24}$/.test(text.slice(prefix.length));
}
