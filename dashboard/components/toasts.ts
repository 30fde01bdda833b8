import { createListeners } from '../widget/listeners.ts';

export interface Toast {
  text: string;
  /** Undoes the action, and returns the message to show then; null if it cannot be undone. */
  undo: (() => Promise<string>) | null;
}

let shown: Toast | null = null;
const listeners = createListeners();

/** Shows a message for some seconds, replacing an earlier one. */
export function showToast(toast: Toast | null): void {
  shown = toast;
  listeners.call();
}

export function shownToast(): Toast | null {
  return shown;
}

export const onToast = listeners.add;
