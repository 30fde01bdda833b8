/** Returns the named fields of an address that have a text. One that looks like a number is read as such by the router. */
export function searchTexts(search: Record<string, unknown>, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
      return text === '' ? [] : [[name, text]];
    }),
  );
}
