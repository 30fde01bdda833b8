const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const whole = new Intl.NumberFormat('en');

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** "3 min. ago", by the clock of the reader. */
export function ago(date: string, now: number = Date.now()): string {
  const seconds = Math.min(0, Math.round((Date.parse(date) - now) / 1000));
  const [unit, size] = units.find(([, size]) => -seconds >= size) ?? ['second', 1];
  return relative.format(Math.ceil(seconds / size), unit);
}

export function fullTime(date: string): string {
  return absolute.format(new Date(date));
}

/** "1.2 s", "3 min 04 s", "2 h 10 min". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${String(Math.floor((ms % 60_000) / 1000)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

export function count(number: number): string {
  return whole.format(number);
}

/** "12.3 k" from ten thousand on. */
export function tokens(number: number): string {
  if (number < 10_000) return whole.format(number);
  if (number < 1_000_000) return `${(number / 1000).toFixed(1)} k`;
  return `${(number / 1_000_000).toFixed(2)} M`;
}

/** US dollars; what has no known price says so. */
export function cost(usd: number | null): string {
  if (usd === null) return 'unknown';
  if (usd === 0) return '$0';
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** The last part of a repository's address, for people. */
export function repositoryName(repository: string): string {
  const parts = repository
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/');
  // a folder of this machine has no owner
  return parts.slice(repository.startsWith('file:') ? -1 : -2).join('/');
}
