// never "yesterday": a time 47 hours ago may not be
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const dayClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const dayOnly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const whole = new Intl.NumberFormat('en');

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Formats a relative time such as "3m ago", by the reader's clock. */
export function ago(date: string, now: number = Date.now()): string {
  const seconds = Math.min(0, Math.round((Date.parse(date) - now) / 1000));
  if (seconds === 0) return 'now';
  const [unit, size] = units.find(([, size]) => -seconds >= size) ?? ['second', 1];
  return relative.format(Math.ceil(seconds / size), unit);
}

export function fullTime(date: string): string {
  return absolute.format(new Date(date));
}

/** Formats a day: "25 Feb 2027". */
export function dayOf(date: string): string {
  return dayOnly.format(new Date(date));
}

/** Formats the time of day: "14:03:05". */
export function clockTime(at: number): string {
  return clock.format(at);
}

/** Formats a time without its year: "23 Nov, 14:03:05". */
export function dayAndTime(at: number): string {
  return dayClock.format(at);
}

/** Formats a duration: "1.2 s", "3 min 04 s", "2 h 10 min". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${String(Math.floor((ms % 60_000) / 1000)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Formats a running duration in whole seconds: "12 s", "3 min 04 s". */
export function seconds(ms: number): string {
  return ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1_000))} s` : duration(ms);
}

export function count(number: number): string {
  return whole.format(number);
}

/** Formats a share; a dash for none. */
export function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)}%`;
}

/** Formats a number of tokens, abbreviated from ten thousand on: "12.3 k". */
export function tokens(number: number): string {
  if (number < 10_000) return whole.format(number);
  if (number < 1_000_000) return `${(number / 1000).toFixed(1)} k`;
  return `${(number / 1_000_000).toFixed(2)} M`;
}

/** Parts of the input of calls, in tokens; null where they were not counted. */
interface InputParts {
  cachedInputTokens: number | null;
  cacheWriteTokens: number | null;
  freshInputTokens: number | null;
}

/**
 * Formats the parts of the input: "10.1 k read from cache, 900 written to cache, 14 uncached". Null when they are unknown,
 * and when no cache was used, as with models that have none.
 */
export function inputParts({ cachedInputTokens, cacheWriteTokens, freshInputTokens }: InputParts): string | null {
  if (cachedInputTokens === null || cacheWriteTokens === null || freshInputTokens === null) return null;
  if (cachedInputTokens + cacheWriteTokens === 0) return null;
  return [
    `${tokens(cachedInputTokens)} read from cache`,
    `${tokens(cacheWriteTokens)} written to cache`,
    `${tokens(freshInputTokens)} uncached`,
  ].join(', ');
}

/** Formats a cost in US dollars. Returns "unknown" when there is no known price. */
export function cost(usd: number | null): string {
  if (usd === null) return 'unknown';
  if (usd === 0) return '$0';
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Returns a repository's short name from its address: owner and name, or the name of a local folder. */
export function repositoryName(repository: string): string {
  const parts = repository
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\.git$/, '')
    .split('/');
  // a folder on this machine has no owner
  return parts.slice(repository.startsWith('file:') ? -1 : -2).join('/');
}
