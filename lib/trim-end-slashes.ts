/** Returns a text without the slashes at its end. */
export function trimEndSlashes(text: string): string {
  // without the look-behind, a text of slashes that ends otherwise would take quadratic time
  return text.replace(/(?<!\/)\/+$/, '');
}
