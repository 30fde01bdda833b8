import { selectedText } from './selected-text.ts';

interface PanelState {
  isOpen: boolean;
  /** Text that was selected on the page when the dialog was opened. */
  selection: string | null;
}

export type Panel = ReturnType<typeof createPanel>;

/** State of the widget's dialog, which the button, the hotkey and the page's scripts share. */
export function createPanel() {
  let state: PanelState = { isOpen: false, selection: null };
  const listeners = new Set<() => void>();
  const change = (changed: Partial<PanelState>) => {
    state = { ...state, ...changed };
    for (const listener of listeners) listener();
  };
  return {
    state: (): PanelState => state,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    open(): void {
      if (state.isOpen) return;
      change({ isOpen: true, selection: selectedText() });
    },
    close: (): void => change({ isOpen: false }),
    forgetSelection: (): void => change({ selection: null }),
  };
}
