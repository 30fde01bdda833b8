import { useState } from 'react';
import { copyText } from './copy-text.ts';

/** Copies a text to the clipboard and then shows `copied` as its label. */
export function CopyButton({ text, label, copied }: { text: string; label: string; copied: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = (button: Element) =>
    copyText(text, button).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    );
  return (
    <>
      <button
        type="button"
        className="docket-button"
        onClick={({ currentTarget }) => {
          // a button that grows when it loses the focus would move the one that is being pressed from under the pointer
          currentTarget.style.minWidth = `${currentTarget.offsetWidth}px`;
          void copy(currentTarget);
        }}
        onBlur={() => setIsCopied(false)}
      >
        {isCopied ? copied : label}
      </button>
      <span className="docket-hidden" role="status">
        {isCopied ? copied : ''}
      </span>
    </>
  );
}
