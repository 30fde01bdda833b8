import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { showToast } from './toasts.ts';

/**
 * Copies a text. The clipboard needs https, except on localhost; over http elsewhere, a field that holds the text is copied.
 * Throws when the browser refuses.
 */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  // beside the focused element, because an open dialog takes back the focus from everything outside
  (focused ?? document.body).after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isCopied) throw new Error('The browser did not copy.');
}

/** Returns what copies a text, and whether it has just done so. */
export function useCopy(): { isCopied: boolean; copy(text: string): void } {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return {
    isCopied,
    copy: (text) =>
      void copyText(text).then(
        () => setCopied(true),
        () => showToast({ text: 'The browser did not copy. Select the text to copy it.', undo: null }),
      ),
  };
}

/** Copies a text on a press. `label` says what is copied, such as "job id". */
export function Copy({ text, label }: { text: string; label: string }) {
  const { isCopied, copy } = useCopy();
  return (
    <Button className="copy" aria-label={isCopied ? `Copied ${label}` : `Copy ${label}`} onPress={() => copy(text)}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {isCopied ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M6 5.5h7v8H6zM10 5.5v-3H3v8h3" />}
      </svg>
    </Button>
  );
}
