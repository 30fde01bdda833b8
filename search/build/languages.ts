/** Returns a language in the form that languages are compared in, such as `pt-br`; empty for none. */
export function languageOf(name: string | undefined): string {
  return (name ?? '').trim().toLowerCase().replaceAll('_', '-');
}

/** Returns a language and those that include it: `zh-hant-tw`, `zh-hant` and `zh`. */
export function includingLanguages(name: string): string[] {
  const subtags = languageOf(name).split('-');
  return subtags.map((_, at) => subtags.slice(0, subtags.length - at).join('-'));
}

/** Reports whether one of two languages includes the other, as `en` does `en-us` (basic filtering of RFC 4647). */
export function isSameLanguage(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}-`) || b.startsWith(`${a}-`);
}
