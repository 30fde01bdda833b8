import { selectedText } from './selected-text.ts';

/** State of the widget's dialog, which the button, the hotkey and the page's scripts share. */
export interface Panel {
  state(): PanelState;
  subscribe(listener: () => void): () => void;
  open(): void;
  close(): void;
  forgetSelection(): void;
}

interface PanelState {
  isOpen: boolean;
  /** Text that was selected on the page when the dialog was opened. */
  selection: string | null;
}

export function createPanel(): Panel {
  let state: PanelState = { isOpen: false, selection: null };
  const listeners = new Set<() => void>();
  const change = (changed: Partial<PanelState>) => {
    state = { ...state, ...changed };
    for (const listener of listeners) listener();
  };
  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    open() {
      if (state.isOpen) return;
      change({ isOpen: true, selection: selectedText() });
    },
    close: () => change({ isOpen: false }),
    forgetSelection: () => change({ selection: null }),
  };
}
