import { useLayoutEffect, useMemo, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { Chat } from './chat.tsx';
import type { Client, QuestionContext } from './client.ts';
import type { AskOptions, Conversation } from './conversation.ts';
import { isComposing } from './hotkey.ts';
import type { Panel } from './panel.ts';
import { useConversation } from './use-conversation.ts';
import type { WidgetSettings } from './widget-options.ts';

export interface WidgetProps {
  settings: WidgetSettings;
  client: Client;
  conversation: Conversation;
  panel: Panel;
}

function optionsOf(context: QuestionContext[]): AskOptions {
  return { context, currentPath: location.pathname };
}

/** Shows the button and, when it is open, the dialog with the chat. */
export function Widget({ settings, client, conversation, panel }: WidgetProps) {
  const { isOpen, selection } = useSyncExternalStore(panel.subscribe, panel.state);
  const driver = useConversation(client, conversation, optionsOf);
  const { labels, hotkey, pagesUrl, questions } = settings;
  const target = useMemo(() => ({ pagesUrl, onFollow: panel.close }), [pagesUrl, panel]);
  return (
    <>
      {settings.button && (
        <button
          type="button"
          className="docket-launcher"
          part="button"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          aria-keyshortcuts={hotkey === 'none' ? undefined : hotkey.replace('mod', 'Control')}
          // a click may clear the selection, which the question is about
          onMouseDown={(event) => event.preventDefault()}
          onClick={(event) => {
            panel.open();
            event.currentTarget.focus();
          }}
        >
          {labels.open}
        </button>
      )}
      {isOpen && (
        <Dialog title={labels.title} onClose={panel.close}>
          <header className="docket-header">
            <h2>{labels.title}</h2>
            {driver.messages.length > 0 && (
              <button type="button" className="docket-button" onClick={conversation.clear}>
                {labels.clear}
              </button>
            )}
            <button type="button" className="docket-button" onClick={panel.close}>
              {labels.close}
            </button>
          </header>
          <Chat
            driver={driver}
            labels={labels}
            target={target}
            questions={questions}
            selection={selection}
            onForgetSelection={panel.forgetSelection}
          />
        </Dialog>
      )}
    </>
  );
}

interface DialogProps {
  title: string;
  onClose(): void;
  children: ReactNode;
}

/**
 * A modal dialog: the page behind it is inert, Escape closes it, and focus returns to where it was. Its keys stay in it,
 * since the page sees the host element as their target, which is no text field, and would take them for its shortcuts.
 */
function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector('textarea')?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="docket-dialog"
      part="dialog"
      aria-label={title}
      onClose={({ currentTarget }) => {
        // comes late, and then perhaps for a dialog that has been replaced
        if (currentTarget.isConnected) onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      onKeyUp={(event) => event.stopPropagation()}
      onKeyPress={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Tab') keepFocusIn(event.currentTarget, event);
        if (event.key !== 'Escape' || isComposing(event.nativeEvent)) return;
        // the browser would hide the dialog first and say so later, and a call to open it in between would be lost
        event.preventDefault();
        onClose();
      }}
    >
      <div className="docket-panel">{children}</div>
    </dialog>
  );
}

/** Moves focus from the last element to the first and back, so that Tab does not leave the dialog. */
function keepFocusIn(dialog: HTMLElement, event: { shiftKey: boolean; preventDefault(): void }): void {
  const focusable = [...dialog.querySelectorAll<HTMLElement>('a[href], button, textarea, [tabindex="0"]')];
  const root = dialog.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
  const [leaving, entering] = event.shiftKey ? [focusable[0], focusable.at(-1)] : [focusable.at(-1), focusable[0]];
  if (active !== leaving) return;
  event.preventDefault();
  entering?.focus();
}
