import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';

const shortcuts = [
  [['J'], 'next job in the list'],
  [['K'], 'previous job'],
  [['X'], 'select the job'],
  [['E'], 'archive the selected jobs'],
  [['Enter'], 'open the job'],
  [['/'], 'search'],
  [['Ctrl', 'K'], 'commands'],
  [['C'], 'new job'],
  [['Ctrl', 'Enter'], 'send'],
  [['?'], 'show shortcuts'],
] as const;

/** Reports whether a key is meant for a field or for the browser. */
export function isForOthers(event: KeyboardEvent): boolean {
  const isTyping =
    event.target instanceof HTMLElement &&
    event.target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]');
  const isInDialog = document.querySelector('[role=dialog], [role=alertdialog]') !== null;
  return isTyping || isInDialog || event.metaKey || event.ctrlKey || event.altKey;
}

/** Handles the keys that work on every page and shows the list of all shortcuts. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (isForOthers(event)) return;
    const search = document.querySelector<HTMLElement>('input[type=search]');
    if (event.key === '?') setOpen(true);
    else if (event.key === '/' && search !== null) search.focus();
    else if (event.key === 'c') void navigate({ to: '/new' });
    else return;
    // the key must not be typed into the field
    event.preventDefault();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event);
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <Button className="button button-quiet" onPress={() => setOpen(true)}>
        Shortcuts <kbd>?</kbd>
      </Button>
      <ModalOverlay className="overlay" isDismissable isOpen={isOpen} onOpenChange={setOpen}>
        <Modal className="modal">
          <Dialog className="dialog">
            <Heading slot="title">Keyboard</Heading>
            <dl className="shortcuts">
              {shortcuts.map(([keys, meaning]) => (
                <div key={meaning}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
            <div className="actions">
              <Button slot="close" className="button" autoFocus>
                Close
              </Button>
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}
