const maxSelectionLength = 4_000;

/** Returns the text that is selected on the page, null for none. Text of a chat on the page does not count. */
export function selectedText(): string | null {
  const selection = document.getSelection();
  const text = selection?.toString().trim().slice(0, maxSelectionLength) ?? '';
  const isOfChat = selection?.anchorNode?.parentElement?.closest('.docket-chat') ?? null;
  return text === '' || isOfChat !== null ? null : text;
}
