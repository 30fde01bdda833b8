import { createListeners } from './listeners.ts';
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
  const listeners = createListeners();
  const change = (changed: Partial<PanelState>) => {
    state = { ...state, ...changed };
    listeners.call();
  };
  return {
    state: (): PanelState => state,
    subscribe: listeners.add,
    open(): void {
      if (state.isOpen) return;
      change({ isOpen: true, selection: selectedText() });
    },
    close: (): void => change({ isOpen: false }),
    forgetSelection: (): void => change({ selection: null }),
  };
}
