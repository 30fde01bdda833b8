/**
 * Copies a text. The clipboard needs https, except on localhost; over http elsewhere, a field that holds the text is
 * copied. Rejects when the browser refuses.
 */
export async function copyText(text: string, focused: Element): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  // a security policy may refuse a style attribute, but not this
  field.style.position = 'fixed';
  field.style.opacity = '0';
  // beside the focused element, because an open dialog takes back the focus from everything outside
  focused.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isCopied) throw new Error('The browser did not copy.');
}
