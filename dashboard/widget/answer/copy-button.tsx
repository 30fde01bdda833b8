import { useState } from 'react';

/** Copies a text. It is absent where the browser has no clipboard, which needs https. */
export function CopyButton({ text, label, copied }: { text: string; label: string; copied: string }) {
  const [isCopied, setIsCopied] = useState(false);
  if (!('clipboard' in navigator)) return null;
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    );
  return (
    <>
      <button type="button" className="docket-button" onClick={() => void copy()} onBlur={() => setIsCopied(false)}>
        {isCopied ? copied : label}
      </button>
      <span className="docket-hidden" role="status">
        {isCopied ? copied : ''}
      </span>
    </>
  );
}
