import { createListeners } from '../widget/listeners.ts';

export interface Toast {
  text: string;
  /** Undoes what was done, and returns what to say then; null if there is nothing to undo. */
  undo: (() => Promise<string>) | null;
}

let shown: Toast | null = null;
const listeners = createListeners();

/** Shows a message for some seconds, in place of an earlier one. */
export function showToast(toast: Toast | null): void {
  shown = toast;
  listeners.call();
}

export function shownToast(): Toast | null {
  return shown;
}

export const onToast = listeners.add;
