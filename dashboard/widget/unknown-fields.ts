/** Returns a field of an unvalidated value; undefined when the value is not an object or has no such field. */
export function valueIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns a field of an unvalidated value if it is a string, else null. */
export function stringIn(value: unknown, name: string): string | null {
  const field = valueIn(value, name);
  return typeof field === 'string' ? field : null;
}

/** Returns the strings of an unvalidated list. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Parses JSON of unknown origin. Returns null when it is malformed. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
