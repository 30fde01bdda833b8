import { z } from 'zod';
import { asOneLine } from '../../lib/redaction/log-line.ts';

const entrySchema = z.object({
  level: z.union([z.number(), z.string()]),
  msg: z.string().optional(),
  err: z.object({ message: z.string() }).optional(),
});

const warning = 40;
const levels: Record<string, number> = { warn: 40, error: 50, fatal: 60 };

/** Parses a line of output as a JSON log entry. Returns null for any other line. */
export function parseLogLine(line: string): { level: number; message: string } | null {
  if (!line.startsWith('{')) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const entry = entrySchema.safeParse(value);
  if (!entry.success) return null;
  const { level, msg = '', err } = entry.data;
  return {
    level: typeof level === 'number' ? level : (levels[level.toLowerCase()] ?? 30),
    message: err === undefined || msg.includes(err.message) ? msg : `${msg}: ${err.message}`,
  };
}

/**
 * Returns what the terminal shows of a child's line: warnings, errors and lines that are not log entries. Returns null
 * to show nothing.
 */
export function shownLine(name: string, line: string): string | null {
  const entry = parseLogLine(line);
  if (entry === null) return line.trim() === '' ? null : `${name}: ${asOneLine(line)}`;
  return entry.level >= warning ? `${name}: ${asOneLine(entry.message)}` : null;
}
