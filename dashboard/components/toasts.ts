export interface Toast {
  text: string;
  /** Undoes what was done, and returns what to say then; null if there is nothing to undo. */
  undo: (() => Promise<string>) | null;
}

let shown: Toast | null = null;
const listeners = new Set<() => void>();

/** Shows a message for some seconds, in place of an earlier one. */
export function showToast(toast: Toast | null): void {
  shown = toast;
  for (const listener of listeners) listener();
}

export function shownToast(): Toast | null {
  return shown;
}

export function onToast(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
